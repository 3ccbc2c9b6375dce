package dev.warmpath.index;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class PrefixNamespaceTest {
  @Test
  void noTwoNamespacesShareAKeyAndNoneIsAPrefixOfAnother() {
    List<String> names =
        new ArrayList<>(List.of("", "a", "ab", "\u0001a", "\ud800", "?", "\ud801"));
    names.add("x".repeat(256));
    names.add("x".repeat(257));
    names.add("x".repeat(256) + "y");
    names.add(null);
    List<byte[]> keys = new ArrayList<>();
    for (String model : names) {
      for (String lora : names) {
        for (String salt : names) {
          for (String tenant : List.of("", "a")) {
            if (model != null) {
              keys.add(PrefixNamespace.of(model, lora, salt, tenant).key());
            }
          }
        }
      }
    }
    keys.sort(Arrays::compareUnsigned);

    // In this order a prefix comes right before what it is a prefix of.
    for (int i = 1; i < keys.size(); i++) {
      byte[] before = keys.get(i - 1);
      byte[] key = keys.get(i);
      int differs = Arrays.mismatch(before, key);
      assertThat(differs).isBetween(0, Math.min(before.length, key.length) - 1);
    }
  }

  @Test
  void keepsKeysOfLongNamesShort() {
    assertThat(PrefixNamespace.of("m".repeat(100_000)).key()).hasSizeLessThan(64);
  }

  @Test
  void isEqualByAllParts() {
    PrefixNamespace namespace = PrefixNamespace.of("m", "l", "s", "t");

    assertThat(namespace)
        .isEqualTo(PrefixNamespace.of("m", "l", "s", "t"))
        .hasSameHashCodeAs(PrefixNamespace.of("m", "l", "s", "t"))
        .isNotEqualTo(PrefixNamespace.of("m", "l", "s", null))
        .isNotEqualTo("m");
    assertThat(namespace.model()).isEqualTo("m");
    assertThat(namespace.lora()).isEqualTo("l");
    assertThat(PrefixNamespace.of("m").lora()).isNull();
  }

  @Test
  void namesNeitherSaltNorTenantInLogs() {
    assertThat(PrefixNamespace.of("model", "lora", "S3CRET", "T3NANT").toString())
        .contains("model", "lora")
        .doesNotContain("S3CRET", "T3NANT");
    assertThat(PrefixNamespace.of("model")).hasToString("PrefixNamespace[model]");
  }
}

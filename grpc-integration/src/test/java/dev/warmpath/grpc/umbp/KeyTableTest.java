package dev.warmpath.grpc.umbp;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class KeyTableTest {
  @Test
  void knowsTheFirstBlockOfEachKeyAsAMapDoes() {
    SplittableRandom random = new SplittableRandom(3);
    KeyTable table = new KeyTable();
    Map<String, Integer> expected = new HashMap<>();
    for (int block = 0; block < 20_000; block++) {
      // Of few characters, so that many keys come again and many have the same hash code.
      String key = "" + (char) random.nextInt(200) + (char) random.nextInt(200);
      Integer earlier = expected.putIfAbsent(key, block);
      assertThat(table.put(key, block)).isEqualTo(earlier == null ? KeyTable.NONE : earlier);
    }
    assertThat(expected).hasSizeBetween(10_000, 19_000);
    expected.forEach((key, block) -> assertThat(table.get(key)).isEqualTo(block));
    assertThat(table.get("abc")).isEqualTo(KeyTable.NONE);
    assertThat(table.get("")).isEqualTo(KeyTable.NONE);
  }
}

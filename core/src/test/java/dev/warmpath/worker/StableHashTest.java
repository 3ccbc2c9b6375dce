package dev.warmpath.worker;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class StableHashTest {
  private static long reference(byte[] utf8) {
    long hash = 0xcbf29ce484222325L;
    for (byte b : utf8) {
      hash = (hash ^ Byte.toUnsignedLong(b)) * 0x100000001b3L;
    }
    return StableHash.mix(hash);
  }

  @Property
  void hashesTheUtf8BytesOfAnyText(@ForAll String text) {
    assertThat(StableHash.of(text)).isEqualTo(reference(text.getBytes(StandardCharsets.UTF_8)));
  }

  @Test
  void anUnpairedSurrogateIsAQuestionMark() {
    assertThat(StableHash.of("a\ud800b\udc00")).isEqualTo(StableHash.of("a?b?"));
  }

  /** These numbers may never change: sessions of running clients would move. */
  @Test
  void theGoldenVectorsHold() throws IOException {
    List<String[]> rows = new ArrayList<>();
    try (BufferedReader in =
        new BufferedReader(
            new InputStreamReader(
                StableHashTest.class.getResourceAsStream("stable-hash.tsv"),
                StandardCharsets.UTF_8))) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        if (!line.startsWith("#")) {
          rows.add(line.split("\t", -1));
        }
      }
    }
    assertThat(rows).hasSizeGreaterThan(5);
    for (String[] row : rows) {
      long key = StableHash.of(row[0]);
      long worker = StableHash.of(row[1]);
      assertThat(key).as(row[0]).isEqualTo(Long.parseUnsignedLong(row[2], 16));
      assertThat(StableHash.pair(key, worker))
          .as("%s at %s", row[0], row[1])
          .isEqualTo(Long.parseUnsignedLong(row[3], 16));
    }
  }

  @Test
  void aRanksHashIsThatOfItsNameWhateverItsEpoch() {
    WorkerRegistry registry = new WorkerRegistry();
    registry.add(WorkerSpec.builder("http://w:1").dpSize(2).build());
    WorkerRank before = registry.current().ranks().get(1);
    registry.restarted(before.worker().id(), before.worker().epoch());
    WorkerRank after = registry.current().ranks().get(1);
    assertThat(after).isNotEqualTo(before);
    assertThat(before.stableHash())
        .isEqualTo(StableHash.of("http://w:1#1"))
        .isEqualTo(after.stableHash());
  }
}

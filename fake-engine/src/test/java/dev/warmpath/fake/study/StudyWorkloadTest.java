package dev.warmpath.fake.study;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.fake.load.TraceRequest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StudyWorkloadTest {
  @TempDir private Path folder;

  private StudyWorkload draw(long seed) throws IOException {
    Files.writeString(
        folder.resolve("synthetic_trace.jsonl"),
        row(0, 1_100, "0, 1, 2")
            + row(1_000, 1_300, "0, 1, 3")
            + row(2_000, 1_536, "0, 1, 4")
            + row(3_000, 100, "9"));
    return StudyWorkload.draw("synth", 1, 16, seed, folder);
  }

  private static String row(int time, int tokens, String ids) {
    return String.format(
        "{\"timestamp\": %d, \"input_length\": %d, \"output_length\": 5, \"hash_ids\": [%s]}%n",
        time, tokens, ids);
  }

  private static long[] ids(StudyWorkload workload, int row) {
    TraceRequest request = workload.sessions().get(row).turns().get(0);
    return request.hashIds();
  }

  @Test
  void wholeBlocksAreSharedAsInTheTraceAndWhatIsLeftByThoseThatEndThere() throws IOException {
    StudyWorkload workload = draw(1);
    long[] first = ids(workload, 0);
    long[] second = ids(workload, 1);
    long[] third = ids(workload, 2);
    assertThat(second).isEqualTo(first);
    assertThat(third).startsWith(first[0], first[1]).doesNotContain(first[2]);
    assertThat(ids(workload, 3)).hasSize(1).doesNotContain(first[0], first[1], first[2], third[2]);
    assertThat(workload.families()[1]).isEqualTo(workload.families()[0]);
    assertThat(workload.families()[3]).isNotEqualTo(workload.families()[0]);
  }

  @Test
  void eachSeedGivesBlocksOtherNamesAndTheSameOneTheSame() throws IOException {
    long[] one = ids(draw(1), 2);
    assertThat(ids(draw(1), 2)).isEqualTo(one);
    for (long seed : new long[] {2, 3, 1_999, Long.MAX_VALUE}) {
      long[] other = ids(draw(seed), 2);
      assertThat(other).doesNotContain(one[0], one[1], one[2]);
      assertThat(LongStream.of(other)).allMatch(id -> id >= 0 && id <= Integer.MAX_VALUE);
    }
  }
}

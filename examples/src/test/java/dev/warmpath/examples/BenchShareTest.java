package dev.warmpath.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.fake.load.LoadSettings;
import dev.warmpath.fake.load.TraceRequest;
import dev.warmpath.fake.load.TraceSession;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class BenchShareTest {
  private static final int PROCESSES = 3;

  /** Conversations of 1, 5, 2, 1, 5, 2 … turns: the second process has most of them. */
  private static final List<TraceSession> SESSIONS =
      IntStream.range(0, 12).mapToObj(i -> session(i, List.of(1, 5, 2).get(i % 3))).toList();

  private static TraceSession session(int number, int turns) {
    TraceRequest turn =
        new TraceRequest(number, "s" + number, 0, 64, 1, new long[] {number}, 64, "");
    return new TraceSession("s" + number, 0, Collections.nCopies(turns, turn));
  }

  private static List<Integer> requests(int most) {
    LoadSettings all = new LoadSettings("m", 0, 1, true, most, 10, false, Duration.ofSeconds(1), 1);
    List<Integer> requests = new ArrayList<>();
    for (int i = 0; i < PROCESSES; i++) {
      requests.add(new BenchShare(i, PROCESSES).settings(all, SESSIONS).maxRequests());
    }
    return requests;
  }

  @Test
  void allProcessesTogetherSendWhatOneWould() {
    assertThat(requests(Integer.MAX_VALUE)).containsExactly(4, 20, 8);
    assertThat(requests(16)).containsExactly(2, 10, 4);
    for (int most = 8; most <= 32; most++) {
      assertThat(requests(most).stream().mapToInt(n -> n).sum()).isEqualTo(most);
    }
  }
}

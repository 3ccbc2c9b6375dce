package dev.warmpath.health;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.health.RestartWatch.Sign;
import dev.warmpath.transport.LoadReport;
import java.util.List;
import org.junit.jupiter.api.Test;

class RestartWatchTest {
  private static final double NO = Double.NaN;

  private final RestartWatch watch = new RestartWatch();

  private Sign load(String source, String incarnation, double count) {
    return watch.load(new LoadReport(List.of(), source, incarnation, count));
  }

  @Test
  void incarnationValuesOfProbes() {
    assertThat(watch.probe(null)).isEqualTo(Sign.NONE);
    assertThat(watch.probe("1")).isEqualTo(Sign.NONE);
    assertThat(watch.probe("1")).isEqualTo(Sign.SAME);
    assertThat(watch.probe(null)).isEqualTo(Sign.NONE);
    assertThat(watch.probe("1")).isEqualTo(Sign.SAME);
    assertThat(watch.probe("2")).isEqualTo(Sign.INCARNATION_CHANGED);
    assertThat(watch.probe("2")).isEqualTo(Sign.SAME);
  }

  @Test
  void incarnationValuesOfLoadReports() {
    assertThat(load("/metrics", "1", NO)).isEqualTo(Sign.NONE);
    assertThat(watch.loadsTell()).isTrue();
    assertThat(load("/metrics", "1", NO)).isEqualTo(Sign.SAME);
    assertThat(load("/metrics", "2", NO)).isEqualTo(Sign.INCARNATION_CHANGED);
  }

  @Test
  void probesAndLoadReportsAreNotComparedWithEachOther() {
    watch.probe("boot 1");
    assertThat(load("/metrics", "1760000000", NO)).isEqualTo(Sign.NONE);
    assertThat(watch.probe("boot 1")).isEqualTo(Sign.SAME);
    assertThat(load("/metrics", "1760000000", NO)).isEqualTo(Sign.SAME);
  }

  @Test
  void sourcesAreNotComparedWithEachOther() {
    load("/metrics", "1", 1_000);
    assertThat(load("/v1/loads", "x", 3)).isEqualTo(Sign.NONE);
    assertThat(load("/v1/loads", "x", 4)).isEqualTo(Sign.SAME);
  }

  @Test
  void counters() {
    assertThat(load("/metrics", null, 1_000)).isEqualTo(Sign.NONE);
    assertThat(load("/metrics", null, 1_000)).isEqualTo(Sign.NONE);
    assertThat(load("/metrics", null, NO)).isEqualTo(Sign.NONE);
    assertThat(load("/metrics", null, 999)).isEqualTo(Sign.COUNTER_RAN_BACKWARDS);
    assertThat(load("/metrics", null, 999)).isEqualTo(Sign.NONE);
    assertThat(watch.loadsTell()).isFalse();
  }

  @Test
  void theSameIncarnationOutweighsACounter() {
    load("/metrics", "1", 1_000);
    assertThat(load("/metrics", "1", 5)).isEqualTo(Sign.SAME);
  }

  @Test
  void refusals() {
    assertThat(watch.answered()).isFalse();
    watch.refused();
    assertThat(watch.answered()).as("one is an accident").isFalse();
    watch.refused();
    assertThat(watch.answered()).as("they must follow each other").isFalse();
    watch.refused();
    watch.refused();
    watch.refused();
    assertThat(watch.answered()).isTrue();
    assertThat(watch.answered()).isFalse();
  }

  @Test
  void afterARestartNothingOldIsComparedAnyMore() {
    watch.probe("boot 1");
    load("/metrics", "start 1", 1_000);
    watch.refused();
    watch.refused();
    watch.restarted("boot 2");
    assertThat(watch.answered()).isFalse();
    assertThat(watch.probe("boot 2")).isEqualTo(Sign.SAME);
    assertThat(load("/metrics", "start 2", 3)).isEqualTo(Sign.NONE);
  }

  @Test
  void aValueThatComesBackIsNoRestart() {
    load("/metrics", "1", 1_000);
    assertThat(load("/metrics", "2", 10)).isEqualTo(Sign.INCARNATION_CHANGED);
    watch.restarted(null);
    assertThat(load("/metrics", "1", 1_001)).isEqualTo(Sign.MIXED);
    for (int i = 0; i < 10; i++) {
      assertThat(load("/metrics", i % 2 == 0 ? "2" : "1", NO).restarted).isFalse();
    }
  }

  @Test
  void manyRestartsAreRestarts() {
    for (int i = 0; i < 100; i++) {
      assertThat(watch.probe("boot " + i).restarted).isEqualTo(i > 0);
      watch.restarted("boot " + i);
    }
  }
}

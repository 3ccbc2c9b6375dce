package dev.warmpath;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.ScriptedTransport.Script;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.prompt.StageTimers;
import dev.warmpath.prompt.StageTimers.Stage;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class StageTimersTest {
  private static final RouterRequest CHAT =
      RouterRequest.chatCompletions(
          "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}");

  @Test
  void eachStageHasItsCountTotalAndLongest() {
    AtomicLong now = new AtomicLong();
    StageTimers timers = new StageTimers(now::get);
    timers.start();
    for (int millis : new int[] {3, 9, 1}) {
      long begun = timers.begin();
      now.addAndGet(Duration.ofMillis(millis).toNanos());
      timers.end(Stage.RENDER, begun);
    }
    assertThat(timers.times().get(Stage.RENDER))
        .isEqualTo(new StageTimers.Times(3, Duration.ofMillis(13), Duration.ofMillis(9)));
    assertThat(timers.times().get(Stage.HASH).count()).isZero();
  }

  @Test
  void theyCountOnlyWhileTheyRunAndBeginAnew() {
    AtomicLong now = new AtomicLong();
    StageTimers timers = new StageTimers(now::get);
    timers.end(Stage.PARSE, timers.begin());
    assertThat(timers.times()).isEmpty();

    long before = timers.begin();
    timers.start();
    timers.end(Stage.PARSE, before);
    assertThat(timers.times().get(Stage.PARSE).count()).as("begun before the start").isZero();
    timers.end(Stage.PARSE, timers.begin());
    timers.stop();
    timers.end(Stage.PARSE, timers.begin());
    assertThat(timers.running()).isFalse();
    assertThat(timers.times().get(Stage.PARSE).count()).isOne();

    timers.start();
    assertThat(timers.times().get(Stage.PARSE).count()).isZero();
  }

  @Test
  void aClientTimesItsWorkOnDemand() {
    try (RouterClient client =
        RouterClient.builder()
            .worker("http://w0:1;engine=vllm;model=m")
            .transport(new ScriptedTransport(request -> Script.ok("{\"choices\":[]}")))
            .noWorkerWait(Duration.ZERO)
            .seed(1)
            .build()) {
      client.send(CHAT);
      assertThat(client.stageTimers().times()).isEmpty();
      client.stageTimers().start();
      client.send(CHAT);
      assertThat(client.stageTimers().times().get(Stage.PARSE).count()).isOne();
      assertThat(client.stageTimers().times().get(Stage.SELECT).count()).isOne();
      assertThat(
              client.metrics().stream()
                  .filter(family -> family.name().equals("warmpath_stage_runs_total"))
                  .flatMap(family -> family.samples().stream())
                  .filter(sample -> sample.labels().containsValue("select"))
                  .mapToDouble(sample -> sample.value())
                  .sum())
          .isOne();
    }
  }
}

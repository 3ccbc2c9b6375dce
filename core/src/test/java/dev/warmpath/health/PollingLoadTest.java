package dev.warmpath.health;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.health.FakeTransport.FakeWorker;
import dev.warmpath.transport.RankLoad;
import dev.warmpath.worker.EngineKind;
import dev.warmpath.worker.VirtualScheduler;
import dev.warmpath.worker.WorkerRegistry;
import dev.warmpath.worker.WorkerSpec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What forty clients ask of one worker: the figures of OPERATIONS.md. */
class PollingLoadTest {
  private static final String WORKER = "http://w:1";
  private static final int REPLICAS = 40;
  private static final int MINUTES = 10;

  /** One worker's calls in a minute, from all replicas together. */
  @ParameterizedTest
  @CsvSource({
    "SGLANG, false, 229, 40, 457",
    "SGLANG, true, 229, 40, 2283",
    "VLLM, false, 229, 40, 457",
    "VLLM, true, 229, 40, 2283",
  })
  void fortyReplicasAskThatMuchInAMinute(
      EngineKind engine, boolean busy, int probes, int looks, int polls) {
    VirtualScheduler time = new VirtualScheduler();
    FakeTransport transport = new FakeTransport(time::nanoTime);
    FakeWorker worker = transport.worker(WORKER);
    worker.engine = engine;
    double[] running = {1};
    if (busy) {
      // grows by more than a fifth between two looks of anybody: all poll as often as they ever do
      worker.duringCall = () -> worker.ranks = load(running[0] *= 1.01);
    }
    List<HealthMonitor> monitors = new ArrayList<>();
    for (int i = 0; i < REPLICAS; i++) {
      WorkerRegistry registry = new WorkerRegistry();
      monitors.add(
          HealthMonitor.builder(registry, new Fleet(registry, gone -> {}), List.of(transport))
              .scheduler(time)
              .executor(call -> time.schedule(Duration.ofMillis(1), call))
              .seed(i)
              .start());
      registry.add(WorkerSpec.builder(WORKER).build());
    }
    time.advance(Duration.ofMinutes(1));
    transport.forgetCalls();
    time.advance(Duration.ofMinutes(MINUTES));
    assertThat(perMinute(transport, "health")).isBetween(0.9 * probes, 1.1 * probes);
    assertThat(perMinute(transport, "probe")).isBetween(0.9 * looks, 1.1 * looks);
    assertThat(perMinute(transport, "load")).isBetween(0.9 * polls, 1.1 * polls);
    monitors.forEach(HealthMonitor::close);
  }

  private static double perMinute(FakeTransport transport, String call) {
    return (double) transport.calls(call, WORKER).size() / MINUTES;
  }

  private static List<RankLoad> load(double running) {
    return List.of(FakeTransport.load(-1, running, 0));
  }
}

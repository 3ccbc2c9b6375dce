package dev.warmpath.examples;

import dev.warmpath.fake.FakeEngine;
import dev.warmpath.fake.FakeFleet;
import dev.warmpath.fake.FleetSpec;
import dev.warmpath.fake.kv.KvEventEndpoint;
import dev.warmpath.worker.KvEventSource;
import dev.warmpath.worker.WorkerSpec;
import java.util.List;

/** The fake engines of a fleet as workers of a client. */
final class FleetWorkers {
  private FleetWorkers() {}

  /**
   * Reads a fleet.
   *
   * @throws CommandFailure if it has one half of pairs only
   */
  static FleetSpec parse(String spec) {
    FleetSpec fleet = FleetSpec.parse(spec);
    if ((fleet.prefill() == 0) != (fleet.decode() == 0)) {
      throw CommandFailure.usage(
          "fleet " + spec + " has prefill or decode workers only: give both, such as 2p2d");
    }
    return fleet;
  }

  /** Workers that say what an operator would configure, because not every engine tells it. */
  static List<WorkerSpec> of(FakeFleet fleet) {
    return fleet.engines().stream().map(FleetWorkers::worker).toList();
  }

  private static WorkerSpec worker(FakeEngine engine) {
    WorkerSpec spec = WorkerSpec.parse(engine.workerSpec());
    KvEventEndpoint events = engine.kvEvents();
    if (events == null) {
      return spec;
    }
    WorkerSpec.Builder told =
        spec.toBuilder()
            .label(KvEventSource.LABEL, "tcp://*:" + events.port())
            .label(KvEventSource.TOPIC_LABEL, events.topic());
    events.replayPort().ifPresent(at -> told.label(KvEventSource.REPLAY_LABEL, "tcp://*:" + at));
    return told.build();
  }

  /** A worker in its one-line form. */
  static String line(WorkerSpec worker) {
    StringBuilder line = new StringBuilder(worker.id().value());
    if (worker.role() != null) {
      line.append(";role=").append(worker.role().label());
    }
    if (worker.engine() != null) {
      line.append(";engine=").append(worker.engine().label());
    }
    worker.labels().forEach((key, value) -> line.append(';').append(key).append('=').append(value));
    return line.toString();
  }
}

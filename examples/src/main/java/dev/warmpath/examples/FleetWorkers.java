package dev.warmpath.examples;

import dev.warmpath.fake.FakeEngine;
import dev.warmpath.fake.FakeFleet;
import dev.warmpath.fake.FleetSpec;
import dev.warmpath.fake.kv.KvEventEndpoint;
import dev.warmpath.fake.wire.GrpcApi;
import dev.warmpath.worker.KvEventSource;
import dev.warmpath.worker.WorkerSpec;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

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

  /**
   * Workers that say what an operator would configure, because not every engine tells it.
   *
   * @param api the service by which they are reached, or null for HTTP
   */
  static List<WorkerSpec> of(FakeFleet fleet, @Nullable GrpcApi api) {
    return fleet.engines().stream().map(engine -> worker(engine, api)).toList();
  }

  private static WorkerSpec worker(FakeEngine engine, @Nullable GrpcApi api) {
    String address = api == null ? engine.workerSpec() : engine.grpcUrl();
    WorkerSpec spec = WorkerSpec.parse(Objects.requireNonNull(address, "no gRPC server"));
    KvEventEndpoint events = engine.kvEvents();
    if (events == null || tellsItself(api)) {
      return spec;
    }
    WorkerSpec.Builder told =
        spec.toBuilder()
            .label(KvEventSource.LABEL, "tcp://*:" + events.port())
            .label(KvEventSource.TOPIC_LABEL, events.topic());
    events.replayPort().ifPresent(at -> told.label(KvEventSource.REPLAY_LABEL, "tcp://*:" + at));
    return told.build();
  }

  /** Whether a service has KV events of its own. */
  private static boolean tellsItself(@Nullable GrpcApi api) {
    return api == GrpcApi.SGLANG_SCHEDULER || api == GrpcApi.VLLM_ENGINE;
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

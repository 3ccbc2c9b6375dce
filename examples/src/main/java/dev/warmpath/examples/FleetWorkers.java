package dev.warmpath.examples;

import dev.warmpath.fake.FakeEngine;
import dev.warmpath.fake.FakeFleet;
import dev.warmpath.fake.FleetSpec;
import dev.warmpath.worker.EngineKind;
import dev.warmpath.worker.WorkerRole;
import dev.warmpath.worker.WorkerSpec;
import java.util.List;

/** The fake engines of a fleet as workers of a client. */
final class FleetWorkers {
  private FleetWorkers() {}

  /**
   * Reads a fleet.
   *
   * @throws CommandFailure if engines of a kind can't be such a fleet
   */
  static FleetSpec parse(String spec, EngineKind kind) {
    FleetSpec fleet = FleetSpec.parse(spec);
    if (fleet.prefill() + fleet.decode() > 0) {
      if (kind == EngineKind.ATOM) {
        throw CommandFailure.usage(
            "fleet " + spec + " is of sglang or vllm: fake atom engines hand no KV over");
      }
      if (fleet.prefill() == 0 || fleet.decode() == 0) {
        throw CommandFailure.usage(
            "fleet " + spec + " has prefill or decode workers only: give both, such as 2p2d");
      }
    }
    return fleet;
  }

  /** Workers that say their role, because not every engine tells it. */
  static List<WorkerSpec> of(FakeFleet fleet) {
    return fleet.engines().stream().map(FleetWorkers::worker).toList();
  }

  private static WorkerSpec worker(FakeEngine engine) {
    return WorkerSpec.parse(
        engine.role() == WorkerRole.REGULAR
            ? engine.url()
            : engine.url() + ";role=" + engine.role().label() + ";engine=" + engine.kind().label());
  }
}

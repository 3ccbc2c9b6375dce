package dev.warmpath.examples;

import dev.warmpath.fake.FakeEngine;
import dev.warmpath.fake.FakeFleet;
import dev.warmpath.fake.FleetSpec;
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
    return fleet.engines().stream().map(FakeEngine::workerSpec).map(WorkerSpec::parse).toList();
  }
}

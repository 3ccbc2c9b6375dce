package dev.warmpath.health;

import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.health.FakeTransport.FakeWorker;
import dev.warmpath.health.HealthListener.AvailabilityChange;
import dev.warmpath.worker.VirtualScheduler;
import dev.warmpath.worker.Worker;
import dev.warmpath.worker.WorkerId;
import dev.warmpath.worker.WorkerRegistry;
import dev.warmpath.worker.WorkerSpec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** A monitor on virtual time, over workers that do as they are told. Each call takes 1 ms. */
final class MonitorFixture implements AutoCloseable {
  static final String A = "http://a:1";
  static final String B = "http://b:1";

  final VirtualScheduler time = new VirtualScheduler();
  final FakeTransport transport = new FakeTransport(time::nanoTime);
  final WorkerRegistry registry = new WorkerRegistry();
  final List<String> gone = new ArrayList<>();
  final Fleet fleet = new Fleet(registry, rank -> gone.add(rank.toString()));
  final List<AvailabilityChange> changes = new ArrayList<>();
  final HealthMonitor monitor;

  MonitorFixture() {
    this(HealthSettings.DEFAULT);
  }

  MonitorFixture(HealthSettings settings) {
    monitor =
        HealthMonitor.builder(registry, fleet, List.of(transport))
            .settings(settings)
            .scheduler(time)
            .executor(call -> time.schedule(ofMillis(1), call))
            .seed(7)
            .addListener(
                new HealthListener() {
                  @Override
                  public void onAvailability(AvailabilityChange change) {
                    changes.add(change);
                  }
                })
            .start();
  }

  FakeWorker add(String address) {
    FakeWorker fake = transport.worker(address);
    registry.add(WorkerSpec.builder(address).build());
    return fake;
  }

  /** Adds a worker and waits until it is up. */
  FakeWorker addUp(String address) {
    FakeWorker fake = add(address);
    advance(Duration.ofMillis(10));
    assertThat(availability(address)).isEqualTo(Availability.UP);
    return fake;
  }

  void advance(Duration by) {
    time.advance(by);
  }

  Worker worker(String address) {
    return Objects.requireNonNull(registry.current().worker(WorkerId.parse(address)));
  }

  RankState state(String address) {
    return state(address, 0);
  }

  RankState state(String address, int rank) {
    return fleet.view().state(worker(address).ranks().get(rank));
  }

  Availability availability(String address) {
    return state(address).availability();
  }

  WorkerView view(String address) {
    return monitor.views().stream()
        .filter(view -> view.worker().id().equals(WorkerId.parse(address)))
        .findFirst()
        .orElseThrow();
  }

  @Override
  public void close() {
    monitor.close();
    advance(ofMillis(1)); // what was being asked
    assertThat(time.pending()).as("tasks left behind").isZero();
  }
}

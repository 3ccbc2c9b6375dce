package dev.warmpath.health;

import static dev.warmpath.health.MonitorFixture.A;
import static dev.warmpath.health.MonitorFixture.B;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.worker.VirtualScheduler;
import dev.warmpath.worker.Worker;
import dev.warmpath.worker.WorkerId;
import dev.warmpath.worker.WorkerRegistry;
import dev.warmpath.worker.WorkerSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Calls that really block. */
@Timeout(60)
class HealthMonitorThreadsTest {

  /** Virtual time; calls to the worker that hangs have threads, which a test can wait for. */
  @Nested
  class OneThatHangs {
    private final VirtualScheduler time = new VirtualScheduler();
    private final FakeTransport transport = new FakeTransport(time::nanoTime);
    private final WorkerRegistry registry = new WorkerRegistry();
    private final Fleet fleet = new Fleet(registry, gone -> {});
    private final List<Thread> hung = new ArrayList<>();
    private final Semaphore entered = new Semaphore(0);
    private final CountDownLatch release = new CountDownLatch(1);
    private final HealthMonitor monitor =
        HealthMonitor.builder(registry, fleet, List.of(transport))
            .scheduler(time)
            .executor(this::call)
            .seed(1)
            .start();
    private boolean hangs;

    private void call(Runnable call) {
      if (hangs && ((WorkerCall) call).worker().id().equals(WorkerId.parse(A))) {
        Thread thread = new Thread(call);
        hung.add(thread);
        thread.start();
        entered.acquireUninterruptibly();
      } else {
        time.execute(call);
      }
    }

    private void hang(boolean heedsInterrupts) {
      entered.release();
      while (true) {
        try {
          release.await();
          return;
        } catch (InterruptedException e) {
          if (heedsInterrupts) {
            throw new IllegalStateException("interrupted", e);
          }
        }
      }
    }

    private Availability availability(String address) {
      Worker worker = registry.current().worker(WorkerId.parse(address));
      return fleet.view().state(Objects.requireNonNull(worker).ranks().get(0)).availability();
    }

    private void startHanging(boolean heedsInterrupts) {
      registry.add(WorkerSpec.builder(A).build());
      registry.add(WorkerSpec.builder(B).build());
      time.run();
      assertThat(availability(A)).isEqualTo(Availability.UP);
      transport.worker(A).duringCall = () -> hang(heedsInterrupts);
      hangs = true;
      while (hung.isEmpty()) {
        time.advance(ofMillis(100));
      }
    }

    private void stopHanging() {
      hangs = false;
      transport.worker(A).duringCall = () -> {};
    }

    @AfterEach
    void finish() throws InterruptedException {
      release.countDown();
      monitor.close();
      for (Thread thread : hung) {
        thread.join();
      }
      time.run();
      fleet.close();
      assertThat(time.pending()).isZero();
    }

    @Test
    void isInterruptedASecondAfterItsTimeout() throws Exception {
      startHanging(true);
      time.advance(ofSeconds(2));
      assertThat(hung.get(0).isAlive()).isTrue();
      stopHanging();
      time.advance(ofSeconds(1));
      hung.get(0).join();
      int calls = transport.calls("load", A).size();
      time.advance(ofSeconds(30));
      assertThat(transport.calls("load", A)).hasSizeGreaterThan(calls);
      assertThat(availability(A)).isEqualTo(Availability.UP);
    }

    @Test
    void holdsOneThreadAndGoesDownEvenIfItHeedsNoInterrupt() throws Exception {
      startHanging(false);
      time.advance(ofMinutes(2));
      assertThat(hung).as("threads held").hasSize(1);
      assertThat(availability(A)).isEqualTo(Availability.DOWN);
      assertThat(availability(B)).isEqualTo(Availability.UP);
      assertThat(monitor.views().get(0).detail()).isEqualTo("does not answer");
      stopHanging();
      release.countDown();
      hung.get(0).join();
      time.advance(ofSeconds(60));
      assertThat(availability(A)).isEqualTo(Availability.UP);
    }

    @Test
    void isLetGoWhenItIsRemoved() throws Exception {
      startHanging(true);
      registry.remove(WorkerId.parse(A));
      time.run();
      hung.get(0).join();
      time.advance(ofSeconds(60));
      assertThat(monitor.views()).hasSize(1);
    }
  }

  /** Real time and the monitor's own threads. */
  @Nested
  class OwnThreads {
    private final Set<Thread> callers = ConcurrentHashMap.newKeySet();
    private final CountDownLatch hung = new CountDownLatch(8);
    private final CountDownLatch never = new CountDownLatch(1);

    private HealthMonitor start(WorkerRegistry registry, Fleet fleet, int hanging, int well) {
      FakeTransport transport = new FakeTransport(System::nanoTime);
      List<WorkerSpec> specs = new ArrayList<>();
      for (int i = 0; i < hanging + well; i++) {
        String address = "http://w" + i + ":1";
        boolean hangs = i < hanging;
        transport.worker(address).duringCall =
            () -> {
              callers.add(Thread.currentThread());
              if (hangs) {
                hung.countDown();
                try {
                  never.await();
                } catch (InterruptedException e) {
                  throw new IllegalStateException("interrupted", e);
                }
              }
            };
        specs.add(WorkerSpec.builder(address).build());
      }
      registry.replace("test", specs);
      return HealthMonitor.builder(registry, fleet, List.of(transport)).start();
    }

    @Test
    void workersComeUpBesideOthersThatHang() throws Exception {
      WorkerRegistry registry = new WorkerRegistry();
      try (Fleet fleet = new Fleet(registry, gone -> {});
          HealthMonitor monitor = start(registry, fleet, 7, 20)) {
        monitor.whenReady().get();
        assertThat(callers).allMatch(Thread::isDaemon);
        assertThat(callers).allMatch(thread -> thread.getName().startsWith("warmpath-health-"));
      }
    }

    @Test
    void closingEndsEveryThreadEvenIfAllWorkersHang() throws Exception {
      WorkerRegistry registry = new WorkerRegistry();
      try (Fleet fleet = new Fleet(registry, gone -> {})) {
        HealthMonitor monitor = start(registry, fleet, 40, 0);
        hung.await();
        monitor.close();
        monitor.close();
        for (Thread thread : callers) {
          thread.join();
        }
        assertThat(callers.stream().map(Thread::getName).collect(Collectors.toSet()))
            .hasSizeLessThanOrEqualTo(16);
      }
    }
  }
}

package dev.warmpath.fake;

import dev.warmpath.fake.live.EngineClock;
import dev.warmpath.fake.scheduler.LatencyModel;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.HdrHistogram.ConcurrentHistogram;
import org.openjdk.jmh.annotations.AuxCounters;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Sixteen live fake workers in one process: how many whole answers of 8 tokens they give a second
 * over HTTP, the client's work included, and how late the passes of a modest load end. The figures
 * are the secondary results of one iteration each, since JMH adds them up over several.
 */
@State(Scope.Benchmark)
@Fork(1)
public class LiveFleetBenchmark {
  private static final int WORKERS = 16;
  private static final int UNDER_WAY = 1_024;
  private static final String BODY =
      "{\"model\":\"fake-model\",\"prompt\":\"how late is it, and how many are there of you?\","
          + "\"max_tokens\":8,\"ignore_eos\":true}";

  private final List<FakeEngine> engines = new ArrayList<>();
  private final List<HttpRequest> requests = new ArrayList<>();
  private final ConcurrentHistogram lateness = new ConcurrentHistogram(10_000_000_000L, 3);
  private final AtomicInteger next = new AtomicInteger();
  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  /** Records how long after its deadline each wait for the end of a pass returns. */
  private final class WatchedClock implements EngineClock {
    private final EngineClock system = EngineClock.system();

    @Override
    public Instant instant() {
      return system.instant();
    }

    @Override
    public long nanoTime() {
      return system.nanoTime();
    }

    @Override
    public void awaitNanos(long deadlineNanos, BooleanSupplier woken) {
      boolean early = deadlineNanos < Long.MAX_VALUE && nanoTime() < deadlineNanos;
      system.awaitNanos(deadlineNanos, woken);
      long late = nanoTime() - deadlineNanos;
      if (early && late >= 0) {
        lateness.recordValue(Math.min(late, 9_999_999_999L));
      }
    }
  }

  @Setup(Level.Trial)
  public void start() {
    for (int i = 0; i < WORKERS; i++) {
      FakeEngine engine =
          FakeEngine.builder().timing(LatencyModel.polynomial()).clock(new WatchedClock()).start();
      engines.add(engine);
      requests.add(
          HttpRequest.newBuilder(URI.create(engine.url() + "/v1/completions"))
              .timeout(Duration.ofSeconds(60))
              .header("content-type", "application/json")
              .POST(HttpRequest.BodyPublishers.ofString(BODY))
              .build());
    }
  }

  @TearDown(Level.Trial)
  public void stop() {
    engines.forEach(FakeEngine::close);
  }

  /** Answers a second with 1,024 requests under way, and failures among them. */
  @State(Scope.Thread)
  @AuxCounters(AuxCounters.Type.EVENTS)
  public static class Answers {
    public double perSecond;
    public long failed;
  }

  /** How late passes ended, in microseconds. */
  @State(Scope.Thread)
  @AuxCounters(AuxCounters.Type.EVENTS)
  public static class Lateness {
    public double p50Micros;
    public double p99Micros;
    public long passes;
  }

  @Benchmark
  @BenchmarkMode(Mode.SingleShotTime)
  @Warmup(iterations = 1)
  @Measurement(iterations = 1)
  @OutputTimeUnit(TimeUnit.SECONDS)
  public void thirtyThousandAnswers(Answers answers) throws InterruptedException {
    int total = 30_000;
    Semaphore room = new Semaphore(UNDER_WAY);
    AtomicLong failed = new AtomicLong();
    long start = System.nanoTime();
    for (int i = 0; i < total; i++) {
      room.acquire();
      send(room, failed);
    }
    room.acquire(UNDER_WAY);
    answers.perSecond = total * 1e9 / (System.nanoTime() - start);
    answers.failed = failed.get();
  }

  @Benchmark
  @BenchmarkMode(Mode.SingleShotTime)
  @Warmup(iterations = 1)
  @Measurement(iterations = 1)
  @OutputTimeUnit(TimeUnit.SECONDS)
  public void passesAtFiftyRequestsASecond(Lateness late) throws InterruptedException {
    Semaphore room = new Semaphore(UNDER_WAY);
    AtomicLong failed = new AtomicLong();
    lateness.reset();
    long start = System.nanoTime();
    for (int i = 0; i < 1_000; i++) {
      long due = start + i * 20_000_000L;
      for (long left = due - System.nanoTime(); left > 0; left = due - System.nanoTime()) {
        LockSupport.parkNanos(left);
      }
      room.acquire();
      send(room, failed);
    }
    room.acquire(UNDER_WAY);
    late.p50Micros = lateness.getValueAtPercentile(50) / 1e3;
    late.p99Micros = lateness.getValueAtPercentile(99) / 1e3;
    late.passes = lateness.getTotalCount();
  }

  private void send(Semaphore room, AtomicLong failed) {
    HttpRequest request = requests.get(Math.floorMod(next.getAndIncrement(), WORKERS));
    var unused =
        http.sendAsync(request, HttpResponse.BodyHandlers.ofString())
            .whenComplete(
                (response, error) -> {
                  if (error != null || response.statusCode() != 200) {
                    failed.incrementAndGet();
                  }
                  room.release();
                });
  }
}

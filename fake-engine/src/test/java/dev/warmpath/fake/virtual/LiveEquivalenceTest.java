package dev.warmpath.fake.virtual;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.fake.live.BoundaryLog;
import dev.warmpath.fake.live.CommandListener;
import dev.warmpath.fake.live.EngineClock;
import dev.warmpath.fake.live.RankDriver;
import dev.warmpath.fake.live.RankListener;
import dev.warmpath.fake.live.RankSettings;
import dev.warmpath.fake.live.ScriptClock;
import dev.warmpath.fake.scheduler.CommandResult;
import dev.warmpath.fake.scheduler.CoreOptions;
import dev.warmpath.fake.scheduler.EngineCommand;
import dev.warmpath.fake.scheduler.EngineCore;
import dev.warmpath.fake.scheduler.EngineRequest;
import dev.warmpath.fake.scheduler.FinishReason;
import dev.warmpath.fake.scheduler.KvTransfer;
import dev.warmpath.fake.scheduler.LatencyModel;
import dev.warmpath.fake.scheduler.OffloadOptions;
import dev.warmpath.fake.scheduler.PauseMode;
import dev.warmpath.fake.scheduler.SglangCore;
import dev.warmpath.fake.scheduler.SglangOptions;
import dev.warmpath.fake.scheduler.VllmCore;
import dev.warmpath.worker.WorkerRole;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.jspecify.annotations.Nullable;

/**
 * The same script, played in virtual time and on a live rank's thread under a fake clock, publishes
 * the same: event for event, with the same times.
 */
class LiveEquivalenceTest {

  /** Something a script does to a rank. */
  private record Step(long atNanos, EventKind kind, EngineCommand command) {}

  /** A random rank and what happens to it; everything follows from the seed. */
  private static final class Scenario {
    private static final List<PauseMode> MODES = List.of(PauseMode.values());

    private final boolean vllm;
    private final boolean handoffs;
    private final CoreOptions options;
    private final LatencyModel latency;
    private final List<Step> steps = new ArrayList<>();

    /**
     * Draws a scenario.
     *
     * @param onTheGrid whether passes end at instants at which steps happen as well
     */
    Scenario(int seed, boolean vllm, boolean onTheGrid) {
      SplittableRandom random = new SplittableRandom(seed);
      this.vllm = vllm;
      this.handoffs = random.nextInt(4) > 0;
      this.latency = onTheGrid ? LatencyModel.constant(1 / 64.0, 0.5) : LatencyModel.polynomial();
      int blockSize = 1 << random.nextInt(1, 4);
      CoreOptions.Builder builder =
          CoreOptions.builder()
              .blockSize(blockSize)
              .numBlocks(random.nextInt(8, 40))
              .maxNumSeqs(random.nextInt(1, 6))
              .maxNumBatchedTokens(Math.max(blockSize, 8 * random.nextInt(1, 9)))
              .cacheEvents(true)
              .transfer(new KvTransfer(15_625 * 8, 8));
      if (handoffs) {
        builder.role(random.nextBoolean() ? WorkerRole.PREFILL : WorkerRole.DECODE);
      }
      if (vllm && random.nextInt(3) == 0) {
        builder.offload(new OffloadOptions(32, 0, 1, 1, 4));
      }
      this.options = builder.build();
      draw(random, onTheGrid);
    }

    private void draw(SplittableRandom random, boolean onTheGrid) {
      int count = random.nextInt(1, 40);
      for (int i = 0; i < count; i++) {
        // a grid of 1/64 ms, or of one microsecond
        long at = onTheGrid ? random.nextInt(0, 2_000) * 15_625L : random.nextInt(200_000) * 1_000L;
        int what = random.nextInt(12);
        EngineCommand command = what < 5 ? submit(i, random) : other(what, i, random);
        EventKind kind =
            command instanceof EngineCommand.Submit ? EventKind.ARRIVAL : EventKind.COMMAND;
        steps.add(new Step(at, kind, command));
      }
      steps.add(new Step(250_000_000L, EventKind.COMMAND, new EngineCommand.Resume()));
      steps.sort(Comparator.comparingLong(Step::atNanos).thenComparing(Step::kind));
    }

    private static EngineRequest request(int id, SplittableRandom random) {
      // few distinct tokens, so that prefixes are shared by chance
      int[] prompt = random.ints(1 + random.nextInt(40), 0, 2).toArray();
      return new EngineRequest(id, prompt, new int[random.nextInt(20)], 0);
    }

    private static EngineCommand submit(int id, SplittableRandom random) {
      return new EngineCommand.Submit(request(id, random));
    }

    private static EngineCommand other(int what, int id, SplittableRandom random) {
      long earlier = random.nextInt(id + 1);
      return switch (what) {
        case 5 -> new EngineCommand.Cancel(earlier);
        case 6 -> new EngineCommand.SubmitHandoffPrefill(id, request(id, random));
        case 7 -> new EngineCommand.ReserveDestination(id, request(id, random));
        case 8 -> new EngineCommand.ActivateDestination(earlier);
        case 9 ->
            random.nextBoolean()
                ? new EngineCommand.ReleaseSource(earlier)
                : new EngineCommand.CancelSource(earlier);
        case 10 -> new EngineCommand.CancelDestination(earlier);
        default ->
            switch (random.nextInt(4)) {
              case 0 -> new EngineCommand.Flush();
              case 1 -> new EngineCommand.Pause(MODES.get(random.nextInt(MODES.size())));
              default -> new EngineCommand.Resume();
            };
      };
    }

    EngineCore core() {
      return vllm
          ? new VllmCore(options, latency)
          : new SglangCore(
              SglangOptions.builder(options).chunkedPrefillSize(options.blockSize() * 2).build(),
              latency);
    }

    RankSettings settings(BoundaryLog log) {
      return new RankSettings(0, handoffs, 6, log);
    }
  }

  private static final CommandListener ANY_ANSWER =
      new CommandListener() {
        @Override
        public void answered(CommandResult result) {}

        @Override
        public void refused(IllegalArgumentException reason) {}
      };

  private static List<BoundaryLog.Entry> playVirtually(Scenario scenario) {
    BoundaryLog log = new BoundaryLog();
    VirtualTime time = new VirtualTime();
    VirtualRank rank = new VirtualRank(time, scenario.settings(log), scenario.core());
    for (Step step : scenario.steps) {
      time.schedule(
          step.atNanos() / 1e6,
          step.kind(),
          () -> {
            if (step.command() instanceof EngineCommand.Submit submit) {
              rank.submit(submit.request(), RankListener.NONE);
            } else {
              rank.apply(step.command(), ANY_ANSWER);
            }
          });
    }
    time.runUntilIdle();
    return log.entries();
  }

  private static List<BoundaryLog.Entry> playLive(Scenario scenario) throws InterruptedException {
    BoundaryLog log = new BoundaryLog();
    ScriptClock clock = new ScriptClock();
    try (RankDriver rank =
        new RankDriver("scripted", scenario.settings(log), scenario.core(), clock)) {
      List<ScriptClock.Action> actions = new ArrayList<>();
      for (Step step : scenario.steps) {
        Runnable run =
            () -> {
              if (step.command() instanceof EngineCommand.Submit submit) {
                rank.submit(submit.request(), RankListener.NONE);
              } else {
                rank.offer(step.command(), RankListener.NONE);
              }
            };
        actions.add(new ScriptClock.Action(step.atNanos(), actions.size(), run));
      }
      clock.play(actions);
      clock.awaitEnd();
      return log.entries();
    }
  }

  private static void assertSame(Scenario scenario) throws InterruptedException {
    List<BoundaryLog.Entry> virtual = playVirtually(scenario);
    List<BoundaryLog.Entry> live = playLive(scenario);

    for (int i = 0; i < Math.min(virtual.size(), live.size()); i++) {
      assertThat(live.get(i)).as("entry %d", i).isEqualTo(virtual.get(i));
    }
    assertThat(live).hasSameSizeAs(virtual);
    assertThat(virtual.size()).isGreaterThan(1);
  }

  @Property(tries = 150, seed = "31")
  void vllmPublishesTheSame(@ForAll @IntRange(min = 0, max = 1_000_000) int seed)
      throws InterruptedException {
    assertSame(new Scenario(seed, true, false));
  }

  @Property(tries = 150, seed = "32")
  void vllmPublishesTheSameWhenMuchHappensAtOnce(
      @ForAll @IntRange(min = 0, max = 1_000_000) int seed) throws InterruptedException {
    assertSame(new Scenario(seed, true, true));
  }

  @Property(tries = 150, seed = "33")
  void sglangPublishesTheSame(@ForAll @IntRange(min = 0, max = 1_000_000) int seed)
      throws InterruptedException {
    assertSame(new Scenario(seed, false, false));
  }

  @Property(tries = 150, seed = "34")
  void sglangPublishesTheSameWhenMuchHappensAtOnce(
      @ForAll @IntRange(min = 0, max = 1_000_000) int seed) throws InterruptedException {
    assertSame(new Scenario(seed, false, true));
  }

  @Property(tries = 50, seed = "35")
  void virtualTimeRepeatsItself(@ForAll @IntRange(min = 0, max = 1_000_000) int seed) {
    assertThat(playVirtually(new Scenario(seed, seed % 2 == 0, false)))
        .isEqualTo(playVirtually(new Scenario(seed, seed % 2 == 0, false)));
  }

  /** The scripts above are worth something: between them everything happens that can. */
  @Example
  void scriptsReachEverything() {
    StringBuilder all = new StringBuilder();
    for (int seed = 0; seed < 200; seed++) {
      for (BoundaryLog.Entry entry : playVirtually(new Scenario(seed, seed % 2 == 0, true))) {
        all.append(entry.kind()).append(' ').append(entry.content()).append('\n');
      }
    }

    assertThat(all.toString())
        .contains(
            "Admissions [Admitted",
            "Preempted[",
            ":BlocksStored[DEVICE",
            ":BlocksStored[HOST",
            ":BlockRemoved[",
            ":CacheCleared[",
            "FPM ForwardPassMetrics",
            "finish=COMPLETED",
            "finish=ABORTED",
            "finish=REJECTED",
            "Ack SubmitHandoffPrefill SUBMITTED",
            "Ack ReserveDestination DESTINATION_ACCEPTED",
            "Ack ReserveDestination null",
            "Ack ActivateDestination APPLIED",
            "Ack CancelDestination APPLIED",
            "Ack ReleaseSource APPLIED",
            "Ack CancelSource NOOP",
            "Lifecycle [SourceHeld",
            "Lifecycle [DestinationReserved");
  }

  /** On the machine's own clock the times differ, the order doesn't. */
  @Example
  void realTimeKeepsTheOrder() throws InterruptedException {
    for (boolean vllm : new boolean[] {true, false}) {
      CoreOptions options =
          CoreOptions.builder().blockSize(4).numBlocks(24).maxNumSeqs(4).cacheEvents(true).build();
      LatencyModel latency = LatencyModel.constant(0, 0.25);
      List<EngineRequest> requests = new ArrayList<>();
      for (int i = 0; i < 10; i++) {
        requests.add(new EngineRequest(i, new int[4 + i], new int[3 + i % 4], i % 3));
      }

      BoundaryLog virtual = new BoundaryLog();
      VirtualTime time = new VirtualTime();
      VirtualRank rank =
          new VirtualRank(
              time,
              RankSettings.aggregated(0, options).withObserver(virtual),
              core(vllm, options, latency));
      rank.freeze(true);
      requests.forEach(request -> rank.submit(request, RankListener.NONE));
      time.runUntilIdle();
      rank.freeze(false);
      time.runUntilIdle();

      BoundaryLog live = new BoundaryLog();
      CountDownLatch ends = new CountDownLatch(requests.size());
      RankListener counter =
          new RankListener() {
            @Override
            public void admitted(int reusedTokens) {}

            @Override
            public void output(int tokens, @Nullable FinishReason finish) {
              if (finish != null) {
                ends.countDown();
              }
            }
          };
      RankDriver driver =
          new RankDriver(
              "real",
              RankSettings.aggregated(0, options).withObserver(live),
              core(vllm, options, latency),
              EngineClock.system());
      try (driver) {
        driver.freeze(true);
        requests.forEach(request -> driver.submit(request, counter));
        // answered once everything before it was taken
        driver.apply(new EngineCommand.Resume()).join();
        driver.freeze(false);
        assertThat(ends.await(30, TimeUnit.SECONDS)).isTrue();
      }

      assertThat(withoutIdleMetrics(live)).isEqualTo(withoutIdleMetrics(virtual));
    }
  }

  /** How often an idle rank says so depends on how requests arrive. */
  private static List<String> withoutIdleMetrics(BoundaryLog log) {
    List<String> order = new ArrayList<>(log.order());
    order.removeIf(entry -> entry.startsWith("AckResume"));
    List<String> rest = new ArrayList<>();
    for (String entry : order) {
      boolean repeated =
          entry.equals("Metrics") && !rest.isEmpty() && rest.get(rest.size() - 1).equals(entry);
      if (!repeated) {
        rest.add(entry);
      }
    }
    return rest;
  }

  private static EngineCore core(boolean vllm, CoreOptions options, LatencyModel latency) {
    return vllm
        ? new VllmCore(options, latency)
        : new SglangCore(SglangOptions.builder(options).build(), latency);
  }
}

package dev.warmpath.fake.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.jspecify.annotations.Nullable;

class SglangCorePropertyTest {
  private static EngineRequest randomRequest(long id, SplittableRandom random) {
    // few distinct tokens, so that prefixes are shared by chance
    int[] prompt = random.ints(1 + random.nextInt(40), 0, 2).toArray();
    int[] output = random.ints(random.nextInt(12), 0, 2).toArray();
    return new EngineRequest(id, prompt, output, random.nextInt(2));
  }

  private static SglangOptions options(SplittableRandom random, int pages) {
    int pageSize = 1 + random.nextInt(4);
    CoreOptions core =
        CoreOptions.builder()
            .numBlocks(pages)
            .blockSize(pageSize)
            .maxNumSeqs(1 + random.nextInt(6))
            .cacheEvents(true)
            .transfer(new KvTransfer(250_000, 1))
            .offload(offload(random))
            .speculation(
                random.nextInt(4) == 0
                    ? new Speculation(List.of(0.8, 0.5), random.nextLong())
                    : null)
            .build();
    return SglangOptions.builder(core)
        .schedulePolicy(random.nextBoolean() ? SchedulePolicy.FCFS : SchedulePolicy.LPM)
        .chunkedPrefillSize(pageSize * (1 + random.nextInt(8)))
        .clipMaxNewTokens(random.nextInt(12))
        .scheduleConservativeness(random.nextDouble())
        .build();
  }

  /** Small and slow lower tiers, now and then. */
  static @Nullable OffloadOptions offload(SplittableRandom random) {
    return random.nextInt(3) == 0
        ? new OffloadOptions(1 + random.nextInt(8), random.nextInt(8), 0.01, 0.01, 2)
        : null;
  }

  /** A source or destination on the scheduler under test, driven at random. */
  private static EngineCommand handoffCommand(SplittableRandom random, long id) {
    return switch (random.nextInt(5)) {
      case 0 -> new EngineCommand.ReleaseSource(id);
      case 1 -> new EngineCommand.CancelSource(id);
      case 2 -> new EngineCommand.CancelDestination(id);
      default -> new EngineCommand.ActivateDestination(id);
    };
  }

  /** Runs a random script and returns everything that happened. */
  private static List<EngineEffect> script(long seed, int pages, boolean handoffs) {
    SplittableRandom random = new SplittableRandom(seed);
    SglangOptions options = options(random, pages);
    SglangCore core = new SglangCore(options, LatencyModel.polynomial());
    EventReplay log = new EventReplay();
    int submitted = 0;
    int refused = 0;
    for (int step = 0; step < 200; step++) {
      int what = random.nextInt(12);
      try {
        if (what < 3) {
          EngineRequest request = randomRequest(++submitted, random);
          EngineCommand command = new EngineCommand.Submit(request);
          int kind = handoffs ? random.nextInt(3) : 0;
          if (kind == 1) {
            command = new EngineCommand.SubmitHandoffPrefill(submitted, request);
          } else if (kind == 2) {
            command = new EngineCommand.ReserveDestination(submitted, request);
          }
          // during a pass destinations are not admitted
          log.add(core.apply(command, random.nextBoolean(), step).effects());
          log.add(core.retryDestinations(step));
        } else if (what == 3 && submitted > 0) {
          EngineCommand cancel = new EngineCommand.Cancel(1 + random.nextInt(submitted));
          log.add(core.apply(cancel, true, step).effects());
        } else if (what == 4 && random.nextInt(5) == 0) {
          log.add(core.apply(new EngineCommand.Flush(), true, step).effects());
        } else if (what == 5 && random.nextInt(5) == 0) {
          log.add(core.apply(new EngineCommand.Pause(PauseMode.RETRACT), true, step).effects());
          log.add(core.apply(new EngineCommand.Resume(), true, step).effects());
        } else if (what == 5) {
          EngineCommand store = new EngineCommand.StorePrefix(randomRequest(0, random));
          log.add(core.apply(store, true, step).effects());
        } else if (what < 8 && handoffs && submitted > 0) {
          EngineCommand command = handoffCommand(random, 1 + random.nextInt(submitted));
          log.add(core.apply(command, true, step).effects());
        } else if (core.hasWork()) {
          pass(core, step, log);
        }
      } catch (IllegalArgumentException e) {
        assertThat(e).hasMessageContaining("KV pool");
        refused++;
      }
      check(core, log);
    }
    for (int id = 1; id <= submitted && handoffs; id++) {
      log.add(core.apply(new EngineCommand.ReleaseSource(id), true, 0).effects());
      log.add(core.apply(new EngineCommand.CancelDestination(id), true, 0).effects());
      check(core, log);
    }
    double now = 1000;
    for (int i = 0; core.hasWork() || core.nextDeadlineMs() < Double.POSITIVE_INFINITY; i++) {
      assertThat(i).as("drains").isLessThan(20_000);
      if (core.hasWork()) {
        PassResult pass = pass(core, now, log);
        assertThat(pass.progressed()).as("progress").isTrue();
        now = pass.endMs();
      } else {
        now = Math.max(now, core.nextDeadlineMs());
        log.add(core.tick(now, true));
      }
      check(core, log);
    }
    assertThat(core.isDrained()).isTrue();
    assertThat(core.metrics().activeBlocks()).isZero();
    assertThat(core.metrics().running() + core.metrics().waiting()).isZero();
    assertThat(core.metrics().waitingTokens()).isZero();
    assertThat(core.pool().locked() + core.pool().privatePages()).isZero();
    assertThat(log.ended).hasSize(submitted - refused);
    return log.log;
  }

  private static PassResult pass(SglangCore core, double nowMs, EventReplay replay) {
    PassResult pass = core.executePass(nowMs);
    replay.add(pass);
    return pass;
  }

  private static void check(SglangCore core, EventReplay log) {
    RadixPool pool = core.pool();
    RadixAudit.check(pool);
    assertThat(core.metrics().activeBlocks() + core.metrics().cachedBlocks() + pool.free())
        .isEqualTo(pool.capacity());
    int own = core.sequences().stream().mapToInt(s -> s.ownPages).sum();
    List<RadixNode> handles =
        new ArrayList<>(core.sequences().stream().map(s -> s.prefix).toList());
    RadixOffload lower = core.lower();
    if (lower != null) {
      for (RadixOffload.SwapIn swapIn : lower.under()) {
        own += swapIn.pages();
        handles.add(swapIn.prefix());
      }
    }
    assertThat(pool.privatePages()).isEqualTo(own);
    RadixAudit.checkLocks(pool, handles);
    assertThat(log.resident).as("event stream").isEqualTo(RadixAudit.resident(pool));
  }

  @Property(tries = 300, seed = "31")
  void pagesAreConservedAndEveryRequestEndsOnce(
      @ForAll long seed, @ForAll @IntRange(min = 1, max = 40) int pages) {
    script(seed, pages, false);
  }

  @Property(tries = 300, seed = "32")
  void handoffsAmongOrdinaryRequestsLeaveNothingBehind(
      @ForAll long seed, @ForAll @IntRange(min = 1, max = 40) int pages) {
    script(seed, pages, true);
  }

  @Property(tries = 30, seed = "33")
  void sameScriptSameLog(@ForAll long seed, @ForAll @IntRange(min = 4, max = 40) int pages) {
    assertThat(script(seed, pages, true))
        .usingRecursiveFieldByFieldElementComparator()
        .isEqualTo(script(seed, pages, true));
  }
}

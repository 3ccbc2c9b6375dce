package dev.warmpath.fake.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.fake.scheduler.BlockPool.Block;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

class VllmCorePropertyTest {
  private static final int HANDOFFS = 4;

  private static EngineRequest randomRequest(long id, SplittableRandom random, int longest) {
    // few distinct tokens, so that prefixes are shared by chance
    int[] prompt = random.ints(1 + random.nextInt(longest), 0, 2).toArray();
    int[] output = random.ints(random.nextInt(12), 0, 2).toArray();
    return new EngineRequest(id, prompt, output, random.nextInt(2));
  }

  private static CoreOptions options(SplittableRandom random, int blocks) {
    CoreOptions.Builder options =
        CoreOptions.builder()
            .numBlocks(blocks)
            .blockSize(1 + random.nextInt(4))
            .maxNumBatchedTokens(8 + random.nextInt(40))
            .maxNumSeqs(1 + random.nextInt(6))
            .preemption(random.nextBoolean() ? PreemptionMode.LIFO : PreemptionMode.FIFO)
            .cacheEvents(true);
    if (random.nextInt(3) == 0) {
      options.speculation(new Speculation(List.of(0.8, 0.5), random.nextLong()));
    }
    if (random.nextInt(4) == 0) {
      options.admission(AdmissionPolicy.GUARANTEED_NO_EVICT);
    }
    if (random.nextInt(4) == 0) {
      options.watermark(0.1);
    }
    if (random.nextInt(2) == 0) {
      options
          .transfer(new KvTransfer(250_000, 1))
          .offload(new OffloadOptions(1 + random.nextInt(8), random.nextInt(8), 1, 0.5, 2));
    }
    return options.build();
  }

  /** A random script over everything that can be asked of a scheduler. */
  private static final class Script {
    final SplittableRandom random;
    final CoreOptions options;
    final VllmCore core;
    final int blocks;
    final List<EngineEffect> log = new ArrayList<>();
    final CacheIndex index = CacheIndex.empty();
    final List<OffloadTier.SwapIn> swapIns = new ArrayList<>();
    double now;
    int submitted;

    Script(long seed, int blocks) {
      this.random = new SplittableRandom(seed);
      this.options = options(random, blocks);
      this.core = new VllmCore(options, LatencyModel.polynomial());
      this.blocks = blocks;
    }

    void run() {
      for (int step = 0; step < 250; step++) {
        step();
        check();
      }
      for (int handoff = 1; handoff <= HANDOFFS; handoff++) {
        apply(new EngineCommand.CancelSource(handoff));
        apply(new EngineCommand.CancelDestination(handoff));
      }
      apply(new EngineCommand.Resume());
      for (int i = 0; core.hasWork() || core.nextDeadlineMs() < Double.POSITIVE_INFINITY; i++) {
        assertThat(i).as("drains").isLessThan(20_000);
        if (core.hasWork()) {
          pass();
        } else {
          now = Math.max(now, core.nextDeadlineMs());
          note(core.tick(now, true));
        }
        check();
      }
    }

    private void step() {
      int what = random.nextInt(15);
      long handoff = 1L + random.nextInt(HANDOFFS);
      switch (what) {
        case 0, 1 -> apply(new EngineCommand.Submit(randomRequest(++submitted, random, 40)));
        case 2 -> {
          if (submitted > 0) {
            apply(new EngineCommand.Cancel(1 + random.nextInt(submitted)));
          }
        }
        case 3 -> {
          if (random.nextInt(5) == 0) {
            apply(new EngineCommand.Flush());
          }
        }
        case 4 ->
            tryApply(
                new EngineCommand.SubmitHandoffPrefill(
                    handoff, randomRequest(++submitted, random, 40)));
        case 5 ->
            tryApply(
                new EngineCommand.ReserveDestination(
                    handoff, randomRequest(++submitted, random, 40)));
        case 6 -> apply(new EngineCommand.ActivateDestination(handoff));
        case 7 -> {
          if (random.nextBoolean()) {
            apply(new EngineCommand.CancelDestination(handoff));
          } else {
            apply(new EngineCommand.CancelSource(handoff));
          }
        }
        case 8 -> apply(new EngineCommand.ReleaseSource(handoff));
        case 9 -> {
          now += random.nextInt(3);
          note(core.tick(now, random.nextBoolean()));
        }
        case 10 -> apply(new EngineCommand.StorePrefix(randomRequest(0, random, 40)));
        default -> pass();
      }
    }

    private void pass() {
      if (core.hasWork()) {
        PassResult pass = core.executePass(now);
        assertThat(pass.endMs()).isGreaterThanOrEqualTo(now);
        note(pass.onStart());
        note(pass.onEnd());
        now = pass.endMs();
      }
      note(core.retryDestinations(now));
    }

    private void apply(EngineCommand command) {
      note(core.apply(command, true, now).effects());
    }

    private void tryApply(EngineCommand command) {
      CoreMetrics before = core.metrics();
      try {
        apply(command);
      } catch (IllegalArgumentException refused) {
        assertThat(core.metrics()).isEqualTo(before);
        submitted--;
      }
    }

    private void note(List<EngineEffect> effects) {
      log.addAll(effects);
      effects.forEach(index::replay);
    }

    private void check() {
      VllmState state = core.state();
      BlockPool pool = state.pool;
      IdentityHashMap<Block, Integer> owners = new IdentityHashMap<>();
      for (Sequence sequence : state.known.values()) {
        sequence.blocks.forEach(block -> owners.merge(block, 1, Integer::sum));
        assertThat(sequence.computed).isLessThanOrEqualTo(sequence.length());
        assertThat((long) sequence.blocks.size() * options.blockSize())
            .isGreaterThanOrEqualTo(sequence.computed);
        if (sequence.swapIn != null && !swapIns.contains(sequence.swapIn)) {
          swapIns.add(sequence.swapIn);
        }
      }
      for (OffloadTier.SwapIn swapIn : swapIns) {
        swapIn.blocks().forEach(block -> owners.merge(block, 1, Integer::sum));
      }
      owners.forEach((block, count) -> assertThat(block.refs()).isEqualTo(count));
      assertThat(pool.active()).isEqualTo(owners.size() + pool.quarantined());
      assertThat(pool.active() + pool.inactive() + pool.unused()).isEqualTo(blocks);
      CoreMetrics metrics = core.metrics();
      int queued = 0;
      long tokens = 0;
      for (Sequence sequence : state.known.values()) {
        switch (sequence.place) {
          case QUEUED, SWAPPING_IN, DESTINATION -> {
            queued++;
            tokens += sequence.length();
          }
          default -> {
            // neither waits
          }
        }
      }
      assertThat(metrics.waiting()).isEqualTo(queued);
      assertThat(metrics.waitingTokens()).isEqualTo(tokens);
      assertThat(index.resident(StorageTier.DEVICE))
          .hasSize(pool.residentHashes())
          .allMatch(pool::isResident);
    }
  }

  @Property(tries = 500, seed = "11")
  void blocksAreConservedAndEveryRequestEndsOnce(
      @ForAll long seed, @ForAll @IntRange(min = 1, max = 40) int blocks) {
    Script script = new Script(seed, blocks);

    script.run();

    assertThat(script.core.isDrained()).isTrue();
    assertThat(script.core.metrics().activeBlocks()).isZero();
    assertThat(script.core.metrics().running() + script.core.metrics().waiting()).isZero();
    Map<Long, Integer> ends = new HashMap<>();
    for (EngineEffect.Output output : CoreScript.only(EngineEffect.Output.class, script.log)) {
      if (output.finish() != null) {
        ends.merge(output.requestId(), 1, Integer::sum);
      }
    }
    assertThat(ends.values()).hasSize(script.submitted).allMatch(count -> count == 1);
    if (script.options.admission() == AdmissionPolicy.GUARANTEED_NO_EVICT) {
      assertThat(script.core.metrics().preemptions()).isZero();
    }
  }

  @Property(tries = 50, seed = "12")
  void sameScriptSameLog(@ForAll long seed, @ForAll @IntRange(min = 4, max = 40) int blocks) {
    Script one = new Script(seed, blocks);
    Script other = new Script(seed, blocks);
    one.run();
    other.run();

    CoreScript.assertSame(
        one.log.stream().map(CoreScript::text).toList(),
        other.log.stream().map(CoreScript::text).toList());
    assertThat(one.now).isEqualTo(other.now);
  }

  @Property(tries = 300, seed = "13")
  void tokensAreThoseThatWereAskedForAndFit(@ForAll long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    int limit = 10 + random.nextInt(60);
    CoreOptions.Builder options =
        CoreOptions.builder().numBlocks(100).blockSize(4).maxNumSeqs(4).maxModelLen(limit);
    if (random.nextBoolean()) {
      options.speculation(new Speculation(List.of(0.9, 0.5, 0.5), seed));
    }
    VllmCore core = new VllmCore(options.build(), LatencyModel.instant());
    Map<Long, Integer> expected = new HashMap<>();
    for (long id = 1; id <= 12; id++) {
      EngineRequest request = randomRequest(id, random, 40);
      core.apply(new EngineCommand.Submit(request), true, 0);
      int room = limit - request.promptTokens();
      expected.put(id, room <= 0 ? 0 : Math.min(request.outputTokens(), room));
    }

    Map<Long, Integer> emitted = new HashMap<>();
    while (core.hasWork()) {
      for (EngineEffect effect : core.executePass(0).onEnd()) {
        if (effect instanceof EngineEffect.Output output) {
          emitted.merge(output.requestId(), output.tokens(), Integer::sum);
        }
      }
    }

    assertThat(emitted).isEqualTo(expected);
  }
}

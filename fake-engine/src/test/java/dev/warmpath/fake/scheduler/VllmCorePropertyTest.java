package dev.warmpath.fake.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

class VllmCorePropertyTest {
  private static EngineRequest randomRequest(long id, SplittableRandom random) {
    // few distinct tokens, so that prefixes are shared by chance
    int[] prompt = random.ints(1 + random.nextInt(40), 0, 2).toArray();
    int[] output = random.ints(random.nextInt(12), 0, 2).toArray();
    return new EngineRequest(id, prompt, output, random.nextInt(2));
  }

  private static CoreOptions options(SplittableRandom random, int blocks) {
    return CoreOptions.builder()
        .numBlocks(blocks)
        .blockSize(1 + random.nextInt(4))
        .maxNumBatchedTokens(8 + random.nextInt(40))
        .maxNumSeqs(1 + random.nextInt(6))
        .preemption(random.nextBoolean() ? PreemptionMode.LIFO : PreemptionMode.FIFO)
        .cacheEvents(true)
        .build();
  }

  /** Runs a random script and returns everything that happened. */
  private static List<EngineEffect> script(long seed, int blocks) {
    SplittableRandom random = new SplittableRandom(seed);
    VllmCore core = new VllmCore(options(random, blocks), LatencyModel.polynomial());
    List<EngineEffect> log = new ArrayList<>();
    int submitted = 0;
    for (int step = 0; step < 200; step++) {
      int what = random.nextInt(10);
      if (what < 3) {
        EngineRequest request = randomRequest(++submitted, random);
        log.addAll(core.apply(new EngineCommand.Submit(request), true, step).effects());
      } else if (what == 3 && submitted > 0) {
        log.addAll(
            core.apply(new EngineCommand.Cancel(1 + random.nextInt(submitted)), true, step)
                .effects());
      } else if (what == 4 && random.nextInt(5) == 0) {
        log.addAll(core.apply(new EngineCommand.Flush(), true, step).effects());
      } else if (core.hasWork()) {
        PassResult pass = core.executePass(step);
        log.addAll(pass.onStart());
        log.addAll(pass.onEnd());
      }
      CoreMetrics metrics = core.metrics();
      assertThat(metrics.activeBlocks()).isBetween(0, blocks);
      assertThat(metrics.activeBlocks() + metrics.cachedBlocks()).isLessThanOrEqualTo(blocks);
    }
    for (int i = 0; core.hasWork(); i++) {
      assertThat(i).as("drains").isLessThan(20_000);
      PassResult pass = core.executePass(1000);
      log.addAll(pass.onStart());
      log.addAll(pass.onEnd());
    }
    assertThat(core.metrics().activeBlocks()).isZero();
    assertThat(core.metrics().running() + core.metrics().waiting()).isZero();
    assertThat(ends(log)).hasSize(submitted).doesNotHaveDuplicates();
    assertThat(residentByEvents(log)).hasSizeLessThanOrEqualTo(core.metrics().cachedBlocks());
    assertThat(residentByEvents(log).isEmpty()).isEqualTo(core.metrics().cachedBlocks() == 0);
    return log;
  }

  private static List<Long> ends(List<EngineEffect> log) {
    return log.stream()
        .filter(effect -> effect instanceof EngineEffect.Output output && output.finish() != null)
        .map(effect -> ((EngineEffect.Output) effect).requestId())
        .toList();
  }

  /** Replays cache events as an index would, which fails on any event that makes no sense. */
  private static Set<Long> residentByEvents(List<EngineEffect> log) {
    Set<Long> resident = new HashSet<>();
    for (EngineEffect effect : log) {
      if (effect instanceof EngineEffect.BlocksStored stored) {
        if (!stored.root()) {
          assertThat(resident).as("parent").contains(stored.parentHash());
        }
        for (long hash : stored.blockHashes()) {
          assertThat(resident.add(hash)).as("stored once").isTrue();
        }
      } else if (effect instanceof EngineEffect.BlockRemoved removed) {
        assertThat(resident.remove(removed.blockHash())).as("removed when resident").isTrue();
      } else if (effect instanceof EngineEffect.CacheCleared) {
        resident.clear();
      }
    }
    return resident;
  }

  @Property(tries = 300, seed = "11")
  void blocksAreConservedAndEveryRequestEndsOnce(
      @ForAll long seed, @ForAll @IntRange(min = 1, max = 40) int blocks) {
    script(seed, blocks);
  }

  @Property(tries = 30, seed = "12")
  void sameScriptSameLog(@ForAll long seed, @ForAll @IntRange(min = 4, max = 40) int blocks) {
    assertThat(script(seed, blocks))
        .usingRecursiveFieldByFieldElementComparator()
        .isEqualTo(script(seed, blocks));
  }
}

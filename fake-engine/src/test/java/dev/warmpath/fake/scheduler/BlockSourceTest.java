package dev.warmpath.fake.scheduler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class BlockSourceTest {
  private static final int PER_ID = 8;
  private static final int BLOCK = 4;

  private enum Form {
    TOKENS,
    STRETCHES,
    CHAINED
  }

  /** The same request in one of the forms; its output is like nothing else. */
  private static EngineRequest request(Form form, long id, long[] ids, int prompt, int output) {
    int[] tokens = IntStream.range(0, prompt).map(i -> (int) ids[i / PER_ID]).toArray();
    int[] unique = IntStream.range(0, output).map(i -> (int) id * 1000 + i).toArray();
    EngineRequest plain = new EngineRequest(id, tokens, unique, 0);
    BlockSource source =
        switch (form) {
          case TOKENS -> plain.content();
          case STRETCHES -> new BlockSource.Stretches(Arrays.copyOf(ids, prompt / PER_ID), PER_ID);
          case CHAINED ->
              new BlockSource.Chained(
                  Arrays.copyOf(
                      new BlockHashes(plain, BLOCK).first(prompt / BLOCK), prompt / BLOCK));
        };
    return new EngineRequest(id, source, prompt, output, 0);
  }

  /** What happens, with blocks numbered as they appear instead of their hashes. */
  private static List<Object> run(Form form, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    VllmCore core =
        new VllmCore(
            CoreOptions.builder()
                .numBlocks(20 + random.nextInt(40))
                .blockSize(BLOCK)
                .maxNumBatchedTokens(40)
                .cacheEvents(true)
                .build(),
            LatencyModel.polynomial());
    List<Object> log = new ArrayList<>();
    Map<Long, Integer> numbers = new HashMap<>();
    double now = 0;
    for (int id = 1; id <= 30; id++) {
      long[] ids = random.longs(6, 0, 2).toArray();
      // whole stretches, so that no block mixes the prompt's end with the output
      int prompt = PER_ID * (1 + random.nextInt(6));
      core.apply(
          new EngineCommand.Submit(request(form, id, ids, prompt, random.nextInt(20))), true, now);
      for (int i = 0; i < random.nextInt(6) && core.hasWork(); i++) {
        PassResult pass = core.executePass(now);
        now = pass.endMs();
        log.add(now);
        for (EngineEffect effect : pass.onStart()) {
          if (effect instanceof EngineEffect.BlocksStored stored) {
            log.add(stored.root() ? "root" : numbers.get(stored.parentHash()));
            for (long hash : stored.blockHashes()) {
              log.add(numbers.computeIfAbsent(hash, unknown -> numbers.size()));
            }
          } else if (effect instanceof EngineEffect.BlockRemoved removed) {
            log.add("removed " + numbers.get(removed.blockHash()));
          } else {
            log.add(effect);
          }
        }
        log.addAll(pass.onEnd());
      }
      log.add(core.metrics());
    }
    return log;
  }

  @Property(tries = 100, seed = "15")
  void everyFormBehavesTheSame(@ForAll long seed) {
    List<Object> tokens = run(Form.TOKENS, seed);

    assertThat(run(Form.STRETCHES, seed)).isEqualTo(tokens);
    assertThat(run(Form.CHAINED, seed)).isEqualTo(tokens);
  }

  @Test
  void stretchesNeedNotMatchBlocks() {
    EngineRequest one =
        new EngineRequest(1, new BlockSource.Stretches(new long[] {1, 2, 3}, 6), 18, 1, 0);
    EngineRequest two =
        new EngineRequest(2, new BlockSource.Stretches(new long[] {1, 2, 4}, 6), 18, 1, 0);

    long[] first = new BlockHashes(one, 4).first(4);
    long[] second = new BlockHashes(two, 4).first(4);

    // 12 equal tokens are three blocks of four
    assertThat(IntStream.range(0, 4).filter(i -> first[i] == second[i]).boxed())
        .containsExactly(0, 1, 2);
  }

  @Test
  void givenHashesAppearInEventsAndWhatFollowsIsUnlikeAnythingElse() {
    long[] given = {11, 12};
    EngineRequest one = new EngineRequest(1, new BlockSource.Chained(given), 8, 8, 0);
    EngineRequest two = new EngineRequest(2, new BlockSource.Chained(given), 8, 8, 0);

    long[] first = new BlockHashes(one, 4).first(3);
    long[] second = new BlockHashes(two, 4).first(3);

    assertThat(first).startsWith(11, 12);
    assertThat(first[2]).isNotEqualTo(second[2]);
    assertThat(given).containsExactly(11, 12);
    assertThat(new BlockHashes(one, 4).tokens(0, 2)).isEmpty();
  }

  @Test
  void everyTokenNeedsAnId() {
    assertThatThrownBy(
            () -> new EngineRequest(1, new BlockSource.Tokens(new int[3], new int[1]), 4, 1, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("token id for each token");
    assertThatThrownBy(() -> new BlockSource.Stretches(new long[1], 0))
        .isInstanceOf(IllegalArgumentException.class);
  }
}

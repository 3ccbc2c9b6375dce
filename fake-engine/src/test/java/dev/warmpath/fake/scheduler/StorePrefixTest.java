package dev.warmpath.fake.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.fake.scheduler.CommandResult.Outcome;
import dev.warmpath.fake.scheduler.EngineEffect.BlockRemoved;
import dev.warmpath.fake.scheduler.EngineEffect.BlocksStored;
import java.util.List;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** KV that comes from elsewhere and that nobody waits for. */
class StorePrefixTest {
  private static final int BLOCKS = 8;

  private static EngineCore core(
      String kind, Function<CoreOptions.Builder, CoreOptions.Builder> more) {
    CoreOptions options =
        more.apply(CoreOptions.builder().numBlocks(BLOCKS).blockSize(4).cacheEvents(true)).build();
    return kind.equals("vllm")
        ? new VllmCore(options, LatencyModel.polynomial())
        : new SglangCore(SglangOptions.builder(options).build(), LatencyModel.polynomial());
  }

  private static EngineRequest request(long id, int from, int length) {
    return new EngineRequest(id, IntStream.range(from, from + length).toArray(), new int[1], 0);
  }

  private static CommandResult store(EngineCore core, EngineRequest prompt) {
    return core.apply(new EngineCommand.StorePrefix(prompt), true, 0);
  }

  @ParameterizedTest
  @ValueSource(strings = {"vllm", "sglang"})
  void nextPromptFindsIt(String kind) {
    EngineCore core = core(kind, options -> options);

    CommandResult stored = store(core, request(0, 100, 14));

    assertThat(stored.outcome()).isEqualTo(Outcome.APPLIED);
    assertThat(stored.effects())
        .singleElement()
        .satisfies(
            effect -> assertThat(((BlocksStored) effect).blockHashes()).hasSize(3)); // 12 of 14
    assertThat(core.metrics().activeBlocks()).isZero();
    assertThat(core.metrics().cachedBlocks()).isEqualTo(3);
    assertThat(core.cachedTokens(request(1, 100, 20))).isEqualTo(12);
    assertThat(core.isDrained()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(strings = {"vllm", "sglang"})
  void whatIsThereIsNotStoredTwice(String kind) {
    EngineCore core = core(kind, options -> options);
    store(core, request(0, 100, 12));

    assertThat(store(core, request(0, 100, 12)).outcome()).isEqualTo(Outcome.NOOP);
    CommandResult more = store(core, request(0, 100, 20));

    assertThat(more.effects())
        .singleElement()
        .satisfies(effect -> assertThat(((BlocksStored) effect).blockHashes()).hasSize(2));
    assertThat(core.metrics().cachedBlocks()).isEqualTo(5);
  }

  @ParameterizedTest
  @ValueSource(strings = {"vllm", "sglang"})
  void oldestCachedBlocksMakeRoomAndTooMuchIsLeft(String kind) {
    EngineCore core = core(kind, options -> options);
    store(core, request(0, 100, 20));

    List<EngineEffect> effects = store(core, request(0, 500, 20)).effects();

    assertThat(effects).filteredOn(BlockRemoved.class::isInstance).hasSize(2);
    assertThat(core.cachedTokens(request(1, 500, 24))).isEqualTo(20);
    CommandResult tooMuch = store(core, request(0, 900, 4 * (BLOCKS + 1)));
    assertThat(tooMuch.outcome()).isEqualTo(Outcome.NOOP);
    assertThat(core.metrics().activeBlocks()).isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {"vllm", "sglang"})
  void nothingIsStoredWithoutPrefixCache(String kind) {
    EngineCore core = core(kind, options -> options.prefixCaching(false));

    assertThat(store(core, request(0, 100, 12)).outcome()).isEqualTo(Outcome.NOOP);
    assertThat(core.metrics().cachedBlocks()).isZero();
    assertThat(core.isDrained()).isTrue();
  }
}

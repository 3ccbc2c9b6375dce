package dev.warmpath.fake.virtual;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.fake.live.KvEvent;
import dev.warmpath.fake.live.RankListener;
import dev.warmpath.fake.live.RankObserver;
import dev.warmpath.fake.live.RankSettings;
import dev.warmpath.fake.scheduler.CoreOptions;
import dev.warmpath.fake.scheduler.EngineEffect;
import dev.warmpath.fake.scheduler.EngineRequest;
import dev.warmpath.fake.scheduler.LatencyModel;
import dev.warmpath.fake.scheduler.PreemptionMode;
import dev.warmpath.fake.scheduler.VllmCore;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A rank under more load than it has blocks for (vector V18). */
class RankLoadTest {

  /** Replays cache events and refuses those that make no sense. */
  private static final class Index implements RankObserver {
    final Set<Long> resident = new HashSet<>();
    int stored;
    long tokens;
    long nextEventId;

    @Override
    public void cacheChanged(List<KvEvent> events) {
      for (KvEvent event : events) {
        assertThat(event.eventId()).isEqualTo(nextEventId++);
        if (event.change() instanceof EngineEffect.BlocksStored blocks) {
          assertThat(blocks.root() || resident.contains(blocks.parentHash())).isTrue();
          for (long hash : blocks.blockHashes()) {
            assertThat(resident.add(hash)).as("stored once").isTrue();
            stored++;
          }
        } else if (event.change() instanceof EngineEffect.BlockRemoved removed) {
          assertThat(resident.remove(removed.blockHash())).as("was stored").isTrue();
        }
      }
    }

    @Override
    public void outputs(int dpRank, double timeMs, List<EngineEffect.Output> outputs) {
      outputs.forEach(output -> tokens += output.tokens());
    }
  }

  /** 200 requests of 1,000 and 100 tokens on 500 blocks, in each of eight configurations. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7})
  void everyTokenIsGeneratedOnce(int combination) {
    boolean caching = (combination & 1) != 0;
    CoreOptions options =
        CoreOptions.builder()
            .numBlocks(500)
            .prefixCaching(caching)
            .chunkedPrefill((combination & 2) != 0)
            .preemption((combination & 4) != 0 ? PreemptionMode.LIFO : PreemptionMode.FIFO)
            .cacheEvents(true)
            .build();
    Index index = new Index();
    VirtualTime time = new VirtualTime();
    VllmCore core = new VllmCore(options, LatencyModel.polynomial());
    VirtualRank rank =
        new VirtualRank(time, RankSettings.aggregated(0, options).withObserver(index), core);
    for (int id = 0; id < 200; id++) {
      int[] prompt = new int[1_000];
      java.util.Arrays.fill(prompt, id);
      rank.submit(new EngineRequest(id, prompt, new int[100], 0), RankListener.NONE);
    }

    time.runUntilIdle();

    assertThat(index.tokens).isEqualTo(20_000);
    assertThat(index.stored > 0).isEqualTo(caching);
    assertThat(core.isDrained()).isTrue();
    assertThat(rank.metrics().activeBlocks()).isZero();
    assertThat(rank.metrics().running()).isZero();
    assertThat(index.resident).hasSize(rank.metrics().cachedBlocks());
  }
}

package dev.warmpath.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.index.KvBatch;
import dev.warmpath.index.KvEvent;
import dev.warmpath.index.KvEvent.Cleared;
import dev.warmpath.index.KvEvent.Removed;
import dev.warmpath.index.KvEvent.Stored;
import dev.warmpath.index.Tier;
import dev.warmpath.proto.smg.KvBlock;
import dev.warmpath.proto.smg.KvBlocksRemoved;
import dev.warmpath.proto.smg.KvBlocksStored;
import dev.warmpath.proto.smg.KvCacheCleared;
import dev.warmpath.proto.smg.KvCacheEvent;
import dev.warmpath.proto.smg.KvEventBatch;
import java.util.List;
import org.junit.jupiter.api.Test;

class KvMessagesTest {
  private static KvBlock.Builder block(long hash, int... tokens) {
    KvBlock.Builder block = KvBlock.newBuilder().setBlockHash(hash).setBlockSize(tokens.length);
    for (int token : tokens) {
      block.addTokenIds(token);
    }
    return block;
  }

  private static KvBatch batch(KvCacheEvent.Builder... events) {
    KvEventBatch.Builder message =
        KvEventBatch.newBuilder().setSequenceNumber(7).setTimestamp(12.5);
    for (KvCacheEvent.Builder event : events) {
      message.addEvents(event);
    }
    return KvMessages.batch(message.build());
  }

  private static List<KvEvent> stored(KvBlocksStored.Builder blocks) {
    return batch(KvCacheEvent.newBuilder().setStored(blocks)).events();
  }

  @Test
  void blocksOfAKindAreOneEvent() {
    KvBatch batch =
        batch(
            KvCacheEvent.newBuilder()
                .setStored(
                    KvBlocksStored.newBuilder()
                        .addBlocks(block(-5, 1, 2))
                        .addBlocks(block(6, 3, 4))),
            KvCacheEvent.newBuilder()
                .setRemoved(KvBlocksRemoved.newBuilder().addBlockHashes(6).setCacheLevel(1)),
            KvCacheEvent.newBuilder().setCleared(KvCacheCleared.getDefaultInstance()));
    assertThat(batch.sequence()).isEqualTo(7);
    assertThat(batch.epochSeconds()).isEqualTo(12.5);
    assertThat(batch.events()).hasSize(3);
    Stored stored = (Stored) batch.events().get(0);
    assertThat(stored.hashes()).containsExactly(-5, 6);
    assertThat(stored.tokens()).containsExactly(1, 2, 3, 4);
    assertThat(stored.first()).isTrue();
    assertThat(stored.tier()).isEqualTo(Tier.HBM);
    Removed removed = (Removed) batch.events().get(1);
    assertThat(removed.hashes()).containsExactly(6);
    assertThat(removed.tier()).isEqualTo(Tier.DRAM);
    assertThat(batch.events().get(2)).isInstanceOf(Cleared.class);
  }

  @Test
  void tiersPartBlocksThatFollowOneAnother() {
    List<KvEvent> events =
        stored(
            KvBlocksStored.newBuilder()
                .setParentBlockHash(4)
                .addBlocks(block(5, 1, 2))
                .addBlocks(block(6, 3, 4).setCacheLevel(1))
                .addBlocks(block(7, 5, 6).setCacheLevel(2))
                .addBlocks(block(8, 7, 8).setCacheLevel(3)));
    assertThat(events).hasSize(3);
    assertThat(events).extracting(event -> ((Stored) event).parent()).containsExactly(4L, 5L, 6L);
    assertThat(events).noneMatch(event -> ((Stored) event).first());
    assertThat(events)
        .extracting(event -> ((Stored) event).tier())
        .containsExactly(Tier.HBM, Tier.DRAM, Tier.SSD);
    assertThat(((Stored) events.get(2)).hashes()).containsExactly(7, 8);
  }

  @Test
  void tokensThatDoNotSayWhatTheBlockIsAreLeftOut() {
    List<KvEvent> events =
        stored(
            KvBlocksStored.newBuilder()
                .addBlocks(block(5, 1, 2))
                .addBlocks(block(6, 3, 4).setLoraId(9))
                .addBlocks(block(7, 5, 6, 7).setBlockSize(2)));
    assertThat(events)
        .extracting(event -> ((Stored) event).tokens().length)
        .containsExactly(2, 0, 0);
    assertThat(events)
        .extracting(event -> ((Stored) event).hashes()[0])
        .containsExactly(5L, 6L, 7L);
  }

  @Test
  void eventsOfNothingAreNoEvents() {
    assertThat(
            batch(
                    KvCacheEvent.newBuilder(),
                    KvCacheEvent.newBuilder().setStored(KvBlocksStored.getDefaultInstance()),
                    KvCacheEvent.newBuilder().setRemoved(KvBlocksRemoved.getDefaultInstance()))
                .events())
        .isEmpty();
  }
}

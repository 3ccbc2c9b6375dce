package dev.warmpath.grpc;

import dev.warmpath.index.KvBatch;
import dev.warmpath.index.KvEvent;
import dev.warmpath.index.KvEvent.KvKeys;
import dev.warmpath.index.Tier;
import dev.warmpath.proto.smg.KvBlock;
import dev.warmpath.proto.smg.KvBlocksRemoved;
import dev.warmpath.proto.smg.KvBlocksStored;
import dev.warmpath.proto.smg.KvCacheEvent;
import dev.warmpath.proto.smg.KvEventBatch;
import java.util.ArrayList;
import java.util.List;

/**
 * What the messages of {@code SubscribeKvEvents} say (smg {@code proto/common.proto},
 * smg-grpc-servicer 0.8.0).
 */
final class KvMessages {
  private static final int[] NO_TOKENS = {};

  private KvMessages() {}

  /** The batch in a message that {@linkplain KvEventBatch#getGroupEventsEnabled has no groups}. */
  static KvBatch batch(KvEventBatch message) {
    List<KvEvent> events = new ArrayList<>(message.getEventsCount());
    for (KvCacheEvent event : message.getEventsList()) {
      switch (event.getDataCase()) {
        case STORED -> stored(event.getStored(), events);
        case REMOVED -> removed(event.getRemoved(), events);
        case CLEARED -> events.add(new KvEvent.Cleared());
        case DATA_NOT_SET -> {
          // A kind of event that came later than this client.
        }
      }
    }
    return new KvBatch(message.getSequenceNumber(), message.getTimestamp(), events);
  }

  /** Each block has a size, a tier and an adapter of its own: an event for each run of the same. */
  private static void stored(KvBlocksStored message, List<KvEvent> events) {
    List<KvBlock> blocks = message.getBlocksList();
    boolean first = !message.hasParentBlockHash();
    long parent = message.getParentBlockHash();
    int from = 0;
    for (int end = 1; end <= blocks.size(); end++) {
      if (end == blocks.size() || !alike(blocks.get(from), blocks.get(end))) {
        events.add(run(blocks.subList(from, end), first, parent));
        first = false;
        parent = blocks.get(end - 1).getBlockHash();
        from = end;
      }
    }
  }

  private static boolean alike(KvBlock one, KvBlock other) {
    return tokens(one) == tokens(other)
        && tier(one.getCacheLevel()) == tier(other.getCacheLevel())
        && one.hasLoraId() == other.hasLoraId();
  }

  /**
   * How many tokens of a block are known: none where there are not as many as it holds, as with the
   * pairs of engines that decode speculatively, nor with an adapter, which has a number only.
   */
  private static int tokens(KvBlock block) {
    int count = block.getTokenIdsCount();
    return block.hasLoraId() || count != block.getBlockSize() ? 0 : count;
  }

  private static KvEvent run(List<KvBlock> blocks, boolean first, long parent) {
    int width = tokens(blocks.get(0));
    long[] hashes = new long[blocks.size()];
    int[] tokens = width == 0 ? NO_TOKENS : new int[blocks.size() * width];
    int filled = 0;
    for (int i = 0; i < hashes.length; i++) {
      KvBlock block = blocks.get(i);
      hashes[i] = block.getBlockHash();
      for (int t = 0; t < width; t++) {
        tokens[filled++] = block.getTokenIds(t);
      }
    }
    return new KvEvent.Stored(
        hashes, first, parent, tokens, tier(blocks.get(0).getCacheLevel()), KvKeys.NONE);
  }

  private static void removed(KvBlocksRemoved message, List<KvEvent> events) {
    if (message.getBlockHashesCount() > 0) {
      long[] hashes = message.getBlockHashesList().stream().mapToLong(Long::longValue).toArray();
      events.add(new KvEvent.Removed(hashes, tier(message.getCacheLevel())));
    }
  }

  /** A level that is not told is the accelerator's, 0. */
  private static Tier tier(int level) {
    return switch (level) {
      case 0 -> Tier.HBM;
      case 1 -> Tier.DRAM;
      default -> Tier.SSD;
    };
  }
}

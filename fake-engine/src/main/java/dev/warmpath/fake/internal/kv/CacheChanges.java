package dev.warmpath.fake.internal.kv;

import dev.warmpath.fake.live.KvEvent;
import dev.warmpath.fake.scheduler.EngineEffect;
import dev.warmpath.fake.scheduler.EngineEffect.BlockRemoved;
import dev.warmpath.fake.scheduler.EngineEffect.BlocksStored;
import dev.warmpath.fake.scheduler.EngineEffect.CacheCleared;
import dev.warmpath.fake.scheduler.StorageTier;
import dev.warmpath.worker.EngineKind;
import java.util.ArrayList;
import java.util.List;

/**
 * Tells a rank's cache changes in the engine's hashes. SGLang tells of every page by itself, vLLM
 * and ATOM of blocks that came together. One thread at a time.
 */
final class CacheChanges {
  private final EngineKind kind;
  private final EngineBlocks blocks;

  CacheChanges(EngineKind kind, EngineBlocks blocks) {
    this.kind = kind;
    this.blocks = blocks;
  }

  /**
   * Translates changes.
   *
   * @return what of them is to be told, maybe nothing
   */
  List<KvBatch.Change> of(List<KvEvent> events) {
    List<KvBatch.Change> changes = new ArrayList<>();
    for (KvEvent event : events) {
      add(event.change(), changes);
    }
    return changes;
  }

  private void add(EngineEffect change, List<KvBatch.Change> changes) {
    if (change instanceof BlocksStored stored) {
      List<EngineBlock> chained = blocks.stored(stored);
      if (kind == EngineKind.SGLANG) {
        chained.forEach(block -> changes.add(new KvBatch.Stored(stored.tier(), List.of(block))));
      } else if (!chained.isEmpty()) {
        changes.add(new KvBatch.Stored(stored.tier(), chained));
      }
    } else if (change instanceof BlockRemoved removed) {
      EngineBlock block =
          removed.tier() == StorageTier.DEVICE
              ? blocks.removed(removed.blockHash())
              : blocks.find(removed.blockHash());
      if (block != null) {
        changes.add(new KvBatch.Removed(removed.tier(), block));
      }
    } else if (change instanceof CacheCleared) {
      blocks.clear();
      changes.add(new KvBatch.Cleared());
    }
  }
}

package dev.warmpath.fake.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Replays cache events as a router's index would, and fails on any that makes no sense. */
final class CacheIndex {
  private final Map<StorageTier, Set<Long>> resident = new EnumMap<>(StorageTier.class);

  private CacheIndex() {
    for (StorageTier tier : StorageTier.values()) {
      resident.put(tier, new HashSet<>());
    }
  }

  static CacheIndex of(List<EngineEffect> log) {
    CacheIndex index = new CacheIndex();
    log.forEach(index::replay);
    return index;
  }

  static CacheIndex empty() {
    return new CacheIndex();
  }

  void replay(EngineEffect effect) {
    if (effect instanceof EngineEffect.BlocksStored stored) {
      Set<Long> tier = resident(stored.tier());
      // a lower tier gets single blocks, whose parents may have gone another way
      if (!stored.root() && stored.tier() == StorageTier.DEVICE) {
        assertThat(tier).as("parent").contains(stored.parentHash());
      }
      for (long hash : stored.blockHashes()) {
        assertThat(tier.add(hash)).as("stored once").isTrue();
      }
    } else if (effect instanceof EngineEffect.BlockRemoved removed) {
      assertThat(resident(removed.tier()).remove(removed.blockHash()))
          .as("removed when resident")
          .isTrue();
    } else if (effect instanceof EngineEffect.CacheCleared) {
      resident.values().forEach(Set::clear);
    }
  }

  Set<Long> resident(StorageTier tier) {
    return resident.getOrDefault(tier, Set.of());
  }
}

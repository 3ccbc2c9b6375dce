package dev.warmpath.fake.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Keeps a log of effects and an index fed by it, which fails on any event that makes no sense. */
final class EventReplay {
  final List<EngineEffect> log = new ArrayList<>();
  final Set<Long> resident = new HashSet<>();
  final Set<Long> ended = new HashSet<>();

  void add(List<EngineEffect> effects) {
    effects.forEach(this::add);
  }

  void add(PassResult pass) {
    add(pass.onStart());
    add(pass.onEnd());
  }

  private void add(EngineEffect effect) {
    log.add(effect);
    if (effect instanceof EngineEffect.BlocksStored stored) {
      if (stored.tier() == StorageTier.DEVICE) {
        stored(stored);
      }
    } else if (effect instanceof EngineEffect.BlockRemoved removed) {
      if (removed.tier() == StorageTier.DEVICE) {
        assertThat(resident.remove(removed.blockHash())).as("removed when resident").isTrue();
      }
    } else if (effect instanceof EngineEffect.CacheCleared) {
      resident.clear();
    } else if (effect instanceof EngineEffect.Output output) {
      assertThat(ended).as("nothing follows an end").doesNotContain(output.requestId());
      if (output.finish() != null) {
        ended.add(output.requestId());
      }
    }
  }

  private void stored(EngineEffect.BlocksStored stored) {
    if (!stored.root()) {
      assertThat(resident).as("parent").contains(stored.parentHash());
    }
    for (long hash : stored.blockHashes()) {
      assertThat(resident.add(hash)).as("stored once").isTrue();
    }
  }
}

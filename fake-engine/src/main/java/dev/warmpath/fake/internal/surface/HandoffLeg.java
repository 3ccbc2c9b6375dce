package dev.warmpath.fake.internal.surface;

import dev.warmpath.fake.live.RankDriver;
import dev.warmpath.fake.scheduler.EngineRequest;
import dev.warmpath.fake.scheduler.FinishReason;
import org.jspecify.annotations.Nullable;

/** One side of a handoff: a call of one sequence on one worker. */
final class HandoffLeg {
  final EngineSurface surface;
  final Life life;
  final RankDriver rank;
  final EngineRequest request;
  final Generation generation;
  final Generation.Item item;
  private volatile boolean ended;
  private volatile @Nullable String failure;

  HandoffLeg(
      EngineSurface surface, EngineRequest request, Generation generation, Generation.Item item) {
    this.surface = surface;
    this.life = surface.life;
    this.rank = life.rank(generation.call().rank());
    this.request = request;
    this.generation = generation;
    this.item = item;
  }

  boolean ended() {
    return ended;
  }

  /** Says what the client hears in place of an abort, unless something was said before. */
  void blame(String message) {
    if (failure == null) {
      failure = message;
    }
  }

  /** Passes on progress, or what was said in place of an abort. */
  void output(int tokens, @Nullable FinishReason reason) {
    if (ended) {
      return;
    }
    ended = reason != null;
    String message = failure;
    if (message != null && reason != null && reason != FinishReason.COMPLETED) {
      generation.fail(item, surface.error(500, message), surface.streamError(500, message));
    } else {
      item.output(tokens, reason);
    }
  }
}

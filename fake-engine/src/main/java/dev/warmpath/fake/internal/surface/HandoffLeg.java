package dev.warmpath.fake.internal.surface;

import dev.warmpath.fake.fault.Fault;
import dev.warmpath.fake.fault.Scope;
import dev.warmpath.fake.handoff.ActionOutcome;
import dev.warmpath.fake.handoff.HandoffAction;
import dev.warmpath.fake.handoff.HandoffTimeouts;
import dev.warmpath.fake.live.RankDriver;
import dev.warmpath.fake.live.RankListener;
import dev.warmpath.fake.scheduler.EngineRequest;
import dev.warmpath.fake.scheduler.FinishReason;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A side of a handoff that is a call of one sequence on a worker of this process. */
final class HandoffLeg implements HandoffSide {
  private final EngineSurface surface;
  private final Life life;
  private final RankDriver rank;
  private final EngineRequest request;
  private final Generation generation;
  private final Generation.Item item;
  private volatile boolean ended;
  private volatile @Nullable Blame failure;

  /** What the client hears in place of an abort. */
  private record Blame(int status, String message) {}

  HandoffLeg(
      EngineSurface surface, EngineRequest request, Generation generation, Generation.Item item) {
    this.surface = surface;
    this.life = surface.life;
    this.rank = life.rank(generation.call().rank());
    this.request = request;
    this.generation = generation;
    this.item = item;
  }

  @Override
  public Life life() {
    return life;
  }

  @Override
  public HandoffTimeouts timeouts() {
    return life.settings().handoff().timeouts();
  }

  @Override
  public void schedule(Duration delay, Runnable action) {
    surface.control.schedule(delay, action);
  }

  @Override
  public Optional<CompletableFuture<ActionOutcome>> offer(
      HandoffAction action, long handoffId, RankListener listener) {
    return rank.offer(action.command(handoffId, request), listener)
        .map(
            reply ->
                reply.handle(
                    (result, failed) ->
                        failed == null ? ActionOutcome.of(result) : ActionOutcome.FAILED));
  }

  @Override
  public void admitted(int reusedTokens) {
    item.admitted(reusedTokens);
  }

  @Override
  public int promptBlocks() {
    int size = life.settings().core().blockSize();
    return (request.promptTokens() + size - 1) / size;
  }

  @Override
  public void cancelRequest() {
    rank.cancel(request.id());
  }

  @Override
  public void over() {}

  @Override
  public void reach(Scope moment, Runnable next, Runnable drop) {
    Fault fault = surface.faults.decide(moment);
    if (fault == null) {
      next.run();
      return;
    }
    switch (fault.kind()) {
      case SLOW -> schedule(fault.delay(), next);
      case RESTART -> surface.control.restart();
      case REFUSE -> surface.control.refuse();
      case STATUS, ERROR -> {
        refuse(fault.status(), "injected fault");
        drop.run();
      }
      case RESET, CUT, TRUNCATE, GARBAGE -> {
        generation.reset();
        drop.run();
      }
      default -> {
        // HANG: the other side's timeouts end it
      }
    }
  }

  @Override
  public void blame(String message) {
    blame(500, message);
  }

  void blame(int status, String message) {
    if (failure == null) {
      failure = new Blame(status, message);
    }
  }

  /** Ends a call that no handoff takes. */
  void refuse(int status, String message) {
    blame(status, message);
    output(0, FinishReason.ABORTED);
  }

  @Override
  public void output(int tokens, @Nullable FinishReason reason) {
    if (ended) {
      return;
    }
    ended = reason != null;
    Blame said = failure;
    if (said != null && reason != null && reason != FinishReason.COMPLETED) {
      generation.fail(
          item,
          surface.error(said.status(), said.message()),
          surface.streamError(said.status(), said.message()));
    } else {
      item.output(tokens, reason);
    }
  }
}

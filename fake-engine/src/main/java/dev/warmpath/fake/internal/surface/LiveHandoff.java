package dev.warmpath.fake.internal.surface;

import dev.warmpath.fake.fault.Scope;
import dev.warmpath.fake.handoff.AbortReason;
import dev.warmpath.fake.handoff.ActionOutcome;
import dev.warmpath.fake.handoff.HandoffAction;
import dev.warmpath.fake.handoff.HandoffCoordinator;
import dev.warmpath.fake.handoff.HandoffEnd;
import dev.warmpath.fake.handoff.HandoffOrder;
import dev.warmpath.fake.handoff.HandoffSettings;
import dev.warmpath.fake.handoff.HandoffTimeouts;
import dev.warmpath.fake.handoff.TransferTiming;
import dev.warmpath.fake.live.RankListener;
import dev.warmpath.fake.scheduler.EngineEffect;
import dev.warmpath.fake.scheduler.FinishReason;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A handoff between two workers: does what its coordinator says. Conducted on the prefill worker's
 * side; its events come from the threads of both and are taken one after the other.
 */
final class LiveHandoff implements HandoffParty {
  private static final AtomicLong IDS = new AtomicLong();

  /** How soon a command is offered again to a rank that had no room for it. */
  private static final Duration RETRY = Duration.ofMillis(1);

  private final long id = nextId();
  private final HandoffTerms terms;
  private final boolean sourceFirst;
  private final HandoffBlame.Words words;
  private final Runnable over;
  private final HandoffCoordinator coordinator;
  private final SerialEvents events = new SerialEvents();
  private volatile @Nullable HandoffSide source;
  private @Nullable HandoffSide destination;
  private @Nullable HandoffAction reservation;
  private @Nullable Runnable onHeld;
  private final HandoffFacts facts = new HandoffFacts();
  private int sourceTokens;
  private volatile boolean held;
  private boolean reserved;
  private boolean transferred;
  private boolean finished;
  private boolean sourceBound;
  private boolean destinationBound;
  private boolean begun;

  /** What the source is about to do, unless a fault there holds it up. */
  private Runnable sourceNext = () -> {};

  /** Whether decode waits on for KV that nobody will bring. */
  private boolean stranded;

  /**
   * Begins without either side.
   *
   * @param terms how the connector has it
   * @param promptTokens length of the prompt
   * @param subject what error messages call it
   * @param over runs once at its end
   */
  LiveHandoff(HandoffTerms terms, int promptTokens, String subject, Runnable over) {
    this.terms = terms;
    this.sourceFirst = terms.order() == HandoffOrder.SOURCE_FIRST;
    this.words = new HandoffBlame.Words(terms, subject);
    this.over = over;
    this.coordinator =
        new HandoffCoordinator(
            new HandoffSettings(
                terms.order(), TransferTiming.FULL_PROMPT, Double.POSITIVE_INFINITY),
            promptTokens,
            0);
  }

  /** A number that no other handoff of this process has. */
  static long nextId() {
    return IDS.incrementAndGet();
  }

  private void run(Runnable event) {
    events.run(event);
  }

  /** Goes on when a side lets it, which a fault there may prevent. */
  private void when(HandoffSide side, Scope moment, Runnable event) {
    Runnable next = once(event);
    if (side == source) {
      sourceNext = next;
    }
    side.reach(moment, () -> run(next), () -> cancel(side));
  }

  private static Runnable once(Runnable event) {
    AtomicBoolean done = new AtomicBoolean();
    return () -> {
      if (done.compareAndSet(false, true)) {
        event.run();
      }
    };
  }

  /** Brings the prefill side; {@code atHeld} runs when its KV is held. */
  void source(HandoffSide side, Runnable atHeld) {
    run(
        () -> {
          if (joins(side, source)) {
            source = side;
            onHeld = atHeld;
            if (!sourceFirst) {
              Duration patience = side.timeouts().bootstrap();
              later(side, patience, handoff -> handoff.bootstrapExpired(patience));
            }
            when(
                side,
                Scope.BIND,
                () -> {
                  sourceBound = true;
                  begin();
                });
          }
        });
  }

  private void begin() {
    boolean ready = sourceBound && (sourceFirst || destinationBound);
    if (ready && !begun && !finished && coordinator.abortReason() == null) {
      begun = true;
      perform(coordinator.start());
    }
  }

  /** Brings the decode side. */
  void destination(HandoffSide side) {
    run(
        () -> {
          if (joins(side, destination)) {
            destination = side;
            Duration patience = side.timeouts().waiting();
            later(side, patience, handoff -> handoff.waitingExpired(patience));
            when(
                side,
                Scope.BIND,
                () -> {
                  destinationBound = true;
                  if (!sourceFirst) {
                    begin();
                  }
                  reserve();
                });
          }
        });
  }

  private void reserve() {
    HandoffAction waiting = reservation;
    if (waiting != null && destinationBound) {
      reservation = null;
      send(Objects.requireNonNull(destination), waiting);
    }
  }

  /** Looks again later, unless it is over by then; keeps nothing of it until then. */
  private void later(HandoffSide side, Duration delay, Consumer<LiveHandoff> look) {
    if (delay.compareTo(HandoffTimeouts.NEVER) >= 0) {
      return;
    }
    Life life = side.life();
    long number = id;
    side.schedule(
        delay,
        () -> {
          if (life.handoffs().get(number) instanceof LiveHandoff handoff) {
            handoff.run(() -> look.accept(handoff));
          }
        });
  }

  private boolean joins(HandoffSide side, @Nullable HandoffSide before) {
    if (finished || before != null || coordinator.abortReason() != null) {
      side.blame(words.notWanted());
      side.output(0, FinishReason.ABORTED);
      return false;
    }
    side.life().handoffs().put(id, this);
    return true;
  }

  private void bootstrapExpired(Duration patience) {
    if (!reserved) {
      giveUp(AbortReason.TIMED_OUT, words.bootstrapExpired(patience));
    }
  }

  private void waitingExpired(Duration patience) {
    HandoffBlame late = words.waitingExpired(patience);
    if (stranded) {
      endStranded(late.toDestination());
    } else if (!transferred) {
      giveUp(AbortReason.TIMED_OUT, late);
    }
  }

  private void giveUp(AbortReason reason, HandoffBlame told) {
    if (!finished && coordinator.abortReason() == null) {
      blame(told);
      perform(coordinator.abort(reason));
    }
  }

  private void blame(HandoffBlame told) {
    blame(source, told.toSource());
    blame(destination, told.toDestination());
  }

  private static void blame(@Nullable HandoffSide side, @Nullable String message) {
    if (side != null && message != null) {
      side.blame(message);
    }
  }

  private void leaseExpired() {
    if (destination == null) {
      giveUp(AbortReason.TIMED_OUT, HandoffBlame.NOBODY);
    }
  }

  /** A side's client or operator drops it. */
  void cancel(HandoffSide side) {
    if (side.life().isDying()) {
      lost(side.life());
      return;
    }
    run(
        () -> {
          if (stranded && side == destination) {
            endStranded(null);
          } else if (finished) {
            side.cancelRequest();
          } else if (side == source) {
            sourceDropped();
          } else if (side == destination) {
            giveUp(AbortReason.CANCELED, words.destinationDropped());
          }
        });
  }

  private void sourceDropped() {
    if (coordinator.abortReason() != null) {
      return;
    }
    if (terms.holdsAborted()) {
      sourceNext.run(); // as one that is done, also out of a hang
      return;
    }
    if (held && terms.answersWhenHeld()) {
      return; // what is done is held for whoever comes
    }
    stranded = terms.strandsDecode() && destination != null;
    giveUp(AbortReason.CANCELED, stranded ? HandoffBlame.NOBODY : words.sourceDropped());
  }

  private void endStranded(@Nullable String message) {
    stranded = false;
    HandoffSide left = Objects.requireNonNull(destination);
    left.life().handoffs().remove(id);
    blame(left, message);
    left.output(0, FinishReason.ABORTED);
  }

  @Override
  public void lost(Life life) {
    run(() -> lost(source != null && source.life() == life));
  }

  /** A side that is reached by way of another worker is gone. */
  void lost(HandoffSide side) {
    run(
        () -> {
          if (side == source || side == destination) {
            lost(side == source);
          }
        });
  }

  private void lost(boolean sourceDied) {
    if (stranded) {
      endStranded(words.sourceLost().toDestination());
      return;
    }
    giveUp(AbortReason.FAILED, sourceDied ? words.sourceLost() : words.destinationLost());
  }

  @Override
  public int heldBlocks(Life life) {
    HandoffSide side = source;
    return held && side != null && side.life() == life ? side.promptBlocks() : 0;
  }

  @Override
  public void hear(EngineEffect effect) {
    run(
        () -> {
          facts.hear(effect);
          goOnByFacts();
        });
  }

  private void goOnByFacts() {
    EngineEffect.SourceHeld kept = facts.takeHeld();
    if (kept != null) {
      when(Objects.requireNonNull(source), Scope.HELD, () -> becomeHeld(kept.transferMs()));
    }
    EngineEffect.DestinationReserved room = facts.takeReserved();
    if (room != null) {
      reserved = true;
      perform(coordinator.destinationReserved(room.transferableTokens()));
    }
  }

  private void becomeHeld(double transferMs) {
    if (coordinator.abortReason() == null) {
      held = true;
      Objects.requireNonNull(onHeld).run();
      if (terms.answersWhenHeld()) {
        HandoffSide side = Objects.requireNonNull(source);
        later(side, side.timeouts().lease(), LiveHandoff::leaseExpired);
        endSource();
      }
    }
    perform(coordinator.sourceHeld(transferMs));
  }

  private void endSource() {
    if (source != null) {
      source.output(sourceTokens, FinishReason.COMPLETED);
    }
  }

  private void perform(List<HandoffAction> actions) {
    for (HandoffAction action : actions) {
      switch (action.kind()) {
        case SUBMIT_PREFILL, RELEASE_SOURCE, CANCEL_SOURCE ->
            send(Objects.requireNonNull(source), action);
        case RESERVE_DESTINATION, ACTIVATE_DESTINATION, CANCEL_DESTINATION -> {
          if (action.kind() == HandoffAction.Kind.RESERVE_DESTINATION) {
            reservation = action;
            reserve();
          } else if (destination != null && reservation == null) {
            send(destination, action);
          } else {
            perform(coordinator.outcome(action.id(), ActionOutcome.NOOP));
          }
        }
        case START_TRANSFER -> transfer(action);
      }
    }
    finishIfOver();
  }

  private void transfer(HandoffAction action) {
    HandoffSide from = Objects.requireNonNull(source);
    HandoffSide to = Objects.requireNonNull(destination);
    Duration half = Duration.ofNanos((long) (action.delayMs() * 5e5));
    perform(coordinator.outcome(action.id(), ActionOutcome.SCHEDULED));
    from.schedule(
        half,
        () ->
            when(
                from,
                Scope.TRANSFER,
                () ->
                    when(
                        to,
                        Scope.TRANSFER,
                        () ->
                            from.schedule(
                                half, () -> when(to, Scope.DELIVERED, this::delivered)))));
  }

  private void delivered() {
    transferred = true;
    perform(coordinator.transferCompleted());
  }

  private void send(HandoffSide side, HandoffAction action) {
    boolean begins =
        action.kind() == HandoffAction.Kind.SUBMIT_PREFILL
            || action.kind() == HandoffAction.Kind.RESERVE_DESTINATION;
    if (begins && coordinator.abortReason() != null) {
      take(action, ActionOutcome.FAILED); // its cancellation went ahead of it
      return;
    }
    Optional<CompletableFuture<ActionOutcome>> reply =
        side.offer(action, id, begins ? listener(side) : RankListener.NONE);
    if (reply.isEmpty()) {
      side.schedule(RETRY, () -> run(() -> send(side, action)));
      return;
    }
    var unused = reply.get().thenAccept(outcome -> run(() -> take(action, outcome)));
  }

  private void take(HandoffAction action, ActionOutcome answered) {
    ActionOutcome outcome = answered;
    if (outcome == ActionOutcome.FAILED) {
      outcome =
          switch (action.kind()) {
            // a rank that is gone has let everything go
            case RELEASE_SOURCE, CANCEL_SOURCE, CANCEL_DESTINATION -> ActionOutcome.NOOP;
            default -> ActionOutcome.FAILED;
          };
    }
    if (outcome == ActionOutcome.FAILED && coordinator.abortReason() == null) {
      blame(words.failed("refused by a worker"));
    }
    if (action.kind() == HandoffAction.Kind.RELEASE_SOURCE
        || action.kind() == HandoffAction.Kind.CANCEL_SOURCE) {
      held = false;
    }
    perform(coordinator.outcome(action.id(), outcome));
    facts.answered(outcome);
    goOnByFacts();
  }

  /** The source's end is told when the KV has moved, or is held if that is what answers. */
  private RankListener listener(HandoffSide side) {
    return new RankListener() {
      @Override
      public void admitted(int reusedTokens) {
        side.admitted(reusedTokens);
      }

      @Override
      public void output(int tokens, @Nullable FinishReason reason) {
        if (side != source) {
          side.output(tokens, reason);
        } else if (reason == null || reason == FinishReason.COMPLETED) {
          run(() -> sourceTokens += tokens);
        }
        if (reason != null && reason != FinishReason.COMPLETED) {
          run(() -> giveUp(AbortReason.FAILED, words.failed("the other side ended")));
        }
      }
    };
  }

  private void finishIfOver() {
    HandoffEnd end = coordinator.end();
    if (end == null || finished) {
      return;
    }
    finished = true;
    over.run();
    if (end == HandoffEnd.SUCCESS) {
      endSource();
    }
    for (HandoffSide side : new HandoffSide[] {source, destination}) {
      if (side != null && !(stranded && side == destination)) {
        // a decode worker of another process waits on by way of prefill's
        if (!stranded || Objects.requireNonNull(destination).life() != side.life()) {
          side.life().handoffs().remove(id);
        }
        if (end == HandoffEnd.CANCELED) {
          side.output(0, FinishReason.ABORTED);
        }
        side.over();
      }
    }
  }
}

package dev.warmpath.fake.internal.surface;

import dev.warmpath.fake.handoff.AbortReason;
import dev.warmpath.fake.handoff.ActionOutcome;
import dev.warmpath.fake.handoff.HandoffAction;
import dev.warmpath.fake.handoff.HandoffCoordinator;
import dev.warmpath.fake.handoff.HandoffEnd;
import dev.warmpath.fake.handoff.HandoffOrder;
import dev.warmpath.fake.handoff.HandoffSettings;
import dev.warmpath.fake.handoff.TransferTiming;
import dev.warmpath.fake.live.RankListener;
import dev.warmpath.fake.scheduler.CommandResult;
import dev.warmpath.fake.scheduler.EngineEffect;
import dev.warmpath.fake.scheduler.FinishReason;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A handoff between two workers of this process: does what its coordinator says. Its events come
 * from the threads of both and are taken one after the other.
 */
final class LiveHandoff {
  private static final AtomicLong IDS = new AtomicLong();

  /** How soon a command is offered again to a rank that had no room for it. */
  private static final Duration RETRY = Duration.ofMillis(1);

  private final long id = IDS.incrementAndGet();
  private final boolean sourceFirst;
  private final String subject;
  private final Runnable over;
  private final HandoffCoordinator coordinator;
  private final ConcurrentLinkedQueue<Runnable> events = new ConcurrentLinkedQueue<>();
  private final AtomicInteger pending = new AtomicInteger();
  private @Nullable HandoffLeg source;
  private @Nullable HandoffLeg destination;
  private @Nullable HandoffAction reservation;
  private @Nullable Runnable held;
  private EngineEffect.@Nullable SourceHeld sourceHeld;
  private EngineEffect.@Nullable DestinationReserved destinationReserved;
  private int sourceTokens;
  private boolean submitted;
  private boolean accepted;
  private boolean reserved;
  private boolean transferred;
  private boolean finished;

  /**
   * Begins without either side.
   *
   * @param order who is asked first; where that is the destination, both sides have to be there
   * @param promptTokens length of the prompt
   * @param subject what error messages call it
   * @param over runs once at its end
   */
  LiveHandoff(HandoffOrder order, int promptTokens, String subject, Runnable over) {
    this.sourceFirst = order == HandoffOrder.SOURCE_FIRST;
    this.subject = subject;
    this.over = over;
    this.coordinator =
        new HandoffCoordinator(
            new HandoffSettings(order, TransferTiming.FULL_PROMPT, Double.POSITIVE_INFINITY),
            promptTokens,
            0);
  }

  private void run(Runnable event) {
    events.add(event);
    if (pending.getAndIncrement() == 0) {
      do {
        Objects.requireNonNull(events.poll()).run();
      } while (pending.decrementAndGet() != 0);
    }
  }

  /** Brings the prefill side; {@code onHeld} runs when its KV is held. */
  void source(HandoffLeg leg, @Nullable Runnable onHeld) {
    run(
        () -> {
          if (joins(leg, source)) {
            source = leg;
            held = onHeld;
            if (sourceFirst) {
              perform(coordinator.start());
            } else {
              Duration patience = leg.life.settings().handoffTimeouts().bootstrap();
              later(leg, patience, handoff -> handoff.bootstrapExpired(patience));
              startIfBoth();
            }
          }
        });
  }

  /** Brings the decode side. */
  void destination(HandoffLeg leg) {
    run(
        () -> {
          if (joins(leg, destination)) {
            destination = leg;
            if (sourceFirst) {
              HandoffAction waiting = reservation;
              if (waiting != null) {
                reservation = null;
                send(leg, waiting);
              }
            } else {
              Duration patience = leg.life.settings().handoffTimeouts().waiting();
              later(leg, patience, handoff -> handoff.waitingExpired(patience));
              startIfBoth();
            }
          }
        });
  }

  /** Looks again later, unless it is over by then; keeps nothing of it until then. */
  private void later(HandoffLeg leg, Duration delay, Consumer<LiveHandoff> look) {
    Life life = leg.life;
    long number = id;
    leg.surface.control.schedule(
        delay,
        () -> {
          LiveHandoff handoff = life.handoffs().get(number);
          if (handoff != null) {
            handoff.run(() -> look.accept(handoff));
          }
        });
  }

  private boolean joins(HandoffLeg leg, @Nullable HandoffLeg before) {
    if (finished || before != null || coordinator.abortReason() != null) {
      leg.blame(transferError("it is over or somebody else's"));
      leg.output(0, FinishReason.ABORTED);
      return false;
    }
    leg.life.handoffs().put(id, this);
    return true;
  }

  private void startIfBoth() {
    if (source != null && destination != null) {
      perform(coordinator.start());
    }
  }

  private String transferError(String reason) {
    return "KVTransferError(" + subject + "): " + reason;
  }

  private void bootstrapExpired(Duration patience) {
    if (!reserved) {
      String late = "timed out after " + seconds(patience) + "s in KVPoll.Bootstrapping";
      giveUp(
          AbortReason.TIMED_OUT,
          "Prefill bootstrap failed: " + transferError(late),
          "Decode handshake failed: " + transferError("Failed due to an unknown reason"));
    }
  }

  private void waitingExpired(Duration patience) {
    if (!transferred) {
      String late = "timed out after " + seconds(patience) + "s in KVPoll.WaitingForInput";
      giveUp(
          AbortReason.TIMED_OUT,
          "Prefill transfer failed: " + transferError("Aborted by AbortReq."),
          "Decode transfer failed: " + transferError(late));
    }
  }

  private static String seconds(Duration patience) {
    return Double.toString(patience.toMillis() / 1e3);
  }

  private void giveUp(
      AbortReason reason, @Nullable String toSource, @Nullable String toDestination) {
    if (finished || coordinator.abortReason() != null) {
      return;
    }
    blame(source, toSource);
    blame(destination, toDestination);
    perform(coordinator.abort(reason));
  }

  private static void blame(@Nullable HandoffLeg leg, @Nullable String message) {
    if (leg != null && message != null) {
      leg.blame(message);
    }
  }

  private void leaseExpired() {
    if (destination == null) {
      giveUp(AbortReason.TIMED_OUT, null, null);
    }
  }

  /** A side's client or operator drops it; the other one fails. */
  void cancel(HandoffLeg leg) {
    if (leg.life.isDying()) {
      lost(leg.life);
      return;
    }
    run(
        () -> {
          if (finished) {
            leg.rank.cancel(leg.request.id());
          } else if (leg == source) {
            giveUp(
                AbortReason.CANCELED,
                null,
                "Decode transfer failed: " + transferError("Failed due to an unknown reason"));
          } else {
            giveUp(
                AbortReason.CANCELED,
                "Prefill transfer failed: " + transferError("Aborted by AbortReq."),
                null);
          }
        });
  }

  /** One of the workers dies. */
  void lost(Life life) {
    run(
        () -> {
          boolean sourceDied = source != null && source.life == life;
          giveUp(
              AbortReason.FAILED,
              sourceDied ? null : "Prefill transfer failed: " + transferError("lost decode"),
              sourceDied ? transferError("Lost connection with prefill instance") : null);
        });
  }

  /** Takes a fact of a rank's lifecycle, which may be heard before the answer it follows. */
  void hear(EngineEffect effect) {
    run(
        () -> {
          if (effect instanceof EngineEffect.SourceHeld fact) {
            sourceHeld = fact;
          } else if (effect instanceof EngineEffect.DestinationReserved fact) {
            destinationReserved = fact;
          }
          facts();
        });
  }

  private void facts() {
    EngineEffect.SourceHeld kept = sourceHeld;
    if (kept != null && submitted) {
      sourceHeld = null;
      Runnable action = held;
      if (action != null && coordinator.abortReason() == null) {
        action.run();
        HandoffLeg leg = Objects.requireNonNull(source);
        later(leg, leg.life.settings().handoffTimeouts().lease(), LiveHandoff::leaseExpired);
        endSource();
      }
      perform(coordinator.sourceHeld(kept.transferMs()));
    }
    EngineEffect.DestinationReserved room = destinationReserved;
    if (room != null && accepted) {
      destinationReserved = null;
      reserved = true;
      perform(coordinator.destinationReserved(room.transferableTokens()));
    }
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
          if (destination != null) {
            send(destination, action);
          } else if (action.kind() == HandoffAction.Kind.RESERVE_DESTINATION) {
            reservation = action;
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
    Objects.requireNonNull(source)
        .surface
        .control
        .schedule(
            Duration.ofNanos((long) (action.delayMs() * 1e6)),
            () ->
                run(
                    () -> {
                      transferred = true;
                      perform(coordinator.transferCompleted());
                    }));
    perform(coordinator.outcome(action.id(), ActionOutcome.SCHEDULED));
  }

  private void send(HandoffLeg leg, HandoffAction action) {
    boolean begins =
        action.kind() == HandoffAction.Kind.SUBMIT_PREFILL
            || action.kind() == HandoffAction.Kind.RESERVE_DESTINATION;
    if (begins && coordinator.abortReason() != null) {
      take(action, null); // its cancellation went ahead of it
      return;
    }
    Optional<CompletableFuture<CommandResult>> reply =
        leg.rank.offer(action.command(id, leg.request), begins ? listener(leg) : RankListener.NONE);
    if (reply.isEmpty()) {
      leg.surface.control.schedule(RETRY, () -> run(() -> send(leg, action)));
      return;
    }
    var unused =
        reply
            .get()
            .whenComplete(
                (result, failure) -> run(() -> take(action, failure == null ? result : null)));
  }

  /** Takes an answer; null is a rank that refuses, or is closed and has let everything go. */
  private void take(HandoffAction action, @Nullable CommandResult result) {
    ActionOutcome outcome;
    if (result != null) {
      outcome = ActionOutcome.of(result);
    } else {
      outcome =
          switch (action.kind()) {
            case RELEASE_SOURCE, CANCEL_SOURCE, CANCEL_DESTINATION -> ActionOutcome.NOOP;
            default -> ActionOutcome.FAILED;
          };
    }
    if (outcome == ActionOutcome.FAILED && coordinator.abortReason() == null) {
      blame(source, "Prefill transfer failed: " + transferError("refused by a worker"));
      blame(destination, "Decode transfer failed: " + transferError("refused by a worker"));
    }
    perform(coordinator.outcome(action.id(), outcome));
    submitted |= outcome == ActionOutcome.SUBMITTED;
    accepted |= outcome == ActionOutcome.ACCEPTED;
    facts();
  }

  /** The source's end is told when the KV has moved, or is held if that is what answers. */
  private RankListener listener(HandoffLeg leg) {
    return new RankListener() {
      @Override
      public void admitted(int reusedTokens) {
        leg.item.admitted(reusedTokens);
      }

      @Override
      public void output(int tokens, @Nullable FinishReason reason) {
        if (leg != source) {
          leg.output(tokens, reason);
        } else if (reason == null || reason == FinishReason.COMPLETED) {
          run(() -> sourceTokens += tokens);
        }
        if (reason != null && reason != FinishReason.COMPLETED) {
          run(
              () ->
                  giveUp(
                      AbortReason.FAILED,
                      "Prefill transfer failed: " + transferError("the other side ended"),
                      "Decode transfer failed: " + transferError("the other side ended")));
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
    for (HandoffLeg leg : new HandoffLeg[] {source, destination}) {
      if (leg != null) {
        leg.life.handoffs().remove(id);
        if (end == HandoffEnd.CANCELED) {
          leg.output(0, FinishReason.ABORTED);
        }
      }
    }
  }
}

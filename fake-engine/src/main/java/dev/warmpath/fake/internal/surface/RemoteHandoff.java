package dev.warmpath.fake.internal.surface;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.fake.fault.Scope;
import dev.warmpath.fake.handoff.ActionOutcome;
import dev.warmpath.fake.handoff.HandoffAction;
import dev.warmpath.fake.live.RankListener;
import dev.warmpath.fake.scheduler.EngineEffect;
import dev.warmpath.fake.scheduler.FinishReason;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A handoff that is conducted in another process, where its prefill worker is: does on this
 * process's decode worker what it is told over prefill's side channel.
 */
final class RemoteHandoff implements HandoffParty {
  private static final Duration RETRY = Duration.ofMillis(1);

  /** The name of the cancellation that no conductor asked for, because it is gone. */
  private static final int OWN_ACTION = -1;

  private final long id = LiveHandoff.nextId();
  private final HandoffLeg leg;
  private final SideChannel.Address prefill;
  private final HandoffJoin join;
  private final SerialEvents events = new SerialEvents();
  private final SideChannelClient.Lines lines =
      new SideChannelClient.Lines(line -> events.run(() -> told(line)));
  private CompletableFuture<Void> telling = CompletableFuture.completedFuture(null);
  private long number = -1;
  private boolean asked;
  private boolean activated;
  private boolean dropped;
  private boolean over;

  RemoteHandoff(HandoffLeg leg, SideChannel.Address prefill, HandoffJoin join) {
    this.leg = leg;
    this.prefill = prefill;
    this.join = join;
  }

  /** Joins; a prefill worker that can't be reached is tried again for a while. */
  void start() {
    leg.life().handoffs().put(id, this);
    leg.reach(
        Scope.BIND, () -> events.run(() -> connect(leg.life().terms().joinTries())), this::cancel);
  }

  private void connect(int tries) {
    if (over) {
      return;
    }
    ObjectNode body = join.json().put("waiting_ms", leg.timeouts().waiting().toMillis());
    var unused =
        SideChannelClient.join(prefill, body, lines)
            .thenAccept(ended -> events.run(() -> ended(ended, tries)));
  }

  private void ended(SideChannelClient.Ended ended, int tries) {
    if (over) {
      return;
    }
    if (number >= 0) {
      prefillLost();
    } else if (ended.status() != 0) {
      finish();
      leg.refuse(ended.status(), ended.message());
    } else if (tries > 1) {
      // a second of the engine's own 300
      Duration pause = leg.timeouts().bootstrap().dividedBy(300);
      leg.schedule(pause, () -> events.run(() -> connect(tries - 1)));
    } else {
      finish();
      leg.refuse(500, leg.life().terms().unreachable(join.subject(), prefill.toString()));
    }
  }

  private void prefillLost() {
    finish();
    if (activated) {
      goOn(); // the KV is here, and nobody's business any more
      return;
    }
    leg.blame(leg.life().terms().prefillLost(join.subject()));
    if (asked) {
      carryOut(new HandoffAction(OWN_ACTION, HandoffAction.Kind.CANCEL_DESTINATION, 0));
    } else {
      leg.output(0, FinishReason.ABORTED);
    }
  }

  private void finish() {
    over = true;
    leg.life().handoffs().remove(id);
  }

  private void told(JsonNode line) {
    if (over) {
      return;
    }
    if (line.has("id")) {
      number = line.path("id").asLong();
    } else if (line.has("do")) {
      HandoffAction action =
          new HandoffAction(
              line.path("action").asInt(), HandoffAction.Kind.valueOf(line.path("do").asText()), 0);
      asked |= action.kind() == HandoffAction.Kind.RESERVE_DESTINATION;
      if (action.kind() == HandoffAction.Kind.ACTIVATE_DESTINATION) {
        leg.reach(Scope.DELIVERED, () -> events.run(() -> carryOut(action)), this::cancel);
      } else {
        carryOut(action);
      }
    } else if (line.has("blame")) {
      leg.blame(line.path("blame").asText());
    } else if (line.has("end")) {
      finish();
      if (line.path("end").asText().equals("aborted")) {
        leg.output(0, FinishReason.ABORTED);
      } else {
        goOn();
      }
    }
  }

  /** Generates, unless it was dropped when its conductor had nothing to do with it any more. */
  private void goOn() {
    if (dropped) {
      leg.cancelRequest();
    }
  }

  private void carryOut(HandoffAction action) {
    boolean reserves = action.kind() == HandoffAction.Kind.RESERVE_DESTINATION;
    Optional<CompletableFuture<ActionOutcome>> reply =
        leg.offer(action, id, reserves ? listener() : RankListener.NONE);
    if (reply.isEmpty()) {
      leg.schedule(RETRY, () -> events.run(() -> carryOut(action)));
      return;
    }
    var unused = reply.get().thenAccept(outcome -> events.run(() -> done(action, outcome)));
  }

  private void done(HandoffAction action, ActionOutcome outcome) {
    if (action.id() == OWN_ACTION) {
      leg.output(0, FinishReason.ABORTED);
      return;
    }
    activated |=
        action.kind() == HandoffAction.Kind.ACTIVATE_DESTINATION
            && outcome == ActionOutcome.APPLIED;
    tell(Json.object().put("action", action.id()).put("outcome", outcome.name()));
  }

  private RankListener listener() {
    return new RankListener() {
      @Override
      public void admitted(int reusedTokens) {
        leg.admitted(reusedTokens);
      }

      @Override
      public void output(int tokens, @Nullable FinishReason reason) {
        leg.output(tokens, reason);
        if (reason != null && reason != FinishReason.COMPLETED) {
          events.run(() -> tell(Json.object().put("ended", true)));
        }
      }
    };
  }

  /**
   * In order, because what is told later may follow from what was told before. A conductor that
   * does not hear it would wait for ever: it hears the connection break instead.
   */
  private void tell(JsonNode event) {
    if (!over && number >= 0) {
      telling =
          telling
              .thenCompose(before -> SideChannelClient.tell(prefill, number, event))
              .thenAccept(heard -> events.run(() -> hungUp(heard)));
    }
  }

  private void hungUp(boolean heard) {
    if (!heard && !over) {
      lines.close();
      prefillLost();
    }
  }

  /** The client or operator drops it. */
  void cancel() {
    events.run(
        () -> {
          dropped = true;
          if (over) {
            leg.cancelRequest();
          } else if (number < 0) {
            finish();
            lines.close();
            leg.output(0, FinishReason.ABORTED);
          } else {
            tell(Json.object().put("cancel", true));
          }
        });
  }

  @Override
  public void hear(EngineEffect effect) {
    if (effect instanceof EngineEffect.DestinationReserved room) {
      events.run(() -> tell(Json.object().put("reserved", room.transferableTokens())));
    }
  }

  /** The rank lets everything go by itself; prefill hears it from the connection. */
  @Override
  public void lost(Life life) {
    events.run(
        () -> {
          if (!over) {
            finish();
            lines.close();
            leg.output(0, FinishReason.ABORTED);
          }
        });
  }

  @Override
  public int heldBlocks(Life life) {
    return 0;
  }
}

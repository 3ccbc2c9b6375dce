package dev.warmpath.fake.virtual;

import dev.warmpath.fake.handoff.AbortReason;
import dev.warmpath.fake.handoff.ActionOutcome;
import dev.warmpath.fake.handoff.HandoffAction;
import dev.warmpath.fake.handoff.HandoffCoordinator;
import dev.warmpath.fake.handoff.HandoffEnd;
import dev.warmpath.fake.handoff.HandoffSettings;
import dev.warmpath.fake.handoff.HandoffStage;
import dev.warmpath.fake.live.CommandListener;
import dev.warmpath.fake.live.RankListener;
import dev.warmpath.fake.scheduler.CommandResult;
import dev.warmpath.fake.scheduler.EngineCommand;
import dev.warmpath.fake.scheduler.FinishReason;
import java.util.ArrayDeque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One handoff in virtual time: does what its coordinator says and tells it what came of it. */
final class HandoffSession {
  /** How soon a command is offered again to a rank that had no room for it. */
  private static final double RETRY_MS = 1;

  private final long id;
  private final Handoff handoff;
  private final VirtualTime time;
  private final Runnable ended;
  private final HandoffCoordinator coordinator;
  private final Outbox toSource;
  private final Outbox toDestination;
  private @Nullable VirtualTimer timeout;
  private @Nullable VirtualTimer transfer;
  private boolean announcedEnd;

  HandoffSession(
      long id, Handoff handoff, HandoffSettings settings, VirtualTime time, Runnable ended) {
    this.id = id;
    this.handoff = handoff;
    this.time = time;
    this.ended = ended;
    this.coordinator =
        new HandoffCoordinator(settings, handoff.answer().promptTokens(), time.nowMs());
    this.toSource = new Outbox(handoff.source(), new Watcher(handoff.sourceListener()));
    this.toDestination =
        new Outbox(handoff.destination(), new Watcher(handoff.destinationListener()));
  }

  /** Gives the handoff up when a request ends otherwise than by its own completion. */
  private final class Watcher implements RankListener {
    private final RankListener listener;

    Watcher(RankListener listener) {
      this.listener = listener;
    }

    @Override
    public void admitted(int reusedTokens) {
      listener.admitted(reusedTokens);
    }

    @Override
    public void output(int tokens, @Nullable FinishReason finish) {
      listener.output(tokens, finish);
      if (finish != null && finish != FinishReason.COMPLETED) {
        perform(coordinator.abort(AbortReason.FAILED));
      }
    }

    @Override
    public void outputs(int tokens, double firstMs, double lastMs) {
      listener.outputs(tokens, firstMs, lastMs);
    }

    @Override
    public boolean connected() {
      return listener.connected();
    }
  }

  /** Commands to one rank, in order, whether or not it has room for them at once. */
  private final class Outbox {
    private final VirtualRank rank;
    private final RankListener listener;
    private final ArrayDeque<HandoffAction> waiting = new ArrayDeque<>();

    Outbox(VirtualRank rank, RankListener listener) {
      this.rank = rank;
      this.listener = listener;
    }

    void send(HandoffAction action) {
      waiting.add(action);
      if (waiting.size() == 1) {
        flush();
      }
    }

    private void flush() {
      for (HandoffAction next = waiting.peek(); next != null; next = waiting.peek()) {
        if (!rank.apply(command(next), listener, new Answer(next))) {
          time.schedule(time.nowMs() + RETRY_MS, EventKind.COMMAND, this::flush);
          return;
        }
        waiting.remove();
      }
    }
  }

  private final class Answer implements CommandListener {
    private final HandoffAction action;

    Answer(HandoffAction action) {
      this.action = action;
    }

    @Override
    public void answered(CommandResult result) {
      take(
          switch (result.outcome()) {
            case SUBMITTED -> ActionOutcome.SUBMITTED;
            case DESTINATION_ACCEPTED -> ActionOutcome.ACCEPTED;
            case APPLIED -> ActionOutcome.APPLIED;
            case NOOP -> ActionOutcome.NOOP;
          });
    }

    @Override
    public void refused(IllegalArgumentException reason) {
      take(ActionOutcome.FAILED);
    }

    private void take(ActionOutcome outcome) {
      announce(action.kind(), outcome);
      perform(coordinator.outcome(action.id(), outcome));
    }
  }

  void start() {
    perform(coordinator.start());
  }

  void cancel() {
    perform(coordinator.abort(AbortReason.CANCELED));
  }

  void sourceHeld(double transferMs) {
    handoff.progress().accept(HandoffStage.SOURCE_HELD);
    perform(coordinator.sourceHeld(transferMs));
  }

  void destinationReserved(int transferableTokens) {
    handoff.progress().accept(HandoffStage.DESTINATION_RESERVED);
    perform(coordinator.destinationReserved(transferableTokens));
  }

  private void announce(HandoffAction.Kind kind, ActionOutcome outcome) {
    if (outcome == ActionOutcome.ACCEPTED) {
      handoff.progress().accept(HandoffStage.DESTINATION_ACCEPTED);
    } else if (kind == HandoffAction.Kind.ACTIVATE_DESTINATION
        && outcome == ActionOutcome.APPLIED) {
      handoff.progress().accept(HandoffStage.DESTINATION_ACTIVATED);
    } else if (kind == HandoffAction.Kind.RELEASE_SOURCE && outcome != ActionOutcome.FAILED) {
      handoff.progress().accept(HandoffStage.SOURCE_RELEASED);
    }
  }

  private void perform(List<HandoffAction> actions) {
    for (HandoffAction action : actions) {
      switch (action.kind()) {
        case SUBMIT_PREFILL, RELEASE_SOURCE, CANCEL_SOURCE -> toSource.send(action);
        case START_TRANSFER -> startTransfer(action);
        case RESERVE_DESTINATION, ACTIVATE_DESTINATION, CANCEL_DESTINATION ->
            toDestination.send(action);
      }
    }
    watchTime();
  }

  private EngineCommand command(HandoffAction action) {
    return switch (action.kind()) {
      case SUBMIT_PREFILL -> new EngineCommand.SubmitHandoffPrefill(id, handoff.prompt());
      case RELEASE_SOURCE -> new EngineCommand.ReleaseSource(id);
      case CANCEL_SOURCE -> new EngineCommand.CancelSource(id);
      case RESERVE_DESTINATION -> new EngineCommand.ReserveDestination(id, handoff.answer());
      case ACTIVATE_DESTINATION -> new EngineCommand.ActivateDestination(id);
      case CANCEL_DESTINATION -> new EngineCommand.CancelDestination(id);
      case START_TRANSFER -> throw new IllegalStateException("a transfer is nobody's command");
    };
  }

  private void startTransfer(HandoffAction action) {
    transfer =
        time.schedule(
            time.nowMs() + action.delayMs(),
            EventKind.TRANSFER,
            () -> perform(coordinator.transferCompleted()));
    perform(coordinator.outcome(action.id(), ActionOutcome.SCHEDULED));
  }

  /** Keeps the timer at the deadline, and cleans up after the end. */
  private void watchTime() {
    double deadlineMs = coordinator.deadlineMs();
    if (timeout != null && timeout.atMs() != deadlineMs) {
      timeout.cancel();
      timeout = null;
    }
    if (timeout == null && Double.isFinite(deadlineMs)) {
      timeout =
          time.schedule(
              deadlineMs, EventKind.ARRIVAL, () -> perform(coordinator.expire(time.nowMs())));
    }
    if (transfer != null && coordinator.abortReason() != null) {
      transfer.cancel();
    }
    HandoffEnd end = coordinator.end();
    if (end != null && !announcedEnd) {
      announcedEnd = true;
      ended.run();
      handoff
          .progress()
          .accept(end == HandoffEnd.SUCCESS ? HandoffStage.COMPLETED : HandoffStage.CANCELED);
    }
  }
}

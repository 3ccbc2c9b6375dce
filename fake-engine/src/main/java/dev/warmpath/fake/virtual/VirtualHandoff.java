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
import dev.warmpath.fake.scheduler.EngineRequest;
import dev.warmpath.fake.scheduler.FinishReason;
import java.util.ArrayDeque;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One handoff in virtual time: does what its coordinator says and tells it what came of it. Each
 * side joins when it is known; what is wanted of a side that has not joined waits until it has.
 *
 * <p>Used on the thread that runs its {@link VirtualTime}.
 */
public final class VirtualHandoff {
  /** How soon a command is offered again to a rank that had no room for it. */
  private static final double RETRY_MS = 1;

  private final long id;
  private final Consumer<HandoffStage> progress;
  private final VirtualHandoffs handoffs;
  private final VirtualTime time;
  private final HandoffCoordinator coordinator;
  private final Side source = new Side();
  private final Side destination = new Side();
  private @Nullable VirtualTimer timeout;
  private @Nullable VirtualTimer transfer;
  private boolean started;
  private boolean announcedEnd;

  VirtualHandoff(
      long id,
      int promptTokens,
      HandoffSettings settings,
      Consumer<HandoffStage> progress,
      VirtualTime time,
      VirtualHandoffs handoffs) {
    this.id = id;
    this.progress = progress;
    this.time = time;
    this.handoffs = handoffs;
    this.coordinator = new HandoffCoordinator(settings, promptTokens, time.nowMs());
  }

  /**
   * Names the source. Once.
   *
   * @param rank computes the prompt
   * @param prompt the request on it, usually with one token of output
   * @param listener hears what becomes of it
   * @throws IllegalStateException if there is a source, or somebody else owns the rank's lifecycle
   */
  public void source(VirtualRank rank, EngineRequest prompt, RankListener listener) {
    join(source, rank, prompt, listener);
  }

  /**
   * Names the destination. Once.
   *
   * @param rank generates
   * @param answer the request on it; its prompt is the source's
   * @param listener hears what becomes of it
   * @throws IllegalStateException if there is a destination, or somebody else owns the rank's
   *     lifecycle
   */
  public void destination(VirtualRank rank, EngineRequest answer, RankListener listener) {
    join(destination, rank, answer, listener);
  }

  private void join(Side side, VirtualRank rank, EngineRequest request, RankListener listener) {
    handoffs.own(rank);
    side.join(rank, request, listener);
    if (!started) {
      started = true;
      perform(coordinator.start());
    } else {
      side.flush();
    }
  }

  /** Its number among the handoffs of its ranks. */
  long id() {
    return id;
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

  /** Commands to one rank, in order, whether or not it is known and has room for them at once. */
  private final class Side {
    private final ArrayDeque<HandoffAction> waiting = new ArrayDeque<>();
    private @Nullable VirtualRank rank;
    private @Nullable EngineRequest request;
    private RankListener listener = RankListener.NONE;

    void join(VirtualRank joining, EngineRequest brings, RankListener hears) {
      if (rank != null) {
        throw new IllegalStateException("this side of the handoff has a rank already");
      }
      rank = joining;
      request = brings;
      listener = new Watcher(hears);
    }

    void send(HandoffAction action) {
      waiting.add(action);
      if (waiting.size() == 1) {
        flush();
      }
    }

    void flush() {
      VirtualRank to = rank;
      EngineRequest brings = request;
      if (to == null || brings == null) {
        return;
      }
      for (HandoffAction next = waiting.peek(); next != null; next = waiting.peek()) {
        if (!to.apply(next.command(id, brings), listener, new Answer(next))) {
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
      take(ActionOutcome.of(result));
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

  /**
   * Gives it up, whatever it has come to; its requests hear an abort. Once it has ended the
   * requests are ordinary ones, and this has no effect.
   */
  public void cancel() {
    perform(coordinator.abort(AbortReason.CANCELED));
  }

  void sourceHeld(double transferMs) {
    progress.accept(HandoffStage.SOURCE_HELD);
    perform(coordinator.sourceHeld(transferMs));
  }

  void destinationReserved(int transferableTokens) {
    progress.accept(HandoffStage.DESTINATION_RESERVED);
    perform(coordinator.destinationReserved(transferableTokens));
  }

  private void announce(HandoffAction.Kind kind, ActionOutcome outcome) {
    if (outcome == ActionOutcome.ACCEPTED) {
      progress.accept(HandoffStage.DESTINATION_ACCEPTED);
    } else if (kind == HandoffAction.Kind.ACTIVATE_DESTINATION
        && outcome == ActionOutcome.APPLIED) {
      progress.accept(HandoffStage.DESTINATION_ACTIVATED);
    } else if (kind == HandoffAction.Kind.RELEASE_SOURCE && outcome != ActionOutcome.FAILED) {
      progress.accept(HandoffStage.SOURCE_RELEASED);
    }
  }

  private void perform(List<HandoffAction> actions) {
    for (HandoffAction action : actions) {
      switch (action.kind()) {
        case SUBMIT_PREFILL, RELEASE_SOURCE, CANCEL_SOURCE -> source.send(action);
        case START_TRANSFER -> startTransfer(action);
        case RESERVE_DESTINATION, ACTIVATE_DESTINATION, CANCEL_DESTINATION ->
            destination.send(action);
      }
    }
    watchTime();
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
      handoffs.ended(id);
      progress.accept(end == HandoffEnd.SUCCESS ? HandoffStage.COMPLETED : HandoffStage.CANCELED);
    }
  }
}

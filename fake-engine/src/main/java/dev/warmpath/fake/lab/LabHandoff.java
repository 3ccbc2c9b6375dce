package dev.warmpath.fake.lab;

import dev.warmpath.fake.handoff.AbortReason;
import dev.warmpath.fake.handoff.ActionOutcome;
import dev.warmpath.fake.handoff.HandoffAction;
import dev.warmpath.fake.handoff.HandoffCoordinator;
import dev.warmpath.fake.handoff.HandoffOrder;
import dev.warmpath.fake.handoff.HandoffSettings;
import dev.warmpath.fake.live.CommandListener;
import dev.warmpath.fake.live.RankListener;
import dev.warmpath.fake.scheduler.CommandResult;
import dev.warmpath.fake.scheduler.EngineCommand;
import dev.warmpath.fake.scheduler.EngineEffect;
import dev.warmpath.fake.scheduler.EngineRequest;
import dev.warmpath.fake.virtual.EventKind;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One request's way from a prefill worker to a decode worker. Each side joins when its leg reaches
 * its worker; what the coordinator wants of a side that has not joined waits until it has.
 */
final class LabHandoff {
  /** One of the two sides. */
  private final class Side implements LabLeg {
    private final boolean source;
    private @Nullable LabRank rank;
    private long engineId;
    private RankListener listener = RankListener.NONE;

    Side(boolean source) {
      this.source = source;
    }

    @Override
    public void begin(LabRank target, long id, RankListener hears) {
      rank = target;
      engineId = id;
      listener = hears;
      target.handoffs().put(handoffId, LabHandoff.this);
      if (!started) {
        started = true;
        perform(coordinator.start());
      } else {
        List<HandoffAction> due = List.copyOf(waiting);
        waiting.clear();
        perform(due);
      }
    }

    @Override
    public void cancel(LabRank target, long id) {
      perform(coordinator.abort(AbortReason.CANCELED));
    }

    private EngineRequest request() {
      return source
          ? new LabRequest(request.promptTokens(), 1, request.ids(), request.tokensPerId())
              .forEngine(engineId)
          : request.forEngine(engineId);
    }
  }

  private final LabNetwork network;
  private final LabRequest request;
  private final long handoffId;
  private final HandoffCoordinator coordinator;
  private final Side source = new Side(true);
  private final Side destination = new Side(false);
  private final List<HandoffAction> waiting = new ArrayList<>();
  private boolean started;

  LabHandoff(LabNetwork network, LabRequest request, HandoffOrder order) {
    this.network = network;
    this.request = request;
    this.handoffId = network.nextEngineRequest();
    this.coordinator =
        new HandoffCoordinator(
            HandoffSettings.of(order), request.promptTokens(), network.time().nowMs());
  }

  /** The leg to the prefill worker. */
  LabLeg source() {
    return source;
  }

  /** The leg to the decode worker. */
  LabLeg destination() {
    return destination;
  }

  /** What a rank tells of this handoff. */
  void told(EngineEffect effect) {
    if (effect instanceof EngineEffect.SourceHeld held) {
      perform(coordinator.sourceHeld(held.transferMs()));
    } else if (effect instanceof EngineEffect.DestinationReserved reserved) {
      perform(coordinator.destinationReserved(reserved.transferableTokens()));
    }
  }

  private void perform(List<HandoffAction> actions) {
    for (HandoffAction action : actions) {
      switch (action.kind()) {
        case SUBMIT_PREFILL ->
            command(
                source,
                action,
                new EngineCommand.SubmitHandoffPrefill(handoffId, source.request()));
        case RESERVE_DESTINATION ->
            command(
                destination,
                action,
                new EngineCommand.ReserveDestination(handoffId, destination.request()));
        case START_TRANSFER -> {
          double done = network.time().nowMs() + action.delayMs();
          network
              .time()
              .schedule(done, EventKind.TRANSFER, () -> perform(coordinator.transferCompleted()));
          perform(coordinator.outcome(action.id(), ActionOutcome.SCHEDULED));
        }
        case ACTIVATE_DESTINATION ->
            command(destination, action, new EngineCommand.ActivateDestination(handoffId));
        case RELEASE_SOURCE -> command(source, action, new EngineCommand.ReleaseSource(handoffId));
        case CANCEL_SOURCE -> command(source, action, new EngineCommand.CancelSource(handoffId));
        case CANCEL_DESTINATION ->
            command(destination, action, new EngineCommand.CancelDestination(handoffId));
      }
    }
    if (coordinator.end() != null) {
      forget();
    }
  }

  private void command(Side side, HandoffAction action, EngineCommand command) {
    LabRank rank = side.rank;
    if (rank == null) {
      waiting.add(action);
      return;
    }
    rank.apply(
        command,
        side.listener,
        new CommandListener() {
          @Override
          public void answered(CommandResult result) {
            perform(coordinator.outcome(action.id(), outcome(result)));
          }

          @Override
          public void refused(IllegalArgumentException reason) {
            perform(coordinator.outcome(action.id(), ActionOutcome.FAILED));
          }
        });
  }

  private void forget() {
    for (LabRank rank : new LabRank[] {source.rank, destination.rank}) {
      if (rank != null) {
        rank.handoffs().remove(handoffId);
      }
    }
  }

  private static ActionOutcome outcome(CommandResult result) {
    return switch (result.outcome()) {
      case SUBMITTED -> ActionOutcome.SUBMITTED;
      case DESTINATION_ACCEPTED -> ActionOutcome.ACCEPTED;
      case APPLIED -> ActionOutcome.APPLIED;
      case NOOP -> ActionOutcome.NOOP;
    };
  }
}

package dev.warmpath.fake.scheduler;

import dev.warmpath.fake.scheduler.CommandResult.Outcome;
import dev.warmpath.fake.scheduler.HandoffRegistry.Destination;
import dev.warmpath.fake.scheduler.HandoffRegistry.Source;
import java.util.ArrayList;
import java.util.List;

/** What commands do to the state of an {@link SglangCore}. */
final class SglangCommands {
  private final SglangState state;
  private final RadixKv kv;

  SglangCommands(SglangState state) {
    this.state = state;
    this.kv = state.kv;
  }

  CommandResult apply(EngineCommand command, boolean admitDestinations, double nowMs) {
    state.advance(nowMs);
    List<EngineEffect> effects = new ArrayList<>();
    Outcome outcome = apply(command, effects);
    List<EngineEffect> reserved =
        admitDestinations && retriesAfter(outcome) ? retryDestinations() : List.of();
    List<EngineEffect> all = new ArrayList<>(kv.takeEvents());
    all.addAll(effects);
    all.addAll(reserved);
    return new CommandResult(outcome, all);
  }

  private static boolean retriesAfter(Outcome outcome) {
    return outcome == Outcome.APPLIED || outcome == Outcome.DESTINATION_ACCEPTED;
  }

  private Outcome apply(EngineCommand command, List<EngineEffect> effects) {
    if (command instanceof EngineCommand.Submit submit) {
      return submit(submit.request());
    }
    if (command instanceof EngineCommand.Cancel cancel) {
      RadixSequence sequence = state.find(cancel.requestId());
      return sequence == null ? Outcome.NOOP : drop(sequence, effects);
    }
    if (command instanceof EngineCommand.SubmitHandoffPrefill submit) {
      return submitSource(submit.handoffId(), submit.request());
    }
    if (command instanceof EngineCommand.ReleaseSource release) {
      Source<RadixSequence> source = state.handoffs.removeSource(release.handoffId());
      return source == null ? Outcome.NOOP : releaseHeld(source);
    }
    if (command instanceof EngineCommand.CancelSource cancel) {
      return cancelSource(cancel.handoffId(), effects);
    }
    if (command instanceof EngineCommand.ReserveDestination reserve) {
      return reserve(reserve.handoffId(), reserve.request());
    }
    if (command instanceof EngineCommand.ActivateDestination activate) {
      return activate(activate.handoffId());
    }
    if (command instanceof EngineCommand.CancelDestination cancel) {
      Destination<RadixSequence> destination = state.handoffs.removeDestination(cancel.handoffId());
      return destination == null ? Outcome.NOOP : drop(destination.state(), effects);
    }
    if (command instanceof EngineCommand.StorePrefix store) {
      return storePrefix(store.request());
    }
    if (command instanceof EngineCommand.Flush) {
      return flush(effects);
    }
    if (command instanceof EngineCommand.Pause pause) {
      return pause(pause.mode(), effects);
    }
    return resume();
  }

  private Outcome submit(EngineRequest request) {
    state.requireUnused(request);
    state.submit(request);
    return Outcome.SUBMITTED;
  }

  private Outcome submitSource(long handoffId, EngineRequest request) {
    state.requireUnused(request);
    state.handoffs.registerSource(handoffId, request.id());
    state.submit(request);
    return Outcome.SUBMITTED;
  }

  private Outcome drop(RadixSequence sequence, List<EngineEffect> effects) {
    effects.addAll(state.drop(sequence));
    return Outcome.APPLIED;
  }

  private Outcome releaseHeld(Source<RadixSequence> source) {
    RadixSequence held = source.held();
    if (held != null) {
      state.forget(held);
    }
    return Outcome.APPLIED;
  }

  private Outcome cancelSource(long handoffId, List<EngineEffect> effects) {
    Source<RadixSequence> source = state.handoffs.removeSource(handoffId);
    if (source == null) {
      return Outcome.NOOP;
    }
    RadixSequence sequence = state.find(source.requestId());
    return sequence == null ? Outcome.APPLIED : drop(sequence, effects);
  }

  private Outcome reserve(long handoffId, EngineRequest request) {
    state.requireUnused(request);
    state.handoffs.requireNoDestination(handoffId);
    if (kv.pagesFor(request.promptTokens()) > kv.pool().capacity()) {
      throw new IllegalArgumentException(
          "a prompt of " + request.promptTokens() + " tokens exceeds the KV pool");
    }
    int longest = (int) Math.min(state.poolTokens(), state.options.core().maxModelLen());
    state.expect(handoffId, state.sequence(request, Math.max(0, longest - request.promptTokens())));
    return Outcome.DESTINATION_ACCEPTED;
  }

  /** Lets transfers progress and serves pending destinations; returns all that changed. */
  List<EngineEffect> progress(double nowMs, boolean admitDestinations) {
    state.advance(nowMs);
    List<EngineEffect> reserved = admitDestinations ? retryDestinations() : List.of();
    List<EngineEffect> changes = kv.takeEvents();
    if (reserved.isEmpty()) {
      return changes;
    }
    List<EngineEffect> all = new ArrayList<>(changes);
    all.addAll(reserved);
    return all;
  }

  /** Serves pending destinations in order until one finds too few pages. */
  private List<EngineEffect> retryDestinations() {
    if (!state.handoffs.hasTurn()) {
      return List.of();
    }
    List<EngineEffect> reserved = new ArrayList<>();
    Destination<RadixSequence> head = state.handoffs.takeTurn();
    while (head != null) {
      RadixSequence sequence = head.state();
      int prompt = sequence.request.promptTokens();
      kv.lockPrefix(sequence, prompt / kv.pageSize());
      if (!kv.hold(sequence, prompt)) {
        kv.release(sequence);
        break;
      }
      state.handoffs.reserved(head);
      reserved.add(
          new EngineEffect.DestinationReserved(
              head.handoffId(), sequence.id(), sequence.ownPages * kv.pageSize()));
      head = state.handoffs.takeTurn();
    }
    return reserved;
  }

  private Outcome activate(long handoffId) {
    Destination<RadixSequence> destination = state.handoffs.activate(handoffId);
    if (destination == null) {
      return Outcome.NOOP;
    }
    RadixSequence sequence = destination.state();
    long before = kv.availableTokens();
    sequence.computed = sequence.request.promptTokens();
    kv.publish(sequence);
    state.arrive(sequence);
    if (kv.availableTokens() > before) {
      state.handoffs.capacityFreed();
    }
    return Outcome.APPLIED;
  }

  private Outcome storePrefix(EngineRequest request) {
    RadixSequence sequence = state.sequence(request, 0);
    int pages = request.promptTokens() / kv.pageSize();
    kv.lockPrefix(sequence, pages);
    int missing = pages - sequence.prefix.end;
    boolean stored = kv.caches() && missing > 0 && kv.hold(sequence, pages * kv.pageSize());
    if (stored) {
      sequence.computed = pages * kv.pageSize();
      kv.publish(sequence);
    }
    kv.release(sequence);
    return stored ? Outcome.APPLIED : Outcome.NOOP;
  }

  private Outcome flush(List<EngineEffect> effects) {
    boolean idle =
        state.running.isEmpty()
            && (state.queue.size() == 0 || state.pause == PauseMode.RETRACT)
            && (state.queue.parked() == 0 || state.pause == PauseMode.RETRACT)
            && kv.pool().locked() + kv.pool().privatePages() == 0
            && state.nextDeadlineMs() == Double.POSITIVE_INFINITY;
    if (idle) {
      kv.clear();
      effects.add(new EngineEffect.CacheCleared());
    }
    effects.add(new EngineEffect.FlushAnswered(idle));
    return idle ? Outcome.APPLIED : Outcome.NOOP;
  }

  private Outcome pause(PauseMode mode, List<EngineEffect> effects) {
    state.pause = mode;
    if (mode == PauseMode.ABORT) {
      List<RadixSequence> all = new ArrayList<>(state.running);
      all.addAll(state.arrived);
      all.addAll(state.queue.all());
      all.forEach(sequence -> effects.addAll(state.drop(sequence)));
    } else if (mode == PauseMode.RETRACT) {
      state.abandonBegunPrompt();
      for (int i = state.running.size() - 1; i >= 0; i--) {
        effects.add(state.retract(i));
      }
    }
    return Outcome.APPLIED;
  }

  private Outcome resume() {
    Outcome outcome = state.pause == null ? Outcome.NOOP : Outcome.APPLIED;
    state.pause = null;
    state.heldBack.forEach(state.queue::append);
    state.heldBack.clear();
    return outcome;
  }
}

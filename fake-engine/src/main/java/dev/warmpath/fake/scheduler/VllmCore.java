package dev.warmpath.fake.scheduler;

import dev.warmpath.fake.scheduler.CommandResult.Outcome;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * vLLM's v1 scheduling policy as Dynamo's mocker models it ({@code mocker/src/vllm/core.rs}).
 *
 * <p>Each pass serves running requests first, in order, one token for a decoding request and a
 * chunk for one whose prompt is not complete; then it admits from the head of a FIFO queue while
 * the head fits, unless something was preempted. A sampled token takes no KV until the next pass
 * schedules it, so generation itself never allocates and a terminal token is never computed. When
 * blocks run out a running request loses all of its blocks, keeps its generated tokens, and starts
 * again from the head of the queue.
 */
public final class VllmCore implements EngineCore {
  private final VllmState state;
  private final VllmAdmission admission;
  private final VllmPass pass;
  private final VllmHandoffs handoffs;
  private final VllmQuietPasses quiet;
  private final VllmQuietHorizon horizon;

  /**
   * Creates an idle scheduler with an empty cache.
   *
   * @param options its knobs
   * @param latency how long passes take; the part that the options' role doesn't compute is free
   */
  public VllmCore(CoreOptions options, LatencyModel latency) {
    this.state =
        new VllmState(
            Objects.requireNonNull(options, "options"), Objects.requireNonNull(latency, "latency"));
    this.admission = new VllmAdmission(state);
    this.pass = new VllmPass(state, admission);
    this.handoffs = new VllmHandoffs(state);
    this.quiet = new VllmQuietPasses(state, admission, pass);
    this.horizon = new VllmQuietHorizon(state, pass, quiet);
  }

  @Override
  public List<String> problems() {
    String offload = state.options.offloadProblem();
    return offload == null ? List.of() : List.of(offload);
  }

  @Override
  public CommandResult apply(EngineCommand command, boolean admitDestinations, double nowMs) {
    List<EngineEffect> effects = new ArrayList<>();
    Outcome outcome = register(command);
    state.advance(nowMs, effects);
    if (outcome == null) {
      outcome = apply(command, effects);
    }
    if (admitDestinations
        && (outcome == Outcome.APPLIED || outcome == Outcome.DESTINATION_ACCEPTED)) {
      handoffs.retry(effects);
    }
    return new CommandResult(outcome, effects);
  }

  /** Carries out a command that brings a request, which may be refused; null for another one. */
  private @Nullable Outcome register(EngineCommand command) {
    if (command instanceof EngineCommand.Submit submit) {
      state.requireUnknown(submit.request().id());
      return submit(submit.request());
    }
    if (command instanceof EngineCommand.SubmitHandoffPrefill submit) {
      state.requireUnknown(submit.request().id());
      state.handoffs.registerSource(submit.handoffId(), submit.request().id());
      return submit(submit.request());
    }
    if (command instanceof EngineCommand.ReserveDestination reserve) {
      handoffs.reserve(reserve.handoffId(), reserve.request());
      return Outcome.DESTINATION_ACCEPTED;
    }
    return null;
  }

  private Outcome apply(EngineCommand command, List<EngineEffect> effects) {
    if (command instanceof EngineCommand.Cancel cancel) {
      Sequence sequence = state.known.get(cancel.requestId());
      if (sequence == null) {
        return Outcome.NOOP;
      }
      state.abort(sequence, effects);
      return Outcome.APPLIED;
    }
    if (command instanceof EngineCommand.ReleaseSource release) {
      return handoffs.releaseSource(release.handoffId());
    }
    if (command instanceof EngineCommand.CancelSource cancel) {
      return handoffs.cancelSource(cancel.handoffId(), effects);
    }
    if (command instanceof EngineCommand.ActivateDestination activate) {
      return handoffs.activate(activate.handoffId(), effects);
    }
    if (command instanceof EngineCommand.CancelDestination cancel) {
      return handoffs.cancelDestination(cancel.handoffId(), effects);
    }
    if (command instanceof EngineCommand.StorePrefix store) {
      return storePrefix(store.request(), effects);
    }
    if (command instanceof EngineCommand.Flush) {
      return flush(effects);
    }
    if (command instanceof EngineCommand.Pause toPause) {
      return pause(toPause.mode(), effects);
    }
    return resume();
  }

  private Outcome submit(EngineRequest request) {
    Sequence sequence = state.newSequence(request);
    state.known.put(request.id(), sequence);
    (state.pause == PauseMode.DRAIN ? state.held : state.waiting).addLast(sequence);
    state.countQueued(sequence, false);
    return Outcome.SUBMITTED;
  }

  private Outcome storePrefix(EngineRequest request, List<EngineEffect> effects) {
    if (!state.options.prefixCaching()) {
      return Outcome.NOOP;
    }
    Sequence sequence = state.newSequence(request);
    int full = request.promptTokens() / state.options.blockSize();
    long[] hashes = sequence.hashes.first(full);
    int hits = state.pool.residentPrefix(hashes, full);
    if (hits == full
        || state.pool.acquire(hashes, hits, full - hits, sequence.blocks, effects)
            != BlockPool.Acquired.DONE) {
      return Outcome.NOOP;
    }
    sequence.published = hits;
    sequence.computed = full * state.options.blockSize();
    state.publish(sequence, effects);
    state.pool.release(sequence.blocks);
    return Outcome.APPLIED;
  }

  private Outcome flush(List<EngineEffect> effects) {
    boolean queued =
        !(state.waiting.isEmpty() && state.arrived.isEmpty())
            || state.swappingIn > 0
            || state.handoffs.hasPending();
    boolean idle =
        state.running.isEmpty()
            && state.pool.active() == 0
            && (!queued || state.pause == PauseMode.RETRACT)
            && (state.lower == null || state.lower.isIdle());
    if (!idle) {
      effects.add(new EngineEffect.FlushAnswered(false));
      return Outcome.NOOP;
    }
    state.pool.dropInactive();
    if (state.lower != null) {
      state.lower.clear();
    }
    effects.add(new EngineEffect.CacheCleared());
    effects.add(new EngineEffect.FlushAnswered(true));
    return Outcome.APPLIED;
  }

  private Outcome pause(PauseMode mode, List<EngineEffect> effects) {
    state.pause = mode;
    if (mode == PauseMode.ABORT) {
      List<Sequence> all = new ArrayList<>(state.running);
      all.addAll(state.arrived);
      all.addAll(state.waiting);
      for (Sequence sequence : state.known.values()) {
        if (sequence.place == Sequence.Place.SWAPPING_IN) {
          all.add(sequence);
        }
      }
      for (Sequence sequence : all) {
        state.abort(sequence, effects);
      }
    } else if (mode == PauseMode.RETRACT) {
      for (int i = state.running.size() - 1; i >= 0; i--) {
        effects.add(state.requeue(state.running.remove(i)));
      }
    }
    return Outcome.APPLIED;
  }

  private Outcome resume() {
    Outcome outcome = state.pause == null ? Outcome.NOOP : Outcome.APPLIED;
    state.pause = null;
    state.waiting.addAll(state.held);
    state.held.clear();
    return outcome;
  }

  @Override
  public boolean hasWork() {
    boolean stopped = state.pause != null && state.pause != PauseMode.DRAIN;
    return !stopped
        && !(state.running.isEmpty() && state.waiting.isEmpty() && state.arrived.isEmpty());
  }

  @Override
  public PassResult executePass(double nowMs) {
    return pass.execute(nowMs);
  }

  @Override
  public PassRun executeQuietPasses(double nowMs, double untilMs) {
    return quiet.execute(nowMs, untilMs);
  }

  @Override
  public double quietUntilMs(double nowMs, double latestMs) {
    return horizon.until(nowMs, latestMs);
  }

  @Override
  public List<EngineEffect> retryDestinations(double nowMs) {
    if (!state.handoffs.hasTurn()) {
      return List.of();
    }
    List<EngineEffect> effects = new ArrayList<>();
    state.advance(nowMs, effects);
    handoffs.retry(effects);
    return effects;
  }

  @Override
  public List<EngineEffect> tick(double nowMs, boolean admitDestinations) {
    List<EngineEffect> effects = new ArrayList<>();
    state.advance(nowMs, effects);
    if (admitDestinations) {
      handoffs.retry(effects);
    }
    return effects;
  }

  @Override
  public double nextDeadlineMs() {
    return state.lower == null ? Double.POSITIVE_INFINITY : state.lower.nextDeadlineMs();
  }

  @Override
  public boolean isDrained() {
    return state.known.isEmpty()
        && state.handoffs.isEmpty()
        && (state.lower == null || state.lower.isIdle());
  }

  @Override
  public EventVisibility eventVisibility() {
    return EventVisibility.PASS_START;
  }

  @Override
  public CoreMetrics metrics() {
    return state.metrics();
  }

  @Override
  public int cachedTokens(EngineRequest request) {
    return admission.reusableBlocks(state.newSequence(request)) * state.options.blockSize();
  }

  /** For tests that look at single blocks. */
  VllmState state() {
    return state;
  }
}

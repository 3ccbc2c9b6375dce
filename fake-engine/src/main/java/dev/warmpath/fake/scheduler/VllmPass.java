package dev.warmpath.fake.scheduler;

import dev.warmpath.fake.scheduler.BlockPool.Acquired;
import java.util.ArrayList;
import java.util.List;

/** One forward pass: running requests, admissions, time, tokens. */
final class VllmPass {
  private final VllmState state;
  private final VllmAdmission admission;
  private final CoreOptions options;

  VllmPass(VllmState state, VllmAdmission admission) {
    this.state = state;
    this.admission = admission;
    this.options = state.options;
  }

  PassResult execute(double nowMs) {
    List<EngineEffect> onStart = new ArrayList<>();
    List<EngineEffect> onEnd = new ArrayList<>(state.running.size() + 8);
    state.advance(nowMs, onStart);
    for (Sequence sequence : state.running) {
      sequence.passTokens = 0;
      sequence.passPrefix = 0;
      sequence.drafts = 0;
    }
    int left = scheduleRunning(onStart);
    if (left >= 0) {
      admission.admit(left, onStart, onEnd);
    }
    return compute(nowMs, onStart, onEnd);
  }

  /** Returns the budget that is left, or -1 if a request was preempted. */
  private int scheduleRunning(List<EngineEffect> onStart) {
    List<Sequence> running = state.running;
    int budget = options.maxNumBatchedTokens();
    boolean preempted = false;
    int at = 0;
    while (at < running.size() && budget > 0) {
      Sequence sequence = running.get(at);
      int missing = sequence.length() - sequence.computed;
      if (!options.chunkedPrefill() && sequence.prefilling && missing > budget) {
        break;
      }
      if (sequence.isBlocked()) {
        at++;
        continue;
      }
      int want = Math.min(missing, budget);
      Acquired acquired = state.grow(sequence, sequence.computed + want, onStart);
      if (acquired == Acquired.NO_SPACE) {
        int victimAt = victim();
        if (victimAt < 0) {
          break;
        }
        Sequence victim = running.remove(victimAt);
        budget += victim.passTokens;
        state.preemptions++;
        preempted = true;
        onStart.add(state.requeue(victim));
        if (victimAt < at) {
          at--;
        }
        continue;
      }
      if (acquired == Acquired.DONE) {
        sequence.passPrefix = sequence.computed;
        sequence.passTokens = want;
        sequence.computed += want;
        budget -= want;
        admission.growForDrafts(sequence, onStart);
        state.publish(sequence, onStart);
      }
      at++;
    }
    return preempted ? -1 : budget;
  }

  /** Which running request gives way, or -1 if none may. */
  private int victim() {
    if (options.admission() == AdmissionPolicy.GUARANTEED_NO_EVICT) {
      return -1;
    }
    int size = state.running.size();
    for (int i = 0; i < size; i++) {
      int at = options.preemption() == PreemptionMode.LIFO ? size - 1 - i : i;
      if (!state.running.get(at).isBlocked()) {
        return at;
      }
    }
    return -1;
  }

  private PassResult compute(double nowMs, List<EngineEffect> onStart, List<EngineEffect> onEnd) {
    PassMeter meter = state.meter;
    meter.begin();
    int prefills = 0;
    long inputTokens = 0;
    long prefixTokens = 0;
    int decodes = 0;
    int emitting = 0;
    long contextTokens = 0;
    for (Sequence sequence : state.running) {
      boolean emits = sequence.isComputed() && sequence.remainingOutput() > 0;
      if (sequence.prefilling && sequence.passTokens > 0) {
        prefills++;
        inputTokens += sequence.passPrefix + sequence.passTokens;
        prefixTokens += sequence.passPrefix;
        meter.prefill(sequence.request.promptTokens(), sequence.passTokens, sequence.passPrefix);
      } else if (sequence.passTokens > 0 || emits) {
        decodes++;
        meter.decode(sequence.length());
      }
      if (emits) {
        emitting++;
        contextTokens += sequence.length();
      }
    }
    double prefillMs =
        prefills == 0
            ? 0
            : floorAtZero(
                state.latency.prefillMs(
                    prefills, (int) (inputTokens / prefills), (int) (prefixTokens / prefills)));
    boolean decodeStep = emitting > 0 && (decodes > 0 || !options.firstTokenFromPrefill());
    double decodeMs = decodeStep ? decodeMs(emitting, contextTokens) : 0;
    double endMs = nowMs + (prefillMs + decodeMs);
    if (prefills == 0 && decodes == 0 && state.lower != null) {
      double deadline = state.lower.nextDeadlineMs();
      endMs = deadline < Double.POSITIVE_INFINITY ? Math.max(nowMs, deadline) : endMs;
    }
    CoreMetrics during = state.metrics();
    ForwardPassMetrics forward = meter.end(endMs - nowMs);
    emit(onEnd);
    return new PassResult(nowMs, endMs, prefillMs, decodeMs, forward, during, onStart, onEnd);
  }

  /** Time of a decode step with the blocks as they are now. */
  double decodeMs(int emitting, long contextTokens) {
    return decodeMs(emitting, contextTokens, state.pool.active());
  }

  /** Time of a decode step with so many blocks in use. */
  double decodeMs(int emitting, long contextTokens, int activeBlocks) {
    return floorAtZero(
        state.latency.decodeMs(
            emitting,
            (long) activeBlocks * options.blockSize(),
            (int) (contextTokens / emitting),
            (long) state.pool.capacity() * options.blockSize()));
  }

  private static double floorAtZero(double ms) {
    return ms > 0 ? ms : 0;
  }

  private void emit(List<EngineEffect> onEnd) {
    List<Sequence> running = state.running;
    int kept = 0;
    int size = running.size();
    for (int i = 0; i < size; i++) {
      Sequence sequence = running.get(i);
      if (!sequence.isComputed() || !emit(sequence, onEnd)) {
        running.set(kept++, sequence);
      }
    }
    if (kept < size) {
      running.subList(kept, size).clear();
    }
  }

  /** Emits a sequence's tokens of this pass; true if it has come to its end. */
  private boolean emit(Sequence sequence, List<EngineEffect> onEnd) {
    sequence.prefilling = false;
    int tokens = 0;
    if (sequence.remainingOutput() > 0) {
      tokens = state.drafting.tokens(1 + sequence.drafts);
      sequence.generated += tokens;
      // all but the last one were computed as drafts
      sequence.computed += tokens - 1;
      state.generatedTokens += tokens;
    }
    if (sequence.remainingOutput() == 0 || sequence.length() >= options.maxModelLen()) {
      state.finish(sequence, tokens, FinishReason.COMPLETED, onEnd);
      return true;
    }
    if (sequence.drafts > 0) {
      state.pool.releaseTail(sequence.blocks, state.blocksFor(sequence.computed));
    }
    onEnd.add(
        tokens == 1 ? sequence.oneToken : new EngineEffect.Output(sequence.id(), tokens, null));
    return false;
  }
}

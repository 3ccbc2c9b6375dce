package dev.warmpath.fake.scheduler;

import dev.warmpath.fake.scheduler.ExtendAdmission.Extend;
import java.util.ArrayList;
import java.util.List;

/** The forward passes of an {@link SglangCore}. */
final class SglangPass {
  private final SglangState state;
  private final RadixKv kv;
  private final PassMeter meter;
  private final List<RadixSequence> running;
  private final LatencyModel latency;
  private final ExtendAdmission admission;
  private final DecodeRoom room;
  private final NewTokenRatio ratio;
  private final DraftAcceptance drafts;

  /** Whether running requests wait for pages that are being copied to a lower tier. */
  private boolean stalled;

  SglangPass(SglangState state, LatencyModel latency) {
    this.state = state;
    this.kv = state.kv;
    this.meter = state.meter;
    this.running = state.running;
    this.latency = latency;
    this.admission = new ExtendAdmission(state.options, kv, state.queue);
    this.drafts = DraftAcceptance.of(state.options.core());
    this.room = new DecodeRoom(kv, drafts.most());
    this.ratio = new NewTokenRatio(state.options.scheduleConservativeness());
  }

  PassResult execute(double nowMs) {
    meter.begin();
    state.advance(nowMs);
    List<EngineEffect> onStart = new ArrayList<>();
    startArrived(onStart);
    boolean resumeOnly = resumeOnly();
    if (!resumeOnly && admission.hasPlace(running)) {
      state.queue.order(state.options.schedulePolicy(), kv);
    }
    List<Extend> batch = stalled ? List.of() : admission.admit(running, ratio.value(), resumeOnly);
    double prefillMs = extend(batch, onStart);
    int first = batch.isEmpty() ? 0 : startDecoding(batch);

    List<EngineEffect> ends = new ArrayList<>();
    List<EngineEffect> lifecycle = new ArrayList<>();
    state.reject(ends);
    finishWithoutToken(first, ends, lifecycle);
    boolean roomy = makeRoom(first, onStart);
    stalled = roomy && !room.free(running, first);
    roomy &= !stalled;
    double decodeMs = roomy ? decodeMs(first, !batch.isEmpty()) : 0;
    CoreMetrics during = state.metrics();
    if (roomy) {
      emit(first, ends, lifecycle);
    }
    ended();
    List<EngineEffect> onEnd = new ArrayList<>(kv.takeEvents());
    onEnd.addAll(ends);
    onEnd.addAll(lifecycle);
    double wallMs = prefillMs + decodeMs;
    double endMs = nowMs + wallMs;
    if (batch.isEmpty() && (!roomy || running.isEmpty()) && ends.isEmpty()) {
      endMs = stalledUntil(nowMs);
      wallMs = endMs - nowMs;
    }
    return new PassResult(
        nowMs, endMs, prefillMs, decodeMs, meter.end(wallMs), during, onStart, onEnd);
  }

  /**
   * Fresh requests must not take what a destination waits for; a begun prompt goes on, since the
   * destination may be waiting for its end.
   */
  private boolean resumeOnly() {
    return state.handoffs.hasPending() || !state.arrived.isEmpty();
  }

  /** A pass that can do nothing until a transfer has ended lasts until then. */
  private double stalledUntil(double nowMs) {
    double deadline = state.nextDeadlineMs();
    return deadline < Double.POSITIVE_INFINITY ? Math.max(nowMs, deadline) : nowMs;
  }

  private void startArrived(List<EngineEffect> onStart) {
    while (!state.arrived.isEmpty() && running.size() < state.options.core().maxNumSeqs()) {
      onStart.add(new EngineEffect.Admitted(state.startArrived().id(), 0));
    }
  }

  /** Counts what the batch computes and returns how long that takes. */
  private double extend(List<Extend> batch, List<EngineEffect> onStart) {
    if (batch.isEmpty()) {
      return 0;
    }
    long input = 0;
    long prefix = 0;
    long found = 0;
    long computed = 0;
    for (Extend extend : batch) {
      RadixSequence sequence = extend.sequence();
      input += extend.prefixTokens() + extend.computedTokens();
      prefix += extend.prefixTokens();
      computed += extend.computedTokens();
      meter.prefill(
          sequence.request.promptTokens(), extend.computedTokens(), extend.prefixTokens());
      if (extend.resumed()) {
        continue;
      }
      found += extend.prefixTokens();
      onStart.add(new EngineEffect.Admitted(sequence.id(), extend.prefixTokens()));
      if (!sequence.admitted) {
        sequence.admitted = true;
        state.promptTokens += sequence.length();
        state.cachedTokens += extend.prefixTokens();
      }
    }
    state.lastPrefillHitRate = found + computed == 0 ? 0 : (double) found / (found + computed);
    int size = batch.size();
    return floorAtZero(latency.prefillMs(size, (int) (input / size), (int) (prefix / size)));
  }

  /** Returns the index of the first request whose prompt this pass completes. */
  private int startDecoding(List<Extend> batch) {
    int first = running.size();
    for (Extend extend : batch) {
      RadixSequence sequence = extend.sequence();
      if (sequence.begun()) {
        state.queue.giveBack(sequence);
      } else {
        running.add(sequence);
      }
      kv.publish(sequence);
    }
    return first;
  }

  /** Ends the requests that only wanted their prompt computed. */
  private void finishWithoutToken(
      int first, List<EngineEffect> ends, List<EngineEffect> lifecycle) {
    int at = first;
    while (at < running.size()) {
      if (running.get(at).remainingOutput() == 0) {
        state.complete(running.remove(at), 0, ends, lifecycle);
      } else {
        at++;
      }
    }
  }

  /**
   * Retracts until the other requests from an index on can grow by a token. The last running
   * request is never retracted; requests that do not run yet give way to it, since otherwise it and
   * they might wait for each other.
   *
   * @return false if not even one can, because what is in the way can't be taken away
   */
  private boolean makeRoom(int first, List<EngineEffect> onStart) {
    int before = onStart.size();
    while (!room.suffices(running, first)) {
      if (running.size() - first > 1) {
        onStart.add(state.retract(room.victim(running, first)));
      } else if (first == 0 && !state.arrived.isEmpty()) {
        onStart.add(state.retractArrived());
      } else if (first > 0 || !state.abandonBegunPrompt()) {
        break;
      }
    }
    int retracted = onStart.size() - before;
    if (retracted > 0) {
      state.retractions += retracted;
      ratio.reset();
    }
    return room.suffices(running, first);
  }

  private double decodeMs(int first, boolean extending) {
    int count = running.size() - first;
    if (count == 0) {
      return 0;
    }
    long context = 0;
    for (int i = first; i < running.size(); i++) {
      int length = running.get(i).length();
      context += length;
      meter.decode(length);
    }
    boolean free = extending && state.options.core().firstTokenFromPrefill();
    return free ? 0 : decodeMs(count, context);
  }

  /** Time of a decode step of sequences of some length together. */
  double decodeMs(int count, long context) {
    long total = state.poolTokens();
    return floorAtZero(
        latency.decodeMs(count, Math.min(context, total), (int) (context / count), total));
  }

  private static double floorAtZero(double ms) {
    return ms > 0 ? ms : 0;
  }

  /** Gives every request from an index on its next token, and those after it that were drafted. */
  private void emit(int first, List<EngineEffect> ends, List<EngineEffect> lifecycle) {
    int kept = first;
    int size = running.size();
    for (int i = first; i < size; i++) {
      RadixSequence sequence = running.get(i);
      int tokens = drafts.tokens(sequence.remainingOutput());
      sequence.generated += tokens;
      state.generatedTokens += tokens;
      if (sequence.remainingOutput() == 0) {
        kv.grow(sequence, tokens - 1);
        state.complete(sequence, tokens, ends, lifecycle);
      } else {
        kv.grow(sequence, tokens);
        ends.add(
            tokens == 1 ? sequence.oneToken : new EngineEffect.Output(sequence.id(), tokens, null));
        running.set(kept++, sequence);
      }
    }
    if (kept < size) {
      running.subList(kept, size).clear();
    }
  }

  /** Whether a pass at this moment would neither admit nor retract. */
  boolean isQuiet() {
    if (stalled) {
      return false;
    }
    boolean roomy = kv.lower() == null ? room.suffices(running, 0) : room.isFree(running, 0);
    return roomy && admission.admitsNobody(running, ratio.value(), resumeOnly());
  }

  /** Frees the pages that a quiet pass needs. */
  void freeRoom() {
    if (!room.free(running, 0)) {
      throw new IllegalStateException("room that was there is gone");
    }
  }

  /** What remains to be done at the end of every pass. */
  void ended() {
    ratio.decay();
  }
}

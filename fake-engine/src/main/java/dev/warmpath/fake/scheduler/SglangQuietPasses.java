package dev.warmpath.fake.scheduler;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The passes of an {@link SglangCore} in which every running request gets one token. */
final class SglangQuietPasses {
  private final SglangState state;
  private final SglangPass pass;

  SglangQuietPasses(SglangState state, SglangPass pass) {
    this.state = state;
    this.pass = pass;
  }

  /** See {@link EngineCore#executeQuietPasses}. */
  PassRun execute(double nowMs, double untilMs) {
    List<RadixSequence> running = state.running;
    int limit = limit();
    int size = running.size();
    long context = 0;
    for (int i = 0; i < size; i++) {
      context += running.get(i).length();
    }
    List<PassRun.CacheEvent> events = new ArrayList<>();
    double[] ends = new double[16];
    int passes = 0;
    double now = nowMs;
    double lastMs = 0;
    double deadline = state.nextDeadlineMs() - SharedLink.EPSILON_MS;
    while (passes < limit && now < untilMs && now < deadline && pass.isQuiet()) {
      pass.freeRoom();
      lastMs = pass.decodeMs(size, context);
      for (int i = 0; i < size; i++) {
        RadixSequence sequence = running.get(i);
        sequence.generated++;
        state.kv.grow(sequence, 1);
      }
      for (EngineEffect event : state.kv.takeEvents()) {
        events.add(new PassRun.CacheEvent(passes, event));
      }
      pass.ended();
      context += size;
      now += lastMs;
      if (passes == ends.length) {
        ends = Arrays.copyOf(ends, passes * 2);
      }
      ends[passes++] = now;
    }
    return passes == 0
        ? PassRun.none(nowMs)
        : finish(nowMs, Arrays.copyOf(ends, passes), events, lastMs);
  }

  /** How many passes may be quiet, by everything that such a pass doesn't change. */
  int limit() {
    CoreOptions options = state.options.core();
    boolean stopped = state.pause != null && state.pause != PauseMode.DRAIN;
    boolean full = state.running.size() >= options.maxNumSeqs();
    boolean starting = !state.arrived.isEmpty() && !full;
    boolean sorting =
        state.options.schedulePolicy() != SchedulePolicy.FCFS && state.queue.size() > 1 && !full;
    if (stopped
        || starting
        || sorting
        || options.speculation() != null
        || !state.rejected.isEmpty()
        || state.handoffs.hasTurn()) {
      return 0;
    }
    int least = state.running.isEmpty() ? 1 : Integer.MAX_VALUE;
    for (int i = 0; i < state.running.size(); i++) {
      least = Math.min(least, state.running.get(i).remainingOutput());
    }
    return least - 1;
  }

  private PassRun finish(
      double nowMs, double[] ends, List<PassRun.CacheEvent> events, double lastMs) {
    state.meter.begin();
    long[] ids = new long[state.running.size()];
    for (int i = 0; i < ids.length; i++) {
      RadixSequence sequence = state.running.get(i);
      ids[i] = sequence.id();
      state.meter.decode(sequence.length() - 1);
    }
    state.generatedTokens += (long) ids.length * ends.length;
    return new PassRun(nowMs, ends, ids, events, state.meter.end(lastMs));
  }
}

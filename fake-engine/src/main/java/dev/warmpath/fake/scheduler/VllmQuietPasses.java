package dev.warmpath.fake.scheduler;

import dev.warmpath.fake.scheduler.BlockPool.Acquired;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Executes passes in which all that happens is that every running request computes one token and
 * emits the next.
 *
 * <p>Such a pass touches only the requests at a block's boundary, so it costs nothing for the
 * others; their counters move once, at the end of the run.
 */
final class VllmQuietPasses {
  private final VllmState state;
  private final VllmAdmission admission;
  private final VllmPass pass;
  private final CoreOptions options;

  VllmQuietPasses(VllmState state, VllmAdmission admission, VllmPass pass) {
    this.state = state;
    this.admission = admission;
    this.pass = pass;
    this.options = state.options;
  }

  PassRun execute(double nowMs, double untilMs) {
    int limit = limit();
    if (limit == 0) {
      return PassRun.none(nowMs);
    }
    return new Run(nowMs, untilMs, limit).execute();
  }

  /** How many passes may be quiet at most, by everything that doesn't depend on blocks. */
  int limit() {
    boolean stopped = state.pause != null && state.pause != PauseMode.DRAIN;
    List<Sequence> running = state.running;
    if (stopped
        || running.isEmpty()
        || running.size() > options.maxNumBatchedTokens()
        || options.speculation() != null
        || state.handoffs.hasTurn()) {
      return 0;
    }
    int limit = Integer.MAX_VALUE;
    for (Sequence sequence : running) {
      if (sequence.prefilling
          || sequence.length() - sequence.computed != 1
          || sequence.isBlocked()) {
        return 0;
      }
      limit = Math.min(limit, sequence.remainingOutput() - 1);
      limit = Math.min(limit, options.maxModelLen() - sequence.length() - 1);
    }
    return limit;
  }

  /** Whether the next pass would admit nobody. */
  boolean admitsNobody() {
    int budget = options.maxNumBatchedTokens() - state.running.size();
    if (!admission.hasPlace(budget)) {
      return true;
    }
    if (!state.arrived.isEmpty()) {
      return false;
    }
    if (state.waiting.isEmpty() || state.handoffs.hasPending()) {
      return true;
    }
    Sequence head = state.waiting.getFirst();
    return state.lower == null && admission.hopeless(head) == null && !admission.fits(head);
  }

  /** Whether the head of the queue lacks nothing but blocks. */
  boolean mayAdmit() {
    return admission.hasPlace(options.maxNumBatchedTokens() - state.running.size())
        && !state.waiting.isEmpty()
        && !state.handoffs.hasPending();
  }

  /** One run; its fields are what would have to be updated in every sequence. */
  private final class Run {
    private final double startMs;
    private final double untilMs;
    private final int limit;
    private final int size = state.running.size();
    private final int blockSize = options.blockSize();
    private final int[][] byOffset;
    private final boolean mayAdmit = mayAdmit();
    private final List<PassRun.CacheEvent> events = new ArrayList<>();
    private final List<EngineEffect> effects = new ArrayList<>();
    private double[] ends = new double[16];
    private int passes;
    private long contextTokens;

    Run(double startMs, double untilMs, int limit) {
      this.startMs = startMs;
      this.untilMs = untilMs;
      this.limit = limit;
      this.byOffset = byOffset();
      for (Sequence sequence : state.running) {
        contextTokens += sequence.length();
      }
    }

    /** Positions in the running set by the number of tokens computed of the last block. */
    private int[][] byOffset() {
      int[] counts = new int[blockSize];
      for (Sequence sequence : state.running) {
        counts[sequence.computed % blockSize]++;
      }
      int[][] positions = new int[blockSize][];
      for (int i = 0; i < size; i++) {
        int offset = state.running.get(i).computed % blockSize;
        int[] same = positions[offset];
        if (same == null) {
          same = new int[counts[offset]];
          positions[offset] = same;
        }
        same[same.length - counts[offset]--] = i;
      }
      return positions;
    }

    PassRun execute() {
      double now = startMs;
      boolean checked = false;
      while (passes < limit && now < untilMs && !(state.lower != null && due(now))) {
        int[] growing = at(0);
        if (!roomFor(growing.length)) {
          break;
        }
        if (!checked && !admitsNobody()) {
          break;
        }
        int[] filling = options.prefixCaching() ? at(blockSize - 1) : NOBODY;
        if (extendsWaiting(filling)) {
          break;
        }
        int before = state.pool.inactive();
        step(growing, filling);
        // blocks only become fewer, so what waits can start to fit only by a longer cached prefix
        checked = state.pool.inactive() == before;
        double decodeMs = pass.decodeMs(size, contextTokens);
        double end = now + (0 + decodeMs);
        if (passes == ends.length) {
          ends = Arrays.copyOf(ends, passes * 2);
        }
        ends[passes++] = end;
        contextTokens += size;
        now = end;
      }
      return passes == 0 ? PassRun.none(startMs) : finish();
    }

    private boolean due(double now) {
      OffloadTier lower = state.lower;
      return lower != null && lower.nextDeadlineMs() <= now + SharedLink.EPSILON_MS;
    }

    /** Sequences that have computed so many tokens of their last block before the next pass. */
    private int[] at(int offset) {
      int[] positions = byOffset[Math.floorMod(offset - passes, blockSize)];
      return positions == null ? NOBODY : positions;
    }

    private boolean roomFor(int blocks) {
      // with a lower tier an eviction may have to wait
      int room =
          state.lower == null ? state.pool.capacity() - state.pool.active() : state.pool.unused();
      return blocks <= room;
    }

    /** Whether a block that becomes full belongs to the prompt that waits. */
    private boolean extendsWaiting(int[] filling) {
      if (!mayAdmit) {
        return false;
      }
      for (int at : filling) {
        Sequence sequence = state.running.get(at);
        int full = (sequence.computed + passes + 1) / blockSize;
        if (admission.extendsPrefix(sequence.hashes.first(full)[full - 1])) {
          return true;
        }
      }
      return false;
    }

    /** Grows and publishes in the order of the running set. */
    private void step(int[] growing, int[] filling) {
      int grown = 0;
      int filled = 0;
      while (grown < growing.length || filled < filling.length) {
        int next = grown < growing.length ? growing[grown] : Integer.MAX_VALUE;
        int full = filled < filling.length ? filling[filled] : Integer.MAX_VALUE;
        if (next <= full) {
          grow(state.running.get(next));
          grown++;
        }
        if (full <= next) {
          fill(state.running.get(full));
          filled++;
        }
      }
      for (EngineEffect effect : effects) {
        events.add(new PassRun.CacheEvent(passes, effect));
      }
      effects.clear();
    }

    private void grow(Sequence sequence) {
      Acquired acquired = state.grow(sequence, sequence.computed + passes + 1, effects);
      if (acquired != Acquired.DONE) {
        throw new IllegalStateException("there was room for the block");
      }
    }

    private void fill(Sequence sequence) {
      int computed = sequence.computed;
      sequence.computed += passes + 1;
      state.publish(sequence, effects);
      sequence.computed = computed;
    }

    private PassRun finish() {
      PassMeter meter = state.meter;
      meter.begin();
      long[] ids = new long[size];
      for (int i = 0; i < size; i++) {
        Sequence sequence = state.running.get(i);
        ids[i] = sequence.id();
        meter.decode(sequence.length() + passes - 1);
        sequence.computed += passes;
        sequence.generated += passes;
      }
      state.generatedTokens += (long) size * passes;
      double[] exactly = Arrays.copyOf(ends, passes);
      double lastStart = passes == 1 ? startMs : exactly[passes - 2];
      ForwardPassMetrics last = meter.end(exactly[passes - 1] - lastStart);
      return new PassRun(startMs, exactly, ids, events, last);
    }
  }

  private static final int[] NOBODY = {};
}

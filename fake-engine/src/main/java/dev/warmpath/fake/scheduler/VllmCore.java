package dev.warmpath.fake.scheduler;

import dev.warmpath.fake.scheduler.CommandResult.Outcome;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
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
  private final CoreOptions options;
  private final LatencyModel latency;
  private final BlockPool pool;
  private final Map<Long, Sequence> known = new HashMap<>();
  private final List<Sequence> running = new ArrayList<>();
  private final ArrayDeque<Sequence> waiting = new ArrayDeque<>();
  private final ArrayDeque<Sequence> held = new ArrayDeque<>();
  private final PassMeter meter = new PassMeter();
  private @Nullable PauseMode pause;
  private long preemptions;
  private long promptTokens;
  private long cachedTokens;
  private long generatedTokens;
  private double lastPrefillHitRate;

  /**
   * Creates an idle scheduler with an empty cache.
   *
   * @param options its knobs
   * @param latency how long passes take
   */
  public VllmCore(CoreOptions options, LatencyModel latency) {
    this.options = Objects.requireNonNull(options, "options");
    this.latency = Objects.requireNonNull(latency, "latency");
    this.pool = new BlockPool(options.numBlocks());
  }

  @Override
  public CommandResult apply(EngineCommand command, boolean admitDestinations, double nowMs) {
    if (command instanceof EngineCommand.Submit submit) {
      submit(submit.request());
      return CommandResult.of(Outcome.SUBMITTED);
    }
    if (command instanceof EngineCommand.Cancel cancel) {
      Sequence sequence = known.get(cancel.requestId());
      return sequence == null
          ? CommandResult.of(Outcome.NOOP)
          : new CommandResult(Outcome.APPLIED, List.of(abort(sequence)));
    }
    if (command instanceof EngineCommand.Flush) {
      return flush();
    }
    if (command instanceof EngineCommand.Pause toPause) {
      return new CommandResult(Outcome.APPLIED, pause(toPause.mode()));
    }
    if (command instanceof EngineCommand.Resume) {
      Outcome outcome = pause == null ? Outcome.NOOP : Outcome.APPLIED;
      pause = null;
      waiting.addAll(held);
      held.clear();
      return CommandResult.of(outcome);
    }
    throw new IllegalArgumentException("this scheduler takes no part in handoffs");
  }

  private void submit(EngineRequest request) {
    Sequence sequence = new Sequence(request, options.blockSize());
    if (known.putIfAbsent(request.id(), sequence) != null) {
      throw new IllegalArgumentException("request id " + request.id() + " is in use");
    }
    (pause == PauseMode.DRAIN ? held : waiting).addLast(sequence);
  }

  private EngineEffect abort(Sequence sequence) {
    if (!running.remove(sequence) && !waiting.remove(sequence)) {
      held.remove(sequence);
    }
    return finish(sequence, 0, FinishReason.ABORTED);
  }

  private EngineEffect.Output finish(Sequence sequence, int tokens, FinishReason reason) {
    pool.release(sequence.blocks);
    known.remove(sequence.request.id());
    return new EngineEffect.Output(sequence.request.id(), tokens, reason);
  }

  private CommandResult flush() {
    boolean idle = running.isEmpty() && (waiting.isEmpty() || pause == PauseMode.RETRACT);
    if (!idle) {
      return new CommandResult(Outcome.NOOP, List.of(new EngineEffect.FlushAnswered(false)));
    }
    pool.dropInactive();
    return new CommandResult(
        Outcome.APPLIED,
        List.of(new EngineEffect.CacheCleared(), new EngineEffect.FlushAnswered(true)));
  }

  private List<EngineEffect> pause(PauseMode mode) {
    pause = mode;
    List<EngineEffect> effects = new ArrayList<>();
    if (mode == PauseMode.ABORT) {
      for (Sequence sequence : new ArrayList<>(running)) {
        effects.add(abort(sequence));
      }
      for (Sequence sequence : new ArrayList<>(waiting)) {
        effects.add(abort(sequence));
      }
    } else if (mode == PauseMode.RETRACT) {
      for (int i = running.size() - 1; i >= 0; i--) {
        effects.add(requeue(running.remove(i)));
      }
    }
    return effects;
  }

  private EngineEffect requeue(Sequence sequence) {
    pool.release(sequence.blocks);
    sequence.reset();
    waiting.addFirst(sequence);
    return new EngineEffect.Preempted(sequence.request.id());
  }

  @Override
  public boolean hasWork() {
    return (pause == null || pause == PauseMode.DRAIN) && !(running.isEmpty() && waiting.isEmpty());
  }

  @Override
  public PassResult executePass(double nowMs) {
    List<EngineEffect> onStart = new ArrayList<>();
    List<EngineEffect> onEnd = new ArrayList<>();
    for (Sequence sequence : running) {
      sequence.passTokens = 0;
      sequence.passPrefix = 0;
    }
    Budget budget = new Budget(options.maxNumBatchedTokens());
    boolean preempted = scheduleRunning(budget, onStart);
    if (!preempted) {
      admitWaiting(budget, onStart, onEnd);
    }
    return compute(nowMs, onStart, onEnd);
  }

  private static final class Budget {
    private int tokens;

    Budget(int tokens) {
      this.tokens = tokens;
    }
  }

  /** Returns whether a request was preempted. */
  private boolean scheduleRunning(Budget budget, List<EngineEffect> onStart) {
    boolean preempted = false;
    int at = 0;
    while (at < running.size() && budget.tokens > 0) {
      Sequence sequence = running.get(at);
      int missing = sequence.length() - sequence.computed;
      int want = Math.min(missing, budget.tokens);
      if (!options.chunkedPrefill() && sequence.prefilling && missing > budget.tokens) {
        break;
      }
      boolean itself = false;
      while (!grow(sequence, sequence.computed + want, onStart)) {
        int victimAt = options.preemption() == PreemptionMode.LIFO ? running.size() - 1 : 0;
        Sequence victim = running.remove(victimAt);
        budget.tokens += victim.passTokens;
        preemptions++;
        preempted = true;
        onStart.add(requeue(victim));
        if (victim == sequence) {
          itself = true;
          break;
        }
        if (victimAt < at) {
          at--;
        }
      }
      if (!itself) {
        schedule(sequence, want, budget, onStart);
        at++;
      }
    }
    return preempted;
  }

  private boolean grow(Sequence sequence, int tokens, List<EngineEffect> removals) {
    int missing = blocksFor(tokens) - sequence.blocks.size();
    return missing <= 0
        || pool.acquire(sequence.hashes.first(0), 0, missing, sequence.blocks, removals);
  }

  private void schedule(Sequence sequence, int tokens, Budget budget, List<EngineEffect> onStart) {
    sequence.passPrefix = sequence.computed;
    sequence.passTokens = tokens;
    sequence.computed += tokens;
    budget.tokens -= tokens;
    publish(sequence, onStart);
  }

  /** Makes blocks findable as soon as they are scheduled, for later requests of the same pass. */
  private void publish(Sequence sequence, List<EngineEffect> onStart) {
    if (!options.prefixCaching()) {
      return;
    }
    int full = sequence.computed / options.blockSize();
    long[] hashes = sequence.hashes.first(full);
    int from = sequence.published;
    while (from < full) {
      if (!pool.publish(sequence.blocks.get(from), hashes[from])) {
        from++;
        continue;
      }
      int to = from + 1;
      while (to < full && pool.publish(sequence.blocks.get(to), hashes[to])) {
        to++;
      }
      if (options.cacheEvents()) {
        onStart.add(stored(sequence, hashes, from, to));
      }
      from = Math.min(full, to + 1);
    }
    sequence.published = Math.max(sequence.published, full);
  }

  private static EngineEffect stored(Sequence sequence, long[] hashes, int from, int to) {
    long[] stored = new long[to - from];
    System.arraycopy(hashes, from, stored, 0, stored.length);
    long parent = from == 0 ? 0 : hashes[from - 1];
    return new EngineEffect.BlocksStored(
        StorageTier.DEVICE, parent, from == 0, stored, sequence.hashes.tokens(from, to));
  }

  private void admitWaiting(Budget budget, List<EngineEffect> onStart, List<EngineEffect> onEnd) {
    long admittedTokens = 0;
    long reusedTokens = 0;
    while (!waiting.isEmpty() && running.size() < options.maxNumSeqs() && budget.tokens > 0) {
      Sequence head = waiting.getFirst();
      FinishReason hopeless = hopeless(head);
      if (hopeless != null) {
        waiting.removeFirst();
        onEnd.add(finish(head, 0, hopeless));
        continue;
      }
      int hits = reusableBlocks(head);
      long[] hashes = head.hashes.first(hits);
      int needed = blocksFor(head.length()) - pool.activePrefix(hashes, hits);
      if (needed > pool.capacity() - pool.active()) {
        break;
      }
      int reused = hits * options.blockSize();
      int missing = head.length() - reused;
      if (!options.chunkedPrefill() && missing > budget.tokens) {
        break;
      }
      int tokens = Math.min(missing, budget.tokens);
      int fresh = blocksFor(reused + tokens) - hits;
      if (!pool.acquire(hashes, hits, fresh, head.blocks, onStart)) {
        break;
      }
      waiting.removeFirst();
      running.add(head);
      head.prefilling = true;
      head.computed = reused;
      head.published = hits;
      onStart.add(new EngineEffect.Admitted(head.request.id(), reused));
      if (!head.admitted) {
        head.admitted = true;
        admittedTokens += head.length();
        reusedTokens += reused;
      }
      schedule(head, tokens, budget, onStart);
    }
    if (admittedTokens > 0) {
      promptTokens += admittedTokens;
      cachedTokens += reusedTokens;
      lastPrefillHitRate = (double) reusedTokens / admittedTokens;
    }
  }

  /** Why a queued request can never run, or null. */
  private @Nullable FinishReason hopeless(Sequence head) {
    boolean tooLong = head.length() >= options.maxModelLen();
    boolean tooBig = blocksFor(head.length()) > pool.capacity();
    if (!tooLong && !tooBig) {
      return null;
    }
    return head.admitted ? FinishReason.COMPLETED : FinishReason.REJECTED;
  }

  /** Resident leading blocks; a request that generates recomputes at least one token. */
  private int reusableBlocks(Sequence sequence) {
    if (!options.prefixCaching()) {
      return 0;
    }
    int length = sequence.length();
    int limit = (sequence.remainingOutput() > 0 ? length - 1 : length) / options.blockSize();
    return pool.residentPrefix(sequence.hashes.first(limit), limit);
  }

  private int blocksFor(int tokens) {
    return (int) (((long) tokens + options.blockSize() - 1) / options.blockSize());
  }

  private PassResult compute(double nowMs, List<EngineEffect> onStart, List<EngineEffect> onEnd) {
    meter.begin();
    int prefills = 0;
    long inputTokens = 0;
    long prefixTokens = 0;
    int emitting = 0;
    long contextTokens = 0;
    for (Sequence sequence : running) {
      if (sequence.passTokens > 0 && sequence.prefilling) {
        prefills++;
        inputTokens += sequence.passPrefix + sequence.passTokens;
        prefixTokens += sequence.passPrefix;
        meter.prefill(sequence.length(), sequence.passTokens, sequence.passPrefix);
      } else if (sequence.passTokens > 0) {
        meter.decode(sequence.length());
      }
      if (sequence.computed == sequence.length() && sequence.remainingOutput() > 0) {
        emitting++;
        contextTokens += sequence.length();
      }
    }
    double prefillMs =
        prefills == 0
            ? 0
            : floorAtZero(
                latency.prefillMs(
                    prefills, (int) (inputTokens / prefills), (int) (prefixTokens / prefills)));
    double decodeMs =
        emitting == 0
            ? 0
            : floorAtZero(
                latency.decodeMs(
                    emitting,
                    (long) pool.active() * options.blockSize(),
                    (int) (contextTokens / emitting),
                    (long) pool.capacity() * options.blockSize()));
    CoreMetrics during = metrics();
    for (Sequence sequence : waiting) {
      (sequence.admitted ? meter.queuedDecode : meter.queuedPrefill).add(sequence.length());
    }
    double wallMs = prefillMs + decodeMs;
    ForwardPassMetrics forward = meter.end(wallMs);
    meter.queuedDecode.clear();
    meter.queuedPrefill.clear();
    emit(onEnd);
    return new PassResult(
        nowMs, nowMs + wallMs, prefillMs, decodeMs, forward, during, onStart, onEnd);
  }

  private static double floorAtZero(double ms) {
    return ms > 0 ? ms : 0;
  }

  private void emit(List<EngineEffect> onEnd) {
    Iterator<Sequence> sequences = running.iterator();
    while (sequences.hasNext()) {
      Sequence sequence = sequences.next();
      if (sequence.computed < sequence.length()) {
        continue;
      }
      sequence.prefilling = false;
      int tokens = 0;
      if (sequence.remainingOutput() > 0) {
        tokens = 1;
        sequence.generated++;
        generatedTokens++;
      }
      if (sequence.remainingOutput() == 0 || sequence.length() >= options.maxModelLen()) {
        sequences.remove();
        onEnd.add(finish(sequence, tokens, FinishReason.COMPLETED));
      } else {
        onEnd.add(new EngineEffect.Output(sequence.request.id(), tokens, null));
      }
    }
  }

  @Override
  public List<EngineEffect> retryDestinations(double nowMs) {
    return List.of();
  }

  @Override
  public List<EngineEffect> tick(double nowMs, boolean admitDestinations) {
    return List.of();
  }

  @Override
  public double nextDeadlineMs() {
    return Double.POSITIVE_INFINITY;
  }

  @Override
  public boolean isDrained() {
    return known.isEmpty();
  }

  @Override
  public EventVisibility eventVisibility() {
    return EventVisibility.PASS_START;
  }

  @Override
  public CoreMetrics metrics() {
    long waitingTokens = 0;
    for (Sequence sequence : waiting) {
      waitingTokens += sequence.length();
    }
    for (Sequence sequence : held) {
      waitingTokens += sequence.length();
    }
    return new CoreMetrics(
        running.size(),
        waiting.size() + held.size(),
        waitingTokens,
        pool.active(),
        pool.inactive(),
        pool.capacity(),
        options.blockSize(),
        preemptions,
        promptTokens,
        cachedTokens,
        generatedTokens,
        lastPrefillHitRate,
        pause != null);
  }

  @Override
  public int cachedTokens(EngineRequest request) {
    return reusableBlocks(new Sequence(request, options.blockSize())) * options.blockSize();
  }
}

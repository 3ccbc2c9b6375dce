package dev.warmpath.fake.scheduler;

import dev.warmpath.fake.scheduler.CommandResult.Outcome;
import dev.warmpath.fake.scheduler.ExtendAdmission.Extend;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * SGLang's scheduling policy as Dynamo's mocker models it ({@code mocker/src/scheduler/sglang}),
 * corrected by the engine itself where the two differ: what the cache has costs no budget, and of
 * equals the longest prompt is retracted.
 *
 * <p>A pass either extends or decodes. As long as waiting requests can be admitted, passes compute
 * prompts, and only the requests whose prompt is complete get their first token; everybody else
 * waits for a pass without admissions, in which each running request gets one. When the next tokens
 * do not fit into the KV pool, running requests are retracted: they keep their tokens, their pages
 * stay in the cache until somebody needs them, and they start again from the head of the queue.
 * Cache events and metrics become visible when a pass ends.
 */
public final class SglangCore implements EngineCore {
  private final SglangOptions options;
  private final LatencyModel latency;
  private final RadixKv kv;
  private final PassMeter meter = new PassMeter();
  private final SglangQueue queue = new SglangQueue(meter);
  private final ExtendAdmission admission;
  private final DecodeRoom room;
  private final NewTokenRatio ratio;
  private final Map<Long, RadixSequence> known = new HashMap<>();
  private final List<RadixSequence> running = new ArrayList<>();
  private final ArrayDeque<RadixSequence> held = new ArrayDeque<>();
  private @Nullable PauseMode pause;
  private long retractions;
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
  public SglangCore(SglangOptions options, LatencyModel latency) {
    this.options = Objects.requireNonNull(options, "options");
    this.latency = Objects.requireNonNull(latency, "latency");
    this.kv = new RadixKv(options.core());
    this.admission = new ExtendAdmission(options, kv, queue);
    this.room = new DecodeRoom(kv);
    this.ratio = new NewTokenRatio(options.scheduleConservativeness());
  }

  @Override
  public CommandResult apply(EngineCommand command, boolean admitDestinations, double nowMs) {
    if (command instanceof EngineCommand.Submit submit) {
      return new CommandResult(Outcome.SUBMITTED, submit(submit.request()));
    }
    if (command instanceof EngineCommand.Cancel cancel) {
      RadixSequence sequence = known.get(cancel.requestId());
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
      return resume();
    }
    throw new IllegalArgumentException("this scheduler takes no part in handoffs");
  }

  private List<EngineEffect> submit(EngineRequest request) {
    if (known.containsKey(request.id())) {
      throw new IllegalArgumentException("request id " + request.id() + " is in use");
    }
    long outputRoom = outputRoom(request.promptTokens());
    if (outputRoom < Math.min(1, request.outputTokens())) {
      return List.of(new EngineEffect.Output(request.id(), 0, FinishReason.REJECTED));
    }
    RadixSequence sequence = sequence(request, outputRoom);
    known.put(request.id(), sequence);
    if (pause == PauseMode.DRAIN) {
      held.addLast(sequence);
    } else {
      queue.append(sequence);
    }
    return List.of();
  }

  /**
   * How much a request may generate such that an empty pool can promise all of it; negative if its
   * prompt alone is too long.
   */
  private long outputRoom(int prompt) {
    long pool = (long) kv.pool().capacity() * kv.pageSize() - 1 - kv.ceil(prompt);
    long context = (long) options.core().maxModelLen() - prompt;
    return Math.min(pool, context == 0 ? -1 : context);
  }

  private RadixSequence sequence(EngineRequest request, long outputRoom) {
    int output = (int) Math.min(request.outputTokens(), outputRoom);
    return new RadixSequence(request, output, kv.pageSize(), kv.pool().root());
  }

  private EngineEffect abort(RadixSequence sequence) {
    if (!running.remove(sequence) && !queue.remove(sequence)) {
      held.remove(sequence);
    }
    kv.release(sequence);
    known.remove(sequence.id());
    return new EngineEffect.Output(sequence.id(), 0, FinishReason.ABORTED);
  }

  private CommandResult flush() {
    boolean idle =
        running.isEmpty()
            && (queue.size() == 0 || pause == PauseMode.RETRACT)
            && kv.pool().locked() + kv.pool().privatePages() == 0;
    if (!idle) {
      return new CommandResult(Outcome.NOOP, List.of(new EngineEffect.FlushAnswered(false)));
    }
    kv.clear();
    return new CommandResult(
        Outcome.APPLIED,
        List.of(new EngineEffect.CacheCleared(), new EngineEffect.FlushAnswered(true)));
  }

  private List<EngineEffect> pause(PauseMode mode) {
    pause = mode;
    List<EngineEffect> effects = new ArrayList<>();
    if (mode == PauseMode.ABORT) {
      for (RadixSequence sequence : new ArrayList<>(running)) {
        effects.add(abort(sequence));
      }
      for (RadixSequence sequence : queue.all()) {
        effects.add(abort(sequence));
      }
    } else if (mode == PauseMode.RETRACT) {
      RadixSequence head = queue.head();
      if (head != null) {
        kv.release(head);
      }
      for (int i = running.size() - 1; i >= 0; i--) {
        effects.add(retract(i));
      }
    }
    return effects;
  }

  private CommandResult resume() {
    Outcome outcome = pause == null ? Outcome.NOOP : Outcome.APPLIED;
    pause = null;
    held.forEach(queue::append);
    held.clear();
    return CommandResult.of(outcome);
  }

  private EngineEffect retract(int index) {
    RadixSequence sequence = running.remove(index);
    kv.release(sequence);
    queue.giveBack(sequence);
    return new EngineEffect.Preempted(sequence.id());
  }

  @Override
  public boolean hasWork() {
    return (pause == null || pause == PauseMode.DRAIN)
        && !(running.isEmpty() && queue.size() == 0);
  }

  @Override
  public PassResult executePass(double nowMs) {
    meter.begin();
    List<EngineEffect> onStart = new ArrayList<>();
    List<EngineEffect> onEnd = new ArrayList<>();
    queue.order(options.schedulePolicy(), kv);
    List<Extend> batch = admission.admit(running, ratio.value(), false);
    double prefillMs = extend(batch, onStart);
    int first = batch.isEmpty() ? 0 : startDecoding(batch);
    List<EngineEffect> ends = finishWithoutToken(first);
    boolean roomy = makeRoom(first, onStart);
    double decodeMs = roomy ? decodeMs(first) : 0;
    CoreMetrics during = metrics();
    if (roomy) {
      emit(first, ends);
    }
    ratio.decay();
    onEnd.addAll(kv.takeEvents());
    onEnd.addAll(ends);
    double wallMs = prefillMs + decodeMs;
    return new PassResult(
        nowMs,
        nowMs + wallMs,
        prefillMs,
        decodeMs,
        meter.end(wallMs),
        during,
        onStart,
        onEnd);
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
        promptTokens += sequence.length();
        cachedTokens += extend.prefixTokens();
      }
    }
    lastPrefillHitRate = found + computed == 0 ? 0 : (double) found / (found + computed);
    int size = batch.size();
    return floorAtZero(latency.prefillMs(size, (int) (input / size), (int) (prefix / size)));
  }

  /** Returns the index of the first request whose prompt this pass completes. */
  private int startDecoding(List<Extend> batch) {
    int first = running.size();
    for (Extend extend : batch) {
      RadixSequence sequence = extend.sequence();
      if (sequence.begun()) {
        queue.giveBack(sequence);
      } else {
        running.add(sequence);
      }
      kv.publish(sequence);
    }
    return first;
  }

  /** Ends the requests that only wanted their prompt computed. */
  private List<EngineEffect> finishWithoutToken(int first) {
    List<EngineEffect> ends = new ArrayList<>();
    for (int i = first; i < running.size(); i++) {
      RadixSequence sequence = running.get(i);
      if (sequence.remainingOutput() == 0) {
        running.remove(i--);
        ends.add(complete(sequence, 0));
      }
    }
    return ends;
  }

  /**
   * Retracts until the other requests from an index on can grow by a token.
   *
   * @return false if not even one can, because what is in the way can't be taken away
   */
  private boolean makeRoom(int first, List<EngineEffect> onStart) {
    boolean retracted = false;
    boolean roomy = room.suffices(running.subList(first, running.size()));
    while (!roomy && running.size() - first > 1) {
      List<RadixSequence> growing = running.subList(first, running.size());
      onStart.add(retract(running.lastIndexOf(DecodeRoom.victim(growing))));
      retractions++;
      retracted = true;
      roomy = room.suffices(running.subList(first, running.size()));
    }
    if (!roomy) {
      // The last running request and a prompt that is partly computed must not wait for each other.
      RadixSequence head = queue.head();
      if (head != null && head.begun()) {
        kv.release(head);
        roomy = room.suffices(running.subList(first, running.size()));
      }
    }
    if (retracted) {
      ratio.reset();
    }
    return roomy;
  }

  private double decodeMs(int first) {
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
    long total = (long) kv.pool().capacity() * kv.pageSize();
    return floorAtZero(
        latency.decodeMs(count, Math.min(context, total), (int) (context / count), total));
  }

  private static double floorAtZero(double ms) {
    return ms > 0 ? ms : 0;
  }

  /** Gives every request from an index on its next token. */
  private void emit(int first, List<EngineEffect> ends) {
    int kept = first;
    for (int i = first; i < running.size(); i++) {
      RadixSequence sequence = running.get(i);
      if (!kv.hold(sequence, sequence.computed + 1)) {
        throw new IllegalStateException("room that was made is gone");
      }
      sequence.computed++;
      sequence.generated++;
      generatedTokens++;
      if (sequence.remainingOutput() == 0) {
        ends.add(complete(sequence, 1));
      } else {
        if (sequence.computed % kv.pageSize() == 0) {
          kv.publish(sequence);
        }
        ends.add(new EngineEffect.Output(sequence.id(), 1, null));
        running.set(kept++, sequence);
      }
    }
    running.subList(kept, running.size()).clear();
  }

  private EngineEffect complete(RadixSequence sequence, int tokens) {
    kv.publish(sequence);
    kv.release(sequence);
    known.remove(sequence.id());
    return new EngineEffect.Output(sequence.id(), tokens, FinishReason.COMPLETED);
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
    return EventVisibility.PASS_END;
  }

  @Override
  public CoreMetrics metrics() {
    RadixPool pool = kv.pool();
    long waitingTokens = meter.queuedPrefill.sum() + meter.queuedDecode.sum();
    for (RadixSequence sequence : held) {
      waitingTokens += sequence.length();
    }
    return new CoreMetrics(
        running.size(),
        queue.size() + held.size(),
        waitingTokens,
        pool.locked() + pool.privatePages(),
        pool.evictable(),
        pool.capacity(),
        options.core().blockSize(),
        retractions,
        promptTokens,
        cachedTokens,
        generatedTokens,
        lastPrefillHitRate,
        pause != null);
  }

  @Override
  public int cachedTokens(EngineRequest request) {
    return kv.cachedTokens(sequence(request, request.outputTokens()));
  }
}

package dev.warmpath.fake.scheduler;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Where every request of an {@link SglangCore} is, and what it holds.
 *
 * <p>A live request is in exactly one place: queued, held back by a pause, about to be rejected,
 * running, arrived (its prompt's KV came from a source and it waits for a place in the running
 * set), held as a source after its end, or a destination that is pending or reserved.
 */
final class SglangState {
  final SglangOptions options;
  final RadixKv kv;
  final PassMeter meter = new PassMeter();
  final SglangQueue queue = new SglangQueue(meter);
  final HandoffRegistry<RadixSequence> handoffs = new HandoffRegistry<>();
  final List<RadixSequence> running = new ArrayList<>();
  final ArrayDeque<RadixSequence> arrived = new ArrayDeque<>();
  final ArrayDeque<RadixSequence> heldBack = new ArrayDeque<>();
  final ArrayDeque<RadixSequence> rejected = new ArrayDeque<>();
  @Nullable PauseMode pause;
  long retractions;
  long promptTokens;
  long cachedTokens;
  long generatedTokens;
  double lastPrefillHitRate;

  private final Map<Long, RadixSequence> known = new HashMap<>();

  /** Destinations that are pending or reserved. */
  private int expected;

  SglangState(SglangOptions options) {
    this.options = options;
    this.kv = new RadixKv(options.core());
  }

  @Nullable RadixSequence find(long requestId) {
    return known.get(requestId);
  }

  /** Every request that is anywhere. */
  Collection<RadixSequence> sequences() {
    return known.values();
  }

  boolean isEmpty() {
    RadixOffload lower = kv.lower();
    return known.isEmpty() && handoffs.isEmpty() && (lower == null || lower.isIdle());
  }

  /** Lets transfers between tiers progress, and requeues the requests whose pages came back. */
  void advance(double nowMs) {
    RadixOffload lower = kv.lower();
    if (lower == null) {
      return;
    }
    int held = heldPages();
    lower.advance(nowMs);
    if (heldPages() < held) {
      handoffs.capacityFreed();
    }
    ArrayDeque<RadixSequence> back = new ArrayDeque<>();
    for (RadixSequence one = lower.pollSwappedIn(); one != null; one = lower.pollSwappedIn()) {
      back.addFirst(one);
    }
    back.forEach(queue::unpark);
  }

  /** Pages that are neither free nor evictable. */
  private int heldPages() {
    return kv.pool().capacity() - kv.pool().free() - kv.pool().evictable();
  }

  /** When the next transfer between tiers ends. */
  double nextDeadlineMs() {
    RadixOffload lower = kv.lower();
    return lower == null ? Double.POSITIVE_INFINITY : lower.nextDeadlineMs();
  }

  /** Whether a pass would have something to look at. */
  boolean hasWork() {
    return !(running.isEmpty() && queue.size() == 0 && arrived.isEmpty() && rejected.isEmpty());
  }

  void requireUnused(EngineRequest request) {
    if (known.containsKey(request.id())) {
      throw new IllegalArgumentException("request id " + request.id() + " is in use");
    }
  }

  long poolTokens() {
    return (long) kv.pool().capacity() * kv.pageSize();
  }

  /**
   * How much a request may generate such that an empty pool can promise all of it; negative if its
   * prompt alone is too long.
   */
  long outputRoom(int prompt) {
    long context = (long) options.core().maxModelLen() - prompt;
    return context <= 0 ? -1 : Math.min(context, poolTokens() - 1 - kv.ceil(prompt));
  }

  RadixSequence sequence(EngineRequest request, long outputRoom) {
    int output = (int) Math.min(request.outputTokens(), outputRoom);
    return new RadixSequence(request, output, kv.pageSize(), kv.pool().root());
  }

  /** Queues a new request, or keeps it for the next pass to reject if it can never fit. */
  void submit(EngineRequest request) {
    long room = outputRoom(request.promptTokens());
    RadixSequence sequence = sequence(request, Math.max(0, room));
    known.put(sequence.id(), sequence);
    if (room < Math.min(1, request.outputTokens())) {
      rejected.addLast(sequence);
    } else if (pause == PauseMode.DRAIN) {
      heldBack.addLast(sequence);
    } else {
      queue.append(sequence);
    }
  }

  /** Takes in a request whose prompt will come from a source. */
  void expect(long handoffId, RadixSequence sequence) {
    handoffs.addPending(handoffId, sequence.id(), sequence);
    known.put(sequence.id(), sequence);
    meter.queuedDecode.add(sequence.length());
    expected++;
  }

  /** The expected prompt is there. */
  void arrive(RadixSequence sequence) {
    sequence.arrived = true;
    expected--;
    arrived.addLast(sequence);
  }

  /** Moves the oldest arrived request to the running set. */
  RadixSequence startArrived() {
    RadixSequence sequence = arrived.removeFirst();
    meter.queuedDecode.remove(sequence.length());
    sequence.admitted = true;
    running.add(sequence);
    return sequence;
  }

  /** Sends a running request back to the queue without its pages. */
  EngineEffect retract(int index) {
    return requeue(running.remove(index));
  }

  /** Sends the youngest arrived request to the queue without its pages. */
  EngineEffect retractArrived() {
    RadixSequence sequence = arrived.removeLast();
    meter.queuedDecode.remove(sequence.length());
    sequence.admitted = true;
    return requeue(sequence);
  }

  private EngineEffect requeue(RadixSequence sequence) {
    kv.release(sequence);
    queue.requeue(sequence);
    handoffs.capacityFreed();
    return new EngineEffect.Preempted(sequence.id());
  }

  /** Takes the pages of a prompt that is partly computed; it stays at the head of the queue. */
  boolean abandonBegunPrompt() {
    RadixSequence head = queue.head();
    if (head == null || !head.begun()) {
      return false;
    }
    kv.release(head);
    handoffs.capacityFreed();
    return true;
  }

  /** Ends the requests that can never fit. */
  void reject(List<EngineEffect> ends) {
    while (!rejected.isEmpty()) {
      RadixSequence sequence = rejected.removeFirst();
      ends.add(new EngineEffect.Output(sequence.id(), 0, FinishReason.REJECTED));
      forget(sequence);
    }
  }

  /** Ends a request that has left the running set; a source's KV stays. */
  void complete(
      RadixSequence sequence, int tokens, List<EngineEffect> ends, List<EngineEffect> lifecycle) {
    kv.publish(sequence);
    ends.add(new EngineEffect.Output(sequence.id(), tokens, FinishReason.COMPLETED));
    HandoffRegistry.Source<RadixSequence> source = handoffs.hold(sequence.id(), sequence);
    if (source != null) {
      sequence.ended = true;
      lifecycle.add(
          new EngineEffect.SourceHeld(
              source.handoffId(),
              sequence.id(),
              options.core().transfer().delayMs(sequence.request.promptTokens())));
    } else {
      forget(sequence);
    }
  }

  /** Frees what a request holds and forgets it. */
  void forget(RadixSequence sequence) {
    kv.release(sequence);
    known.remove(sequence.id());
    handoffs.removeSourceOf(sequence.id());
    handoffs.removeDestinationOf(sequence.id());
    handoffs.capacityFreed();
  }

  /** Drops a request wherever it is; says so unless it has ended before. */
  List<EngineEffect> drop(RadixSequence sequence) {
    if (!sequence.ended) {
      leave(sequence);
    }
    forget(sequence);
    return sequence.ended
        ? List.of()
        : List.of(new EngineEffect.Output(sequence.id(), 0, FinishReason.ABORTED));
  }

  private void leave(RadixSequence sequence) {
    if (running.remove(sequence)
        || queue.remove(sequence)
        || heldBack.remove(sequence)
        || rejected.remove(sequence)) {
      return;
    }
    meter.queuedDecode.remove(sequence.length());
    if (!arrived.remove(sequence)) {
      expected--;
    }
  }

  CoreMetrics metrics() {
    RadixPool pool = kv.pool();
    long waitingTokens = meter.queuedPrefill.sum() + meter.queuedDecode.sum();
    for (RadixSequence sequence : heldBack) {
      waitingTokens += sequence.length();
    }
    return new CoreMetrics(
        running.size(),
        queue.size() + queue.parked() + heldBack.size() + arrived.size() + expected,
        waitingTokens,
        pool.locked() + pool.privatePages() + pool.quarantined(),
        pool.evictable(),
        pool.capacity(),
        kv.pageSize(),
        queue.retracted(),
        retractions,
        promptTokens,
        cachedTokens,
        generatedTokens,
        lastPrefillHitRate,
        pause != null);
  }
}

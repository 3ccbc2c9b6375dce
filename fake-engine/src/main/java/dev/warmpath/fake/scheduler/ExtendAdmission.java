package dev.warmpath.fake.scheduler;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * SGLang's admission of waiting requests to an extend pass ({@code PrefillAdder} in {@code
 * srt/managers/schedule_policy.py}).
 *
 * <p>Strictly from the head of the queue. A request is charged the whole pages of what it computes
 * plus its remaining output, clipped, and this must be less than what is free or evictable minus
 * the expected share of the running requests' remaining output. What the cache has costs nothing,
 * but is locked before the rest is counted. A prompt up to the chunk size is never split; a longer
 * one takes what whole pages the pass has left, and reserves no output until its last chunk. Who
 * does not fit leaves no trace, not even in the order of eviction.
 */
final class ExtendAdmission {

  /** What one request computes in a pass. */
  record Extend(RadixSequence sequence, int prefixTokens, int computedTokens, boolean resumed) {}

  private final SglangOptions options;
  private final RadixKv kv;
  private final SglangQueue queue;
  private final int chunkSize;

  private final List<Extend> batch = new ArrayList<>();
  private boolean alone;
  private double reserved;
  private long prefillTokensLeft;
  private long chunkTokensLeft;

  private @Nullable RadixSequence lookedAt;
  private RadixPool.@Nullable Prefix lastFound;
  private long lookedVersion;
  private int lookedLength;

  ExtendAdmission(SglangOptions options, RadixKv kv, SglangQueue queue) {
    this.options = options;
    this.kv = kv;
    this.queue = queue;
    this.chunkSize =
        options.core().chunkedPrefill() ? options.chunkedPrefillSize() : Integer.MAX_VALUE;
  }

  /**
   * Whether the queue's head can be looked at: it exists and there is a place in the running set.
   */
  boolean hasPlace(List<RadixSequence> running) {
    return queue.size() > 0 && running.size() < options.core().maxNumSeqs();
  }

  /**
   * Moves requests from the queue to a batch.
   *
   * @param running the running set
   * @param newTokenRatio the share of its remaining output to keep free
   * @param resumeOnly whether only a prompt that is partly computed may go on
   * @return the batch, valid until the next call
   */
  List<Extend> admit(List<RadixSequence> running, double newTokenRatio, boolean resumeOnly) {
    batch.clear();
    if (!hasPlace(running)) {
      return batch;
    }
    begin(running, newTokenRatio);
    int slots = options.core().maxNumSeqs() - running.size();
    RadixSequence head = queue.head();
    while (head != null && batch.size() < slots && chunkTokensLeft > 0) {
      if (resumeOnly && !head.begun()) {
        break;
      }
      if (!bringBack(head)) {
        Extend extend = extend(head);
        if (extend == null) {
          break;
        }
        batch.add(extend);
        queue.removeHead();
      }
      head = queue.head();
    }
    return batch;
  }

  /** Whether {@link #admit} would certainly do nothing. */
  boolean admitsNobody(List<RadixSequence> running, double newTokenRatio, boolean resumeOnly) {
    RadixSequence head = queue.head();
    if (head == null || !hasPlace(running) || (resumeOnly && !head.begun())) {
      return true;
    }
    if (kv.lower() != null && !head.begun()) {
      return false;
    }
    batch.clear();
    begin(running, newTokenRatio);
    return !fits(head);
  }

  private void begin(List<RadixSequence> running, double newTokenRatio) {
    alone = running.isEmpty();
    reserved = 0;
    for (int i = 0; i < running.size(); i++) {
      RadixSequence sequence = running.get(i);
      reserved += clippedOutput(sequence) * newTokenRatio;
      reserved += (long) sequence.pages() * kv.pageSize() - sequence.computed;
    }
    prefillTokensLeft = options.maxPrefillTokens();
    chunkTokensLeft = chunkSize;
  }

  private int clippedOutput(RadixSequence sequence) {
    return Math.min(sequence.remainingOutput(), options.clipMaxNewTokens());
  }

  /** Lets the head stand aside if a lower tier has pages for it. */
  private boolean bringBack(RadixSequence head) {
    RadixOffload lower = kv.lower();
    if (lower == null || head.begun()) {
      return false;
    }
    RadixOffload.SwapIn swapIn = lower.swapIn(head);
    if (swapIn != null) {
      queue.park(swapIn);
    }
    return swapIn != null;
  }

  private @Nullable Extend extend(RadixSequence head) {
    if (!fits(head)) {
      return null;
    }
    boolean resumed = head.begun();
    if (!resumed) {
      kv.lockPrefix(head);
    }
    int prefix = head.computed;
    int missing = head.length() - prefix;
    int chunk = chunk(missing);
    if (!kv.hold(head, prefix + chunk)) {
      // evicted pages have to be copied to the lower tier before somebody can have them
      if (!resumed) {
        kv.release(head);
      }
      return null;
    }
    head.computed = prefix + chunk;
    int charged = kv.ceil(chunk);
    reserved += chunk < missing ? 0 : clippedOutput(head);
    prefillTokensLeft -= charged;
    chunkTokensLeft -= charged;
    return new Extend(head, prefix, chunk, resumed);
  }

  /** How much of what is missing this pass would compute; 0 if the budget leaves no whole page. */
  private int chunk(int missing) {
    return missing <= chunkSize
        ? missing
        : (int) Math.min(missing, chunkTokensLeft / kv.pageSize() * kv.pageSize());
  }

  private boolean fits(RadixSequence head) {
    long available = kv.availableTokens();
    if (head.begun()) {
      return fits(head, head.computed, available);
    }
    // what it finds in the cache it locks, and thus takes from what can be evicted
    RadixPool.Prefix found = look(head);
    return fits(
        head, found.pages() * kv.pageSize(), available - (long) found.evictable() * kv.pageSize());
  }

  /** The head of a queue that stands still is looked up again only when the tree has changed. */
  private RadixPool.Prefix look(RadixSequence head) {
    RadixPool.Prefix found = lookedAt == head ? lastFound : null;
    if (found == null || lookedVersion != kv.pool().version() || lookedLength != head.length()) {
      found = kv.look(head);
      lookedAt = head;
      lookedLength = head.length();
      lookedVersion = kv.pool().version();
      lastFound = found;
    }
    return found;
  }

  private boolean fits(RadixSequence head, int prefix, long available) {
    int missing = head.length() - prefix;
    int chunk = chunk(missing);
    int charged = kv.ceil(chunk);
    if ((chunk == 0 && missing > 0)
        || charged > chunkTokensLeft
        || (charged > prefillTokensLeft && !batch.isEmpty())) {
      return false;
    }
    int output = chunk < missing ? 0 : clippedOutput(head);
    if (charged + output < available - reserved) {
      return true;
    }
    // A request that was retracted has become longer, and may now ask for more than an empty pool
    // can promise. It fits nevertheless, if nobody else grows.
    return alone && batch.isEmpty() && head.admitted && charged <= available;
  }
}

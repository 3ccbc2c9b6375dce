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
 * one takes what whole pages the pass has left, and reserves no output until its last chunk.
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

  ExtendAdmission(SglangOptions options, RadixKv kv, SglangQueue queue) {
    this.options = options;
    this.kv = kv;
    this.queue = queue;
    this.chunkSize =
        options.core().chunkedPrefill() ? options.chunkedPrefillSize() : Integer.MAX_VALUE;
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
    RadixSequence head = queue.head();
    int slots = options.core().maxNumSeqs() - running.size();
    if (head == null || slots <= 0) {
      return batch;
    }
    alone = running.isEmpty();
    reserved = 0;
    for (RadixSequence sequence : running) {
      reserved += clippedOutput(sequence) * newTokenRatio;
      reserved += (long) sequence.pages() * kv.pageSize() - sequence.computed;
    }
    prefillTokensLeft = options.maxPrefillTokens();
    chunkTokensLeft = chunkSize;
    while (head != null && batch.size() < slots && chunkTokensLeft > 0) {
      Extend extend = resumeOnly && !head.begun() ? null : extend(head);
      if (extend == null) {
        break;
      }
      batch.add(extend);
      queue.removeHead();
      head = queue.head();
    }
    return batch;
  }

  private int clippedOutput(RadixSequence sequence) {
    return Math.min(sequence.remainingOutput(), options.clipMaxNewTokens());
  }

  private @Nullable Extend extend(RadixSequence head) {
    boolean resumed = head.begun();
    if (!resumed) {
      if (hopelessNow(head)) {
        return null;
      }
      kv.lockPrefix(head);
    }
    int prefix = head.computed;
    int missing = head.length() - prefix;
    int chunk = missing;
    if (missing > chunkSize) {
      chunk = (int) Math.min(missing, chunkTokensLeft / kv.pageSize() * kv.pageSize());
    }
    int charged = kv.ceil(chunk);
    int output = chunk < missing ? 0 : clippedOutput(head);
    if ((chunk == 0 && missing > 0) || !fits(head, charged, output)) {
      if (!resumed) {
        kv.release(head);
      }
      return null;
    }
    if (!kv.hold(head, prefix + chunk)) {
      throw new IllegalStateException("pages that were counted are gone");
    }
    head.computed = prefix + chunk;
    reserved += output;
    prefillTokensLeft -= charged;
    chunkTokensLeft -= charged;
    return new Extend(head, prefix, chunk, resumed);
  }

  /** Whether there is no room even if everything but one page is in the cache. */
  private boolean hopelessNow(RadixSequence head) {
    return !alone
        && head.length() <= chunkSize
        && kv.pageSize() + clippedOutput(head) >= kv.availableTokens() - reserved;
  }

  private boolean fits(RadixSequence head, int charged, int output) {
    if (charged > chunkTokensLeft || (charged > prefillTokensLeft && !batch.isEmpty())) {
      return false;
    }
    long available = kv.availableTokens();
    if (charged + output < available - reserved) {
      return true;
    }
    // A request that was retracted has become longer, and may now ask for more than an empty pool
    // can promise. It fits nevertheless, if nobody else grows.
    return alone && batch.isEmpty() && head.admitted && charged <= available;
  }
}

package dev.warmpath.fake.study;

import dev.warmpath.fake.virtual.EventKind;
import dev.warmpath.fake.virtual.VirtualTime;
import dev.warmpath.fake.virtual.VirtualTimer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * A worker of the fleet study: continuous batching with chunked prefill, first come first served.
 *
 * <p>A pass computes up to 8,192 prompt tokens, those of admitted requests first, oldest first;
 * then it admits from the head of the queue while budget is left, fewer than 256 requests run, and
 * prompt and answer fit into the cache's free and evictable blocks. It takes {@code 4.209989e-7 t²
 * + 1.518344e-2 t + 16.50142} ms for {@code t} prompt tokens if there are any, and {@code max(1,
 * -25.74 u² + 54.01 u + 5.74)} ms if any request generates, where {@code u} is the share of blocks
 * that running requests hold: the polynomials of Dynamo's mocker. At its end every generating
 * request has one more token, and a request whose last prompt token was computed has its first.
 *
 * <p>Blocks can be found from the end of the pass that filled them. At least one token of a prompt
 * is computed. A request that ends gives its blocks up from the deepest on, so that these are
 * evicted first. Nothing is ever preempted, since the answer's blocks are taken at admission.
 *
 * <p>Used on the thread of its {@link VirtualTime}, and deterministic.
 */
final class StudyWorker {
  private static final int BUDGET = 8_192;
  private static final int MAX_RUNNING = 256;

  /** Hears what becomes of a request, within the worker's events. */
  interface Listener {
    /**
     * The first token was generated.
     *
     * @param cachedTokens prompt tokens that were found in the cache
     */
    void firstToken(int cachedTokens);

    /** The last token was generated. */
    void finished();
  }

  /** A request on the worker. */
  static final class Job {
    private final StudyPrompt prompt;
    private final Listener listener;
    private final int[] slots;
    private int cachedTokens;
    private int computed;
    private int inPass;
    private int published;
    private int unpublished;
    private long lastPass;
    private long order;
    private boolean gone;

    private Job(StudyPrompt prompt, Listener listener) {
      this.prompt = prompt;
      this.listener = listener;
      this.slots = new int[prompt.stored().length];
    }

    private int uncomputed() {
      return prompt.promptTokens() - computed;
    }
  }

  private final VirtualTime time;
  private final BlockCache cache;
  private final int blockTokens;
  private final @Nullable LoadHistory history;
  private final ArrayDeque<Job> waiting = new ArrayDeque<>();
  private final List<Job> prefilling = new ArrayList<>();
  private final PriorityQueue<Job> decoding =
      new PriorityQueue<>(
          Comparator.comparingLong((Job job) -> job.lastPass).thenComparingLong(job -> job.order));
  private double speed = 1;
  private long admitted;
  private long promptTokens;
  private long cachedTokens;
  private long outputTokens;

  /** Passes in which requests generated. */
  private long generations;

  private long passes;
  private double passStartMs;
  private double passMs;

  /** Equal passes under way, of which only the end of the last is an event. */
  private long passesAhead;

  private boolean generating;
  private @Nullable VirtualTimer passEnd;

  /**
   * Creates an idle worker with an empty cache.
   *
   * @param cacheTokens what the cache holds
   * @param listener hears which blocks can be found
   * @param history keeps the load over time, if anybody reads it
   */
  StudyWorker(
      VirtualTime time,
      int cacheTokens,
      int blockTokens,
      BlockCache.Listener listener,
      @Nullable LoadHistory history) {
    this.time = time;
    this.blockTokens = blockTokens;
    this.cache = new BlockCache(cacheTokens / blockTokens, listener);
    this.history = history;
  }

  /** Makes passes that begin from now on so many times faster. */
  void speed(double factor) {
    speed = factor;
  }

  int running() {
    return prefilling.size() + decoding.size();
  }

  int waiting() {
    return waiting.size();
  }

  /** Tokens' worth of blocks that running requests hold. */
  long usedTokens() {
    return (long) cache.held() * blockTokens;
  }

  /** Cached blocks that no running request holds. */
  int evictableBlocks() {
    return cache.evictable();
  }

  long capacityTokens() {
    return (long) cache.capacity() * blockTokens;
  }

  int blockTokens() {
    return blockTokens;
  }

  long passes() {
    return passes;
  }

  /** Tokens of prompts that were computed or found. */
  long promptTokens() {
    return promptTokens;
  }

  /** Those of them that were found. */
  long cachedTokens() {
    return cachedTokens;
  }

  /** Tokens of answers that have ended. */
  long outputTokens() {
    return outputTokens;
  }

  /** When the pass under way ends, or now. */
  double passEndMs() {
    if (passEnd == null) {
      return time.nowMs();
    }
    double done = Math.floor((time.nowMs() - passStartMs) / passMs);
    return passStartMs + passMs * Math.min((double) passesAhead, done + 1);
  }

  /** Prompt tokens to compute, those in the pass under way included, as far as caches tell. */
  long pendingTokens() {
    long pending = 0;
    for (Job job : prefilling) {
      pending += job.uncomputed();
    }
    for (Job job : waiting) {
      pending += job.uncomputed();
    }
    return pending;
  }

  /** Leading blocks of a prompt that are in the cache and of use. */
  int cachedBlocks(StudyPrompt prompt) {
    int[] blocks = prompt.blocks();
    int found = 0;
    while (found < blocks.length && cache.find(blocks[found]) >= 0) {
      found++;
    }
    return prompt.usable(found);
  }

  /** Whether prompt and answer fit into the cache at all. */
  boolean fits(StudyPrompt prompt) {
    return prompt.wholeBlocks() <= cache.capacity();
  }

  /**
   * A request arrives.
   *
   * @param prompt one that {@linkplain #fits fits}
   * @return what {@link #cancel} takes
   */
  Job submit(StudyPrompt prompt, Listener listener) {
    Job job = new Job(prompt, listener);
    job.computed = cachedBlocks(prompt) * blockTokens; // until admission, only an expectation
    waiting.add(job);
    settle();
    note();
    if (passEnd == null) {
      begin();
    }
    return job;
  }

  /** Drops a request wherever it is; one that has ended is left alone. */
  void cancel(Job job) {
    if (job.gone) {
      return;
    }
    settle();
    if (!waiting.remove(job)) {
      if (!prefilling.remove(job)) {
        decoding.remove(job);
      }
      leave(job, job.published);
    }
    job.gone = true;
    note();
  }

  /** Empties the cache; running requests keep their blocks, which can't be found any more. */
  void flush() {
    cache.flush();
  }

  /** Drops every request without a word, and the cache: a process that died. */
  void die() {
    VirtualTimer timer = passEnd;
    if (timer != null) {
      timer.cancel();
      passEnd = null;
    }
    List<Job> all = new ArrayList<>(prefilling);
    all.addAll(decoding);
    prefilling.clear();
    decoding.clear();
    waiting.forEach(job -> job.gone = true);
    waiting.clear();
    for (Job job : all) {
      leave(job, job.published);
      job.gone = true;
    }
    cache.flush();
    promptTokens = 0;
    cachedTokens = 0;
    outputTokens = 0;
    note();
  }

  /** Ends equal passes after the one under way, since something will happen then. */
  private void settle() {
    VirtualTimer timer = passEnd;
    if (timer == null || passesAhead < 2) {
      return;
    }
    long done = (long) Math.floor((time.nowMs() - passStartMs) / passMs);
    if (done >= passesAhead - 1) {
      return;
    }
    timer.cancel();
    generations += done;
    passes += done;
    passStartMs += done * passMs;
    passesAhead = 1;
    passEnd = time.schedule(passStartMs + passMs, EventKind.PASS_END, this::end);
  }

  private void begin() {
    int left = BUDGET;
    for (int i = 0; i < prefilling.size() && left > 0; i++) {
      left -= schedule(prefilling.get(i), left);
    }
    while (left > 0 && running() < MAX_RUNNING && !waiting.isEmpty() && admit(waiting.element())) {
      Job job = waiting.remove();
      prefilling.add(job);
      left -= schedule(job, left);
    }
    int tokens = BUDGET - left;
    generating = !decoding.isEmpty();
    if (tokens == 0 && !generating) {
      passEnd = null;
      note();
      return;
    }
    double ms = tokens == 0 ? 0 : prefillMs(tokens);
    passesAhead = 1;
    if (generating) {
      ms += decodeMs();
      if (tokens == 0) {
        passesAhead = decoding.element().lastPass - generations;
      }
    }
    passMs = ms / speed;
    passStartMs = time.nowMs();
    note();
    passEnd = time.schedule(passStartMs + passesAhead * passMs, EventKind.PASS_END, this::end);
  }

  private static int schedule(Job job, int left) {
    job.inPass = Math.min(left, job.uncomputed());
    return job.inPass;
  }

  static double prefillMs(int tokens) {
    return 4.209989e-7 * tokens * tokens + 1.518344e-2 * tokens + 16.50142;
  }

  private double decodeMs() {
    double used = (double) cache.held() / cache.capacity();
    return Math.max(1, -25.74 * used * used + 54.01 * used + 5.74);
  }

  private boolean admit(Job job) {
    StudyPrompt prompt = job.prompt;
    int matched = cachedBlocks(prompt);
    int evictable = 0;
    for (int i = 0; i < matched; i++) {
      int slot = cache.find(prompt.blocks()[i]);
      job.slots[i] = slot;
      evictable += cache.isEvictable(slot) ? 1 : 0;
    }
    int fresh = prompt.wholeBlocks() - matched;
    if (fresh > cache.available() - evictable) {
      return false;
    }
    for (int i = 0; i < matched; i++) {
      cache.hold(job.slots[i]);
    }
    cache.take(fresh);
    job.unpublished = fresh;
    job.published = matched;
    job.cachedTokens = matched * blockTokens;
    job.computed = job.cachedTokens;
    job.order = admitted++;
    return true;
  }

  private void end() {
    passEnd = null;
    passes += passesAhead;
    if (generating) {
      generations += passesAhead;
      while (!decoding.isEmpty() && decoding.element().lastPass <= generations) {
        finish(decoding.remove());
      }
    }
    for (Iterator<Job> jobs = prefilling.iterator(); jobs.hasNext(); ) {
      Job job = jobs.next();
      if (job.inPass > 0) {
        job.computed += job.inPass;
        job.inPass = 0;
        publish(job, Math.min(job.prompt.blocks().length, job.computed / blockTokens));
        if (job.uncomputed() == 0) {
          jobs.remove();
          firstToken(job);
        }
      }
    }
    begin();
  }

  private void firstToken(Job job) {
    promptTokens += job.prompt.promptTokens();
    cachedTokens += job.cachedTokens;
    job.listener.firstToken(job.cachedTokens);
    if (job.prompt.outputTokens() == 1) {
      finish(job);
    } else {
      job.lastPass = generations + job.prompt.outputTokens() - 1;
      decoding.add(job);
    }
  }

  private void finish(Job job) {
    publish(job, job.prompt.stored().length);
    leave(job, job.published);
    job.gone = true;
    outputTokens += job.prompt.outputTokens();
    job.listener.finished();
  }

  /** Lets blocks up to some depth be found; one that is there already stays this request's own. */
  private void publish(Job job, int depth) {
    for (; job.published < depth; job.published++) {
      int slot = cache.put(job.prompt.stored()[job.published]);
      job.slots[job.published] = slot;
      if (slot >= 0) {
        job.unpublished--;
      }
    }
  }

  private void leave(Job job, int depth) {
    for (int i = depth - 1; i >= 0; i--) {
      if (job.slots[i] >= 0) {
        cache.release(job.slots[i]);
      }
    }
    cache.giveBack(job.unpublished);
    job.unpublished = 0;
    job.published = 0;
  }

  private void note() {
    if (history != null) {
      history.add(time.nowMs(), running(), waiting.size(), usedTokens());
    }
  }
}

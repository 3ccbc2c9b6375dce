package dev.warmpath.fake.scheduler;

import dev.warmpath.worker.WorkerRole;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What sequences do with a {@link RadixPool}: find their prefix, take pages, hand complete ones to
 * the tree, give everything back. Collects the cache events of it.
 */
final class RadixKv {
  private final RadixPool pool;
  private final int pageSize;
  private final boolean caching;
  private final boolean reporting;
  private final @Nullable RadixOffload lower;
  private List<EngineEffect> events = new ArrayList<>();

  RadixKv(CoreOptions options) {
    this.pool = new RadixPool(options.numBlocks());
    this.pageSize = options.blockSize();
    this.caching = options.prefixCaching();
    this.reporting =
        options.prefixCaching() && options.cacheEvents() && options.role() != WorkerRole.DECODE;
    OffloadOptions offload = options.offload();
    double pageBytes = (double) options.transfer().bytesPerToken() * options.blockSize();
    this.lower =
        offload == null || options.offloadProblem() != null
            ? null
            : new RadixOffload(this, offload, pageBytes, reporting);
  }

  /** The tiers below, or null if there are none. */
  @Nullable RadixOffload lower() {
    return lower;
  }

  /** Where cache events go until they are taken. */
  List<EngineEffect> events() {
    return events;
  }

  RadixPool pool() {
    return pool;
  }

  int pageSize() {
    return pageSize;
  }

  /** Whether there is a prefix cache. */
  boolean caches() {
    return caching;
  }

  int pagesFor(int tokens) {
    return (int) (((long) tokens + pageSize - 1) / pageSize);
  }

  int ceil(int tokens) {
    return pagesFor(tokens) * pageSize;
  }

  /** Tokens' worth of pages that can be had, by eviction where needed. */
  long availableTokens() {
    return (long) (pool.free() + pool.evictable()) * pageSize;
  }

  /** What {@link #lockPrefix} would lock; no use is recorded. */
  RadixPool.Prefix look(RadixSequence sequence) {
    int limit = reusablePages(sequence.length());
    return pool.look(sequence.hashes.first(limit), limit);
  }

  /** Tokens of the sequence that the tree has. */
  int cachedTokens(RadixSequence sequence) {
    return look(sequence).pages() * pageSize;
  }

  /** Locks the longest prefix in the tree, but never the whole sequence, whose last token runs. */
  void lockPrefix(RadixSequence sequence) {
    lockPrefix(sequence, reusablePages(sequence.length()));
  }

  /** Locks the longest prefix of at most some pages that is in the tree. */
  void lockPrefix(RadixSequence sequence, int limit) {
    if (caching) {
      sequence.prefix = pool.match(sequence.hashes.first(limit), limit);
      pool.lock(sequence.prefix);
    }
    sequence.computed = sequence.prefix.end * pageSize;
  }

  /** How many of a sequence's pages may come from the cache: the last token always runs. */
  int reusablePages(int length) {
    return caching ? Math.max(0, length - 1) / pageSize : 0;
  }

  /** Takes the pages that a sequence needs to hold so many tokens; all or nothing. */
  boolean hold(RadixSequence sequence, int tokens) {
    int missing = pagesFor(tokens) - sequence.pages();
    if (missing > 0) {
      if (!take(missing)) {
        return false;
      }
      sequence.ownPages += missing;
    }
    return true;
  }

  /** Takes pages for nobody in particular; see {@link RadixPool#take}. */
  boolean take(int pages) {
    return pool.take(pages, this::removed);
  }

  /** Evicts until so many pages are free; see {@link RadixPool#makeFree}. */
  boolean makeFree(int pages) {
    return pool.makeFree(pages, this::removed);
  }

  /** Puts pages that came from a lower tier into the tree, and unlocks the prefix before them. */
  void land(RadixSequence sequence, RadixNode prefix, int pages) {
    int to = prefix.end + pages;
    long[] hashes = sequence.hashes.first(to);
    pool.unlock(
        pool.extend(prefix, hashes, to, (from, end) -> stored(sequence, hashes, from, end)));
  }

  /** Lets a sequence that has room compute some tokens, and hands over the pages they complete. */
  void grow(RadixSequence sequence, int tokens) {
    int computed = sequence.computed + tokens;
    if (computed > sequence.pages() * pageSize && !hold(sequence, computed)) {
      throw new IllegalStateException("room that was made is gone");
    }
    sequence.computed = computed;
    if (computed - sequence.prefix.end * pageSize >= pageSize) {
      publish(sequence);
    }
  }

  private void removed(long hash) {
    if (reporting) {
      events.add(new EngineEffect.BlockRemoved(StorageTier.DEVICE, hash));
    }
  }

  /** Hands the sequence's complete pages to the tree, where it keeps them locked. */
  void publish(RadixSequence sequence) {
    int complete = sequence.computed / pageSize;
    int before = sequence.prefix.end;
    if (!caching || complete <= before) {
      return;
    }
    long[] hashes = sequence.hashes.first(complete);
    sequence.prefix =
        pool.extend(
            sequence.prefix, hashes, complete, (from, to) -> stored(sequence, hashes, from, to));
    sequence.ownPages -= complete - before;
  }

  private void stored(RadixSequence sequence, long[] hashes, int from, int to) {
    if (reporting) {
      events.add(
          new EngineEffect.BlocksStored(
              StorageTier.DEVICE,
              from == 0 ? 0 : hashes[from - 1],
              from == 0,
              Arrays.copyOfRange(hashes, from, to),
              sequence.hashes.tokens(from, to)));
    }
  }

  /** Gives back everything; what is in the tree stays there until it is evicted. */
  void release(RadixSequence sequence) {
    pool.give(sequence.ownPages);
    pool.unlock(sequence.prefix);
    sequence.prefix = pool.root();
    sequence.ownPages = 0;
    sequence.computed = 0;
  }

  /** Empties the tree but for what is locked, and the tiers below; tells nobody. */
  void clear() {
    pool.dropEvictable();
    if (lower != null) {
      lower.clear();
    }
  }

  /** Returns the cache events since the last call. */
  List<EngineEffect> takeEvents() {
    if (events.isEmpty()) {
      return List.of();
    }
    List<EngineEffect> taken = events;
    events = new ArrayList<>();
    return taken;
  }
}

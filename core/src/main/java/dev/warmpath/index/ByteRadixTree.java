package dev.warmpath.index;

import java.time.Duration;
import java.util.Objects;
import java.util.function.LongSupplier;

/**
 * Tells which worker ranks hold which prefix of a prompt: a compressed trie over prompt bytes, of
 * all namespaces in one structure under one budget.
 *
 * <p><b>Answers.</b> {@link #match} gives every live holder with the length that it holds, not one
 * winner: to weigh length against load is a policy's business. It reads one immutable snapshot,
 * takes no lock, waits for nobody, holds nobody up and allocates nothing.
 *
 * <p><b>Updates</b> come from the requests that this client sends: {@link #dispatch} claims a
 * prompt for a holder before the answer is there, and the {@link Speculation} that it returns is
 * confirmed or withdrawn. They may come from any thread. The caller makes the update itself if
 * nobody else is at it; otherwise it leaves the update to the one who is, and returns at once. Each
 * update becomes visible as a whole. An index that can't keep up sheds updates and counts them.
 *
 * <p><b>Holders</b> are named by a primitive {@link HolderIds id}. The first update that names an
 * id with a higher epoch ends the slot's earlier life, and {@link #drop} ends one explicitly.
 * Either takes a time that does not depend on the number of entries, which are invisible from then
 * on; what they take up is reclaimed as they come to be the oldest.
 *
 * <p><b>Age.</b> An entry is gone when it hasn't been used for the {@link Builder#ttl}, and when
 * its holder has, by {@link #capacity}, been given so much else since that it must have evicted it.
 *
 * <p><b>Memory</b> is on the heap and counted as HotSpot lays it out: for each node the object, a
 * copy of its label (a slice of the caller's array would pin the whole prompt), the array of
 * children and their first bytes, 16 bytes for each holder and 24 for each claim under way, all
 * with array headers and padding; besides that 29 bytes for each slot. Making room comes before
 * adding, so that the count is never above the budget: the entries that were used longest ago go
 * first (to within a sixty-fourth of the TTL), which are always the deepest of their holder. A node
 * that nobody holds goes, and one that is left with a single child of the same holders becomes one
 * with it. Garbage that the next collection takes is not counted. Of a prompt longer than an eighth
 * of the budget only that much is kept.
 *
 * <p>Prompt arrays must not be changed after they were passed in. Time is counted in ticks of 67
 * ms.
 */
public final class ByteRadixTree {
  private static final int MOST_WAITING_UPDATES = 1024;

  private final LongSupplier ticker;
  private final long origin;
  final RadixCore core;
  private final WriteCombiner writer = new WriteCombiner(MOST_WAITING_UPDATES);

  private ByteRadixTree(Builder builder) {
    this.ticker = builder.ticker;
    this.origin = ticker.getAsLong();
    this.core = new RadixCore(builder.budgetBytes, builder.ttl.toNanos());
  }

  /**
   * Begins a tree with 64 MB, a TTL of ten minutes and the system's monotonic clock.
   *
   * @return a builder
   */
  public static Builder builder() {
    return new Builder();
  }

  /**
   * Finds out who holds how much of a prompt's beginning.
   *
   * @param namespace where the prompt belongs
   * @param prompt the array that the prompt's bytes are in
   * @param offset where they begin
   * @param length how many there are
   * @param out is overwritten with the answer; the caller's own, see {@link PrefixMatches}
   * @throws IndexOutOfBoundsException if the range is not within the array
   */
  public void match(
      PrefixNamespace namespace, byte[] prompt, int offset, int length, PrefixMatches out) {
    Objects.checkFromIndexSize(offset, length, prompt.length);
    core.match(namespace, prompt, offset, length, tick(), out);
  }

  /**
   * Notes that a holder holds a prompt, as of now.
   *
   * @param namespace where the prompt belongs
   * @param prompt the array that the prompt's bytes are in
   * @param offset where they begin
   * @param length how many there are
   * @param holderId the holder; without effect if it is dropped or of an epoch that is over
   * @throws IndexOutOfBoundsException if the range is not within the array
   */
  public void insert(
      PrefixNamespace namespace, byte[] prompt, int offset, int length, long holderId) {
    Objects.checkFromIndexSize(offset, length, prompt.length);
    writer.submit(() -> core.insert(namespace, prompt, offset, length, holderId, tick()));
  }

  /**
   * Notes that a prompt is on its way to a holder, which counts as holding it until the dispatch is
   * settled.
   *
   * <p>Once confirmed, the holder has received that part of the prompt's tokens that it did not
   * hold, which ages what else it holds, see {@link #capacity}. While several dispatches of the
   * same bytes are under way to one holder, these bytes have the age of the youngest.
   *
   * @param namespace where the prompt belongs
   * @param prompt the array that the prompt's bytes are in
   * @param offset where they begin
   * @param length how many there are
   * @param holderId the holder; without effect if it is dropped or of an epoch that is over
   * @param promptTokens the length of the whole prompt in tokens
   * @return what to settle when the outcome is known
   * @throws IndexOutOfBoundsException if the range is not within the array
   * @throws IllegalArgumentException if the number of tokens is negative
   */
  public Speculation dispatch(
      PrefixNamespace namespace,
      byte[] prompt,
      int offset,
      int length,
      long holderId,
      int promptTokens) {
    Objects.checkFromIndexSize(offset, length, prompt.length);
    requireTokens(promptTokens);
    ByteSpeculation speculation =
        new ByteSpeculation(this, namespace, prompt, offset, length, holderId, promptTokens);
    writer.submit(() -> core.dispatch(speculation, tick()));
    return speculation;
  }

  void confirm(ByteSpeculation speculation) {
    writer.submit(() -> core.confirm(speculation, tick()));
  }

  void withdraw(ByteSpeculation speculation) {
    writer.submit(() -> core.withdraw(speculation, tick()));
  }

  /**
   * Tells how many tokens a holder's KV cache takes, which begins the estimate of its evictions.
   *
   * <p>An engine evicts what was used longest ago when new tokens need the room. So an entry is
   * taken to be there until its holder has received three quarters of its capacity in new tokens
   * since the entry's last use (running requests need some of the room, and others than this client
   * send to the holder too), to be gone when it has received the whole capacity, and in between to
   * have survived with a probability that falls in a straight line: {@link PrefixMatches#expected}.
   * What counts as received is the part of each confirmed prompt that was not held, and what {@link
   * #received} tells. The count resolves 64 tokens. Without a capacity only the TTL applies.
   *
   * @param holderId the holder; without effect if it is dropped or of an epoch that is over
   * @param tokens the capacity in tokens, 0 for unknown
   * @throws IllegalArgumentException if the number of tokens is negative
   */
  public void capacity(long holderId, long tokens) {
    requireTokens(tokens);
    writer.submit(() -> core.capacity(holderId, tokens, tick()));
  }

  /**
   * Tells of tokens that came into a holder's KV cache otherwise than by a dispatch: those that it
   * generated, and those of other clients as far as its telemetry shows them.
   *
   * @param holderId the holder; without effect if it is dropped or of an epoch that is over
   * @param tokens how many
   * @throws IllegalArgumentException if the number of tokens is negative
   */
  public void received(long holderId, long tokens) {
    requireTokens(tokens);
    writer.submit(() -> core.receive(holderId, tokens, tick()));
  }

  /**
   * Ends the life of a holder: everything known of it vanishes, and later updates that name it or
   * an earlier epoch of its slot have no effect.
   *
   * @param holderId the holder
   */
  public void drop(long holderId) {
    writer.call(
        () -> {
          core.drop(holderId, tick());
          return holderId;
        });
  }

  /**
   * Empties a holder that goes on living, as after a flush of its cache. Dispatches under way to it
   * don't leave anything behind.
   *
   * @param holderId the holder
   */
  public void clear(long holderId) {
    writer.call(
        () -> {
          core.clear(holderId, tick());
          return holderId;
        });
  }

  /**
   * Counts what the tree holds, after all updates that were made before.
   *
   * @return the figures of one moment
   */
  public Stats stats() {
    return writer.call(() -> core.stats(writer.shed()));
  }

  int tick() {
    return RadixCore.tick(ticker.getAsLong() - origin);
  }

  private static void requireTokens(long tokens) {
    if (tokens < 0) {
      throw new IllegalArgumentException("negative number of tokens: " + tokens);
    }
  }

  /**
   * What a tree holds and has let go.
   *
   * @param nodes the nodes, with the root and those that spell namespaces
   * @param bytes what nodes and slots take up on the heap, at most the budget
   * @param budgetBytes the budget
   * @param entries the (node, holder) pairs, with those that vanished and wait to be reclaimed
   * @param holders the live holders
   * @param evicted the entries that had to make room so far
   * @param expired the entries that were reclaimed because of their age so far
   * @param shed the updates that were lost because too many waited so far
   */
  public record Stats(
      long nodes,
      long bytes,
      long budgetBytes,
      long entries,
      int holders,
      long evicted,
      long expired,
      long shed) {}

  /** Collects what a tree needs to know, all of which has a default. */
  public static final class Builder {
    private static final long SMALLEST_BUDGET = 64 << 10;
    private static final Duration LONGEST_TTL = Duration.ofDays(7);

    private long budgetBytes = 64 << 20;
    private Duration ttl = Duration.ofMinutes(10);
    private LongSupplier ticker = System::nanoTime;

    private Builder() {}

    /**
     * Sets how much heap the tree may take up.
     *
     * @param bytes the budget for all namespaces together, at least 64 KB; 64 MB by default
     * @return this builder
     * @throws IllegalArgumentException if the budget is too small
     */
    public Builder budgetBytes(long bytes) {
      if (bytes < SMALLEST_BUDGET) {
        throw new IllegalArgumentException("budget below 64 KB: " + bytes);
      }
      budgetBytes = bytes;
      return this;
    }

    /**
     * Sets for how long an entry outlives its last use.
     *
     * <p>The default is ten minutes. In the public Mooncake traces 95 % of the returns to a prefix
     * come within about 7 minutes and 99 % within 15, while the 3 minutes that one router uses
     * would miss 14 to 22 % of them; what an engine evicts sooner is the business of {@link
     * #capacity}.
     *
     * @param age more than zero, at most 7 days
     * @return this builder
     * @throws IllegalArgumentException if the age is out of range
     */
    public Builder ttl(Duration age) {
      if (age.isZero() || age.isNegative() || age.compareTo(LONGEST_TTL) > 0) {
        throw new IllegalArgumentException("TTL not within 7 days: " + age);
      }
      ttl = age;
      return this;
    }

    /**
     * Sets the clock.
     *
     * @param nanos monotonic nanoseconds from any origin, {@link System#nanoTime} by default
     * @return this builder
     */
    public Builder ticker(LongSupplier nanos) {
      ticker = nanos;
      return this;
    }

    /**
     * Builds an empty tree.
     *
     * @return the tree
     */
    public ByteRadixTree build() {
      return new ByteRadixTree(this);
    }
  }
}

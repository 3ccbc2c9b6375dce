package dev.warmpath.index;

import dev.warmpath.hash.BlockHash;
import dev.warmpath.hash.BlockHashes;
import dev.warmpath.hash.HashNamespace;
import java.util.List;
import java.util.Objects;
import java.util.function.LongSupplier;
import java.util.function.ObjIntConsumer;

/**
 * Tells which worker ranks hold which chained KV blocks, and in which tier: the blocks of all
 * namespaces in one table under one budget.
 *
 * <p><b>Answers.</b> {@link #match} gives every live holder with the longest run of leading blocks
 * that it holds. It takes no lock, allocates nothing, and looks at a few blocks of the prompt only:
 * the holders of a block are among those of the block before, so it is enough to gallop to where
 * they fall away. Where a holder is known to have holes, or blocks in lower tiers, its run is
 * looked at block by block, so that the answer is the true run in any case. A match sees each
 * update as a whole. One that updates keep disturbing gives way after a number of tries and looks
 * at each block in turn: every block that it counts was held when it was looked at.
 *
 * <p><b>Updates</b> come from this client's requests ({@link #dispatch}) and from what engines tell
 * of their caches ({@link #stored}, {@link #storedAfter}, {@link #removed}, {@link #clear}). They
 * may come from any thread, and don't wait for each other: see {@link ByteRadixTree}. Hashes are
 * those of chains: a block's hash covers all blocks before it. What does not fit in with what is
 * known, as a block that is told to follow another one than before, is refused and counted.
 *
 * <p><b>Namespaces</b> never mix: hashes are looked up together with where they come from. The
 * {@linkplain HashNamespace#published() published} namespace of an engine's events and that of a
 * request whose keys the hashes cover are the same.
 *
 * <p><b>Holders</b> are named by a primitive {@link HolderIds id}. The first update that names an
 * id with a higher epoch ends the slot's earlier life, {@link #drop} ends one and {@link #clear}
 * empties one. All take a time that does not depend on the number of blocks, which are invisible
 * from then on; what they take up is reclaimed a few at a time.
 *
 * <p><b>Age.</b> A use of a block by a holder is one of all blocks before it. A holder with a known
 * {@link #capacity} loses what it used longest ago, and of that the deepest first.
 *
 * <p><b>Memory</b> is on the heap in arrays that grow page by page: 58 bytes for a block with its
 * first holder, at most 16 for each further one, and 16 for each use that is still the last for
 * some block. The count is never above the budget: making room comes before adding, and the
 * holdings that were used longest ago go first, to within a tick of 67 ms. Of a chain only the
 * first blocks are kept, one for every 512 bytes of the budget.
 *
 * <p>Arrays must not be changed after they were passed in.
 */
public final class BlockIndex {
  private static final int MOST_WAITING_UPDATES = 1024;

  private final LongSupplier ticker;
  private final long origin;
  final BlockCore core;
  private final WriteCombiner combiner = new WriteCombiner(MOST_WAITING_UPDATES);

  private BlockIndex(Builder builder) {
    this.ticker = builder.ticker;
    this.origin = ticker.getAsLong();
    this.core = new BlockCore(builder.budgetBytes);
  }

  /**
   * Begins an index with 64 MB and the system's monotonic clock.
   *
   * @return a builder
   */
  public static Builder builder() {
    return new Builder();
  }

  /**
   * Finds out who holds how many leading blocks of a prompt.
   *
   * @param hashes the prompt's blocks
   * @param out is overwritten with the answer; the caller's own, see {@link BlockMatches}
   */
  public void match(BlockHashes hashes, BlockMatches out) {
    if (core.expires() && core.due(tick())) {
      combiner.submit(() -> core.expire(tick()));
    }
    core.match(hashes, out);
  }

  /**
   * Tells whether all is known of what a holder has in a namespace, because its engine tells: that
   * it is not said to hold a block then means that it does not, and no guess is among its blocks
   * but for what was sent to it in the last 2 s.
   *
   * @param holderId the holder
   * @param namespace where the hashes belong
   * @return whether it is so at this moment
   */
  public boolean authoritative(long holderId, HashNamespace namespace) {
    return core.writer.lives.told(holderId, BlockKeys.namespace(namespace));
  }

  /** Whether there was ever a holder of which all is told. */
  public boolean anyAuthoritative() {
    return core.writer.lives.anyTold();
  }

  /**
   * Empties a holder and believes from now on that all is told of what it has: {@link #stored} and
   * {@link #removed} are its engine's word. A prompt that is dispatched to it counts as held for 2
   * s, within which its engine will have told of it, whether or not the dispatch is confirmed; and
   * it has no {@link #capacity} but what it tells. Ends with {@link #endAuthority}, with {@link
   * #clear}, with the holder, and with the first of its blocks that has to make room for others.
   *
   * @param holderId the holder; without effect if it is dropped or of an epoch that is over
   * @param namespace where the hashes belong that are told of; others are guessed as before
   */
  public void makeAuthoritative(long holderId, HashNamespace namespace) {
    long number = BlockKeys.namespace(namespace);
    combiner.call(
        () -> {
          core.clear(holderId, tick());
          core.authority(holderId, number, tick());
          return holderId;
        });
  }

  /**
   * Keeps what is known of a holder and no longer believes that it is all: from now on guesses are
   * added.
   *
   * @param holderId the holder
   */
  public void endAuthority(long holderId) {
    combiner.call(
        () -> {
          core.authority(holderId, 0, tick());
          return holderId;
        });
  }

  /** Runs updates as the writer, in the order in which they are given: none is ever shed. */
  void told(ObjIntConsumer<BlockWriter> updates) {
    combiner.call(
        () -> {
          updates.accept(core.writer, tick());
          return this;
        });
  }

  /**
   * Notes that a prompt is on its way to a holder, which counts as having it in HBM until the
   * dispatch is settled.
   *
   * <p>{@link Speculation#withdraw} takes back the blocks that no tier is known of and no other
   * dispatch under way to the holder claims. Of more than 4096 dispatches under way to one holder
   * the oldest are no longer told apart: what they claimed stays until it ages.
   *
   * @param hashes the prompt's blocks
   * @param holderId the holder; without effect if it is dropped or of an epoch that is over
   * @return what to settle when the outcome is known
   */
  public Speculation dispatch(BlockHashes hashes, long holderId) {
    BlockSpeculation speculation = new BlockSpeculation(this, hashes, holderId);
    combiner.submit(() -> core.dispatch(speculation, tick()));
    return speculation;
  }

  void confirm(BlockSpeculation speculation) {
    combiner.submit(() -> core.confirm(speculation, tick()));
  }

  void withdraw(BlockSpeculation speculation) {
    combiner.submit(() -> core.withdraw(speculation, tick()));
  }

  /**
   * Notes that a holder has stored some blocks of a chain: all of a prompt's, or those that it
   * generated after them.
   *
   * <p>The blocks before {@code from} are taken as used, not as stored.
   *
   * @param hashes the chain from its first block on
   * @param from the first block that was stored
   * @param to one more than the last
   * @param holderId the holder; without effect if it is dropped or of an epoch that is over
   * @param tier where it keeps them, besides where it is known to keep them already
   * @throws IndexOutOfBoundsException if the range is not within the chain
   */
  public void stored(BlockHashes hashes, int from, int to, long holderId, Tier tier) {
    Objects.checkFromToIndex(from, to, hashes.size());
    combiner.submit(() -> core.stored(hashes, from, to, holderId, tier, tick()));
  }

  /**
   * Notes that a holder has stored some blocks of a chain.
   *
   * @param namespace where the hashes belong
   * @param hashes the chain from its first block on
   * @param from the first block that was stored
   * @param to one more than the last
   * @param holderId the holder; without effect if it is dropped or of an epoch that is over
   * @param tier where it keeps them, besides where it is known to keep them already
   * @throws IndexOutOfBoundsException if the range is not within the chain
   */
  public void stored(
      HashNamespace namespace, long[] hashes, int from, int to, long holderId, Tier tier) {
    Objects.checkFromToIndex(from, to, hashes.length);
    long number = BlockKeys.namespace(namespace);
    combiner.submit(() -> core.stored(number, hashes, from, to, holderId, tier, tick()));
  }

  /**
   * Notes that a holder has stored blocks that follow another, as an engine's event tells it.
   *
   * <p>If nobody is known to hold the other block, it is not known what leads up to it, so that no
   * prompt could be said to begin with the blocks: they are refused and counted.
   *
   * @param namespace where the hashes belong
   * @param parent the block that they follow
   * @param hashes the blocks, one following the other
   * @param holderId the holder; without effect if it is dropped or of an epoch that is over
   * @param tier where it keeps them, besides where it is known to keep them already
   */
  public void storedAfter(
      HashNamespace namespace, long parent, long[] hashes, long holderId, Tier tier) {
    long number = BlockKeys.namespace(namespace);
    combiner.submit(() -> core.storedAfter(number, parent, hashes, holderId, tier, tick()));
  }

  /**
   * Notes that a holder no longer keeps blocks in a tier. What it has of them in other tiers, and
   * the blocks that follow them, stay.
   *
   * @param namespace where the hashes belong
   * @param hashes the blocks, in any order
   * @param holderId the holder
   * @param tier where it has given them up
   */
  public void removed(HashNamespace namespace, long[] hashes, long holderId, Tier tier) {
    long number = BlockKeys.namespace(namespace);
    combiner.submit(() -> core.removed(number, hashes, holderId, tier, tick()));
  }

  /**
   * Tells how many blocks a holder has room for in HBM. Beyond that number it loses those that it
   * used longest ago; those that it also has in other tiers stay there.
   *
   * @param holderId the holder; without effect if it is dropped or of an epoch that is over
   * @param blocks the capacity in blocks, 0 for unknown
   * @throws IllegalArgumentException if the number of blocks is negative
   */
  public void capacity(long holderId, int blocks) {
    if (blocks < 0) {
      throw new IllegalArgumentException("negative number of blocks: " + blocks);
    }
    combiner.submit(() -> core.capacity(holderId, blocks, tick()));
  }

  /**
   * Ends the life of a holder: everything known of it vanishes, and later updates that name it or
   * an earlier epoch of its slot have no effect.
   *
   * @param holderId the holder
   */
  public void drop(long holderId) {
    combiner.call(
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
    combiner.call(
        () -> {
          core.clear(holderId, tick());
          return holderId;
        });
  }

  /**
   * Empties a holder, as {@link #clear}, unless all is told of what it has: what was assumed of it
   * is gone then already.
   *
   * @param holderId the holder
   */
  public void clearGuesses(long holderId) {
    combiner.call(
        () -> {
          core.clearGuesses(holderId, tick());
          return holderId;
        });
  }

  /**
   * Takes down what a holder has, in any namespace, after all updates that were made before:
   * without what is only on its way to it, and without what lies behind a block that it lacks.
   *
   * @param holderId the holder
   * @param most how many blocks at most; the most recently used are taken
   * @return the blocks, none if the holder is not known
   */
  public HeldBlocks held(long holderId, int most) {
    return combiner.call(() -> core.held(holderId, most));
  }

  /**
   * Gives a holder what was taken down of one, as guesses, in the same order of use and as older
   * than what it has. What there is no room for, in the index or within the holder's {@link
   * #capacity}, is left out: nothing is evicted for it. Without effect while all is told of what
   * the holder has. Other updates may come in between.
   *
   * @param holderId the holder; without effect if it is dropped or of an epoch that is over
   * @param held the blocks
   */
  public void assume(long holderId, HeldBlocks held) {
    int[] depths = held.depths();
    for (int i = 0; i < held.stretches(); i++) {
      int stretch = i;
      combiner.call(
          () -> {
            core.assume(held, stretch, depths[stretch], holderId, tick());
            return holderId;
          });
    }
  }

  /**
   * Tells who holds a block, after all updates that were made before: for people to look at.
   *
   * @param block the block
   * @return its holders in no order
   */
  public List<BlockHolder> holders(BlockHash block) {
    long key = BlockKeys.key(BlockKeys.namespace(block.namespace()), block.bits());
    return combiner.call(() -> core.holders(key, tick()));
  }

  /**
   * Counts what the index holds, after all updates that were made before.
   *
   * @return the figures of one moment
   */
  public Stats stats() {
    return combiner.call(() -> core.stats(combiner.shed()));
  }

  private int tick() {
    return BlockCore.tick(ticker.getAsLong() - origin);
  }

  /**
   * What an index holds and has let go.
   *
   * @param blocks the blocks
   * @param holdings the (block, holder) pairs, with those that vanished and wait to be reclaimed,
   *     and those of blocks that a holder lacks but holds followers of
   * @param bytes what all of it takes up on the heap, at most the budget; without the prompts'
   *     hashes, which dispatches under way share with their callers
   * @param budgetBytes the budget
   * @param holders the live holders
   * @param authoritative those of them of which all is told
   * @param evicted the holdings that had to make room so far
   * @param overCapacity the holdings that were beyond their holder's capacity so far
   * @param refused the blocks that could not be added so far, because it is not known what they
   *     follow or because there was no room
   * @param shed the updates that were lost because too many waited so far
   */
  public record Stats(
      int blocks,
      long holdings,
      long bytes,
      long budgetBytes,
      int holders,
      int authoritative,
      long evicted,
      long overCapacity,
      long refused,
      long shed) {}

  /** Collects what an index needs to know, all of which has a default. */
  public static final class Builder {
    private static final long SMALLEST_BUDGET = 64 << 10;

    private long budgetBytes = 64 << 20;
    private LongSupplier ticker = System::nanoTime;

    private Builder() {}

    /**
     * Sets how much heap the index may take up.
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
     * Builds an empty index.
     *
     * @return the index
     */
    public BlockIndex build() {
      return new BlockIndex(this);
    }
  }
}

package dev.warmpath.index;

import dev.warmpath.hash.BlockHashes;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * The block index without its clock and its callers: any number of readers beside one writer.
 *
 * <p>Whoever calls a method that writes must be the only one to do so, and what the writer before
 * did must have happened before. Only {@link #match} is a reader's.
 */
final class BlockCore {
  private static final int SMALLEST_PAGE_SHIFT = 8;
  private static final int LARGEST_PAGE_SHIFT = 14;

  /** A budget has room for so many of the pages at least. */
  private static final long PAGES = 32;

  final BlockWriter writer;
  private final BlockReader reader;

  BlockCore(long budget) {
    Versions versions = new Versions();
    writer = new BlockWriter(new PageBudget(budget), versions, pageShift(budget));
    reader = new BlockReader(versions, writer);
  }

  /** For tests: a match is tried so often before it gives way. */
  BlockCore(long budget, int tries) {
    Versions versions = new Versions();
    writer = new BlockWriter(new PageBudget(budget), versions, pageShift(budget));
    reader = new BlockReader(versions, writer, tries);
  }

  private static int pageShift(long budget) {
    int shift = 63 - Long.numberOfLeadingZeros(budget / PAGES / Long.BYTES);
    return Math.max(SMALLEST_PAGE_SHIFT, Math.min(LARGEST_PAGE_SHIFT, shift));
  }

  static int tick(long nanos) {
    return RadixCore.tick(nanos);
  }

  void match(BlockHashes hashes, BlockMatches out) {
    reader.match(hashes, out);
  }

  void dispatch(BlockSpeculation speculation, int tick) {
    writer.begin(tick);
    writer.dispatch(speculation);
    writer.commit();
  }

  void confirm(BlockSpeculation speculation, int tick) {
    writer.begin(tick);
    writer.confirm(speculation);
    writer.commit();
  }

  void withdraw(BlockSpeculation speculation, int tick) {
    writer.begin(tick);
    writer.withdraw(speculation);
    writer.commit();
  }

  void stored(BlockHashes hashes, int from, int to, long holderId, Tier tier, int tick) {
    writer.begin(tick);
    writer.stored(hashes, from, to, holderId, tier);
    writer.commit();
  }

  void stored(long namespace, long[] hashes, int from, int to, long holderId, Tier tier, int tick) {
    writer.begin(tick);
    writer.stored(namespace, hashes, from, to, holderId, tier);
    writer.commit();
  }

  void assume(HeldBlocks held, int stretch, int depth, long holderId, int tick) {
    writer.begin(tick);
    writer.assume(held, stretch, depth, holderId);
    writer.commit();
  }

  HeldBlocks held(long holderId, int most) {
    return BlockSnapshot.take(writer, holderId, most);
  }

  /** Empties a holder unless its engine tells what it has. */
  void clearGuesses(long holderId, int tick) {
    if (writer.lives.authorities[writer.lives.of(holderId)] == 0) {
      clear(holderId, tick);
    }
  }

  void storedAfter(long namespace, long parent, long[] hashes, long holderId, Tier tier, int tick) {
    writer.begin(tick);
    writer.storedAfter(namespace, parent, hashes, hashes.length, holderId, tier);
    writer.commit();
  }

  void removed(long namespace, long[] hashes, long holderId, Tier tier, int tick) {
    writer.begin(tick);
    writer.removed(namespace, hashes, holderId, tier);
    writer.commit();
  }

  void capacity(long holderId, int blocks, int tick) {
    writer.begin(tick);
    writer.capacity(holderId, blocks);
    writer.commit();
  }

  void drop(long holderId, int tick) {
    writer.begin(tick);
    writer.drop(holderId);
    writer.commit();
  }

  void clear(long holderId, int tick) {
    writer.begin(tick);
    writer.clear(holderId);
    writer.commit();
  }

  void authority(long holderId, long namespace, int tick) {
    writer.begin(tick);
    writer.authority(holderId, namespace);
    writer.commit();
  }

  /** Anybody's: whether something ends by itself some time. */
  boolean expires() {
    return writer.dispatches.nextExpiry() != Dispatches.NEVER;
  }

  /** Anybody's: whether something has ended by itself that the writer has not seen to. */
  boolean due(int tick) {
    return writer.dispatches.nextExpiry() <= tick;
  }

  /** Ends what is over by itself. */
  void expire(int tick) {
    writer.begin(tick);
    writer.commit();
  }

  /** For tests: evicts the oldest holdings. */
  void evict(int count, int tick) {
    writer.begin(tick);
    writer.evict(count);
    writer.commit();
  }

  List<BlockHolder> holders(long key, int tick) {
    expire(tick);
    return writer.holders(key);
  }

  BlockIndex.Stats stats(long shed) {
    return writer.stats(shed);
  }

  /** What the writer knows of a block's holding by a life. */
  static BlockHolder holder(long holderId, int tiers, int ticks) {
    Set<Tier> known = EnumSet.noneOf(Tier.class);
    for (Tier tier : Tier.values()) {
      if ((tiers & tier.bit) != 0) {
        known.add(tier);
      }
    }
    boolean claimed = (tiers & Holding.CLAIM) != 0;
    return new BlockHolder(
        holderId, known, claimed, Duration.ofNanos((long) ticks << RadixCore.TICK_BITS));
  }
}

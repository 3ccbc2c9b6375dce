package dev.warmpath.index;

import dev.warmpath.hash.BlockHashes;
import java.util.ArrayList;
import java.util.List;

/**
 * How the one writer changes the block index.
 *
 * <p>What holds between any two updates: a life that has a holding of a block has one of the
 * block's parent, if need be a hole; a hole has a child of the same life below it; a block without
 * holdings is gone; and a use reaches a block's parent whenever it reaches the block.
 */
final class BlockWriter {
  /** How many holdings of lives that are over are taken away besides each update. */
  private static final int RECLAIMED_PER_UPDATE = 16;

  /** How many holdings one holding may displace that needs a longer run for its block's holders. */
  private static final int MOST_DISPLACED = 1 << 10;

  /** What some hundred lives take up. */
  private static final long FLEET = 64 << 10;

  private static final int ANY_TIER = -1;

  private final PageBudget budget;
  final Versions versions;
  final BlockTable table;
  final HolderSets sets;
  final Uses uses;
  final Lives lives;
  final Dispatches dispatches;
  private final BlockAppender appender;
  private final BlockRestorer restorer;
  private final int longestChain;
  private long[] keys = new long[256];
  private int[] path = new int[256];

  private long removals;

  /** Where the last holding that was reached above a removed one stood among its block's. */
  private int removedAt;

  /** The use that is being made, whose holes may have no child yet. */
  private int underWay;

  private int now;
  private int victim;
  private int victimUntil;

  /** The use that was last evicted from row by row, which is not tried again right away. */
  private int shortened;

  private long holdings;
  private long evicted;
  private long overCapacity;
  private long refused;

  BlockWriter(PageBudget budget, Versions versions, int pageShift) {
    this.budget = budget;
    this.versions = versions;
    long limit = budget.limit();
    PageBudget.Share forLives = budget.share(Math.max(limit / 64, Math.min(limit / 8, FLEET)));
    PageBudget.Share forUses = budget.share(limit / 32);
    this.table = new BlockTable(budget.share(limit / 4), pageShift);
    this.sets = new HolderSets(table, new BuddyPool(budget.share(limit / 8), pageShift));
    this.uses = new Uses(forUses, pageShift);
    this.lives = new Lives(forLives, uses);
    this.dispatches = new Dispatches(lives);
    this.appender = new BlockAppender(this);
    this.restorer = new BlockRestorer(this);
    this.longestChain = (int) Math.min(1 << 24, budget.limit() / 512);
  }

  BlockIndex.Stats stats(long shed) {
    return new BlockIndex.Stats(
        table.blocks(),
        holdings,
        budget.used(),
        budget.limit(),
        lives.living(),
        lives.authoritative(),
        evicted,
        overCapacity,
        refused,
        shed);
  }

  void begin(int tick) {
    now = Math.max(now, tick);
    BlockSpeculation expired = dispatches.nextExpired(now);
    while (expired != null) {
      withdraw(expired);
      expired = dispatches.nextExpired(now);
    }
  }

  /** Ends an update. */
  void commit() {
    for (int i = 0; i < RECLAIMED_PER_UPDATE && lives.over() != Lives.NONE; i++) {
      reclaim();
    }
    versions.close();
  }

  /** The holder's life; a newer life of its slot begins here. */
  private int admit(long holderId) {
    if (lives.unseen(holderId)) {
      // A life takes two uses to hold its lists.
      while (!uses.room(2) && evictOldest()) {}
      versions.open();
      return lives.begin(holderId, now);
    }
    return lives.of(holderId);
  }

  /** The first part of a chain as keys, and how long it is. */
  private int load(BlockHashes hashes) {
    int count = Math.min(hashes.size(), longestChain);
    reserve(count);
    BlockKeys.fill(hashes, count, keys);
    return count;
  }

  private void reserve(int count) {
    if (keys.length < count) {
      keys = new long[Math.max(count, 2 * keys.length)];
    }
  }

  void stored(BlockHashes hashes, int from, int to, long holderId, Tier tier) {
    int life = admit(holderId);
    if (life != Lives.NONE) {
      int end = Math.min(to, load(hashes));
      use(life, from, end, tier.bit);
      limit(life);
    }
  }

  void stored(long namespace, long[] hashes, int from, int to, long holderId, Tier tier) {
    int life = admit(holderId);
    if (life != Lives.NONE) {
      int end = Math.min(to, longestChain);
      reserve(end);
      System.arraycopy(hashes, 0, keys, 0, end);
      BlockKeys.fill(namespace, keys, 0, end);
      use(life, from, end, tier.bit);
      limit(life);
    }
  }

  /** A stretch of what was taken down of a holder; without effect where the engine itself tells. */
  void assume(HeldBlocks held, int stretch, int depth, long holderId) {
    int life = admit(holderId);
    if (life != Lives.NONE && lives.authorities[life] == 0 && depth < longestChain) {
      restorer.give(life, held, stretch, longestChain - depth, now);
      limit(life);
    }
  }

  /** Blocks that follow a known one; of an unknown one it can't be told what they follow. */
  void storedAfter(
      long namespace, long parent, long[] hashes, int count, long holderId, Tier tier) {
    int life = admit(holderId);
    if (life == Lives.NONE) {
      return;
    }
    int last = table.find(BlockKeys.key(namespace, parent));
    if (last == BlockTable.NONE) {
      refused += count;
      return;
    }
    reserve(count);
    System.arraycopy(hashes, 0, keys, 0, count);
    BlockKeys.fill(namespace, keys, 0, count);
    int taken =
        lives.authorities[life] == 0 ? 0 : appender.append(life, last, keys, 0, count, tier.bit);
    if (taken < count) {
      useAfter(life, namespace, parent, hashes, count, tier);
    }
    limit(life);
  }

  /** Blocks that follow a known one, as a use of the whole chain. */
  private void useAfter(
      int life, long namespace, long parent, long[] hashes, int count, Tier tier) {
    int last = table.find(BlockKeys.key(namespace, parent));
    if (last == BlockTable.NONE) {
      refused += count;
      return;
    }
    int depth = 0;
    for (int block = last; block != BlockTable.NONE; block = table.parent(block)) {
      depth++;
    }
    int end = Math.min(longestChain, depth + count);
    reserve(Math.max(end, depth));
    int at = depth;
    for (int block = last; block != BlockTable.NONE; block = table.parent(block)) {
      keys[--at] = table.key(block);
    }
    System.arraycopy(hashes, 0, keys, depth, Math.max(0, end - depth));
    BlockKeys.fill(namespace, keys, depth, end);
    use(life, depth, end, tier.bit);
  }

  /** Blocks in a row that a holder is known to have, found by the last of them. */
  void storedAgain(long namespace, long hash, int count, long holderId, Tier tier) {
    int life = lives.of(holderId);
    if (life != Lives.NONE) {
      appender.gain(life, BlockKeys.key(namespace, hash), count, tier.bit);
    }
  }

  /** Blocks in a row that a holder no longer keeps in a tier, found by the last of them. */
  void removed(long namespace, long hash, int count, long holderId, Tier tier) {
    int life = lives.of(holderId);
    if (life != Lives.NONE) {
      appender.lose(life, BlockKeys.key(namespace, hash), count, lost(tier));
    }
  }

  private static int lost(Tier tier) {
    return tier == Tier.HBM ? Holding.IN_HBM : tier.bit;
  }

  /** Believes, or no longer, that all is told of what a holder has in a namespace. */
  void authority(long holderId, long namespace) {
    int life = namespace == 0 ? lives.of(holderId) : admit(holderId);
    if (life != Lives.NONE) {
      lives.authority(life, namespace);
    }
  }

  void dispatch(BlockSpeculation speculation) {
    int life = admit(speculation.holderId);
    if (life == Lives.NONE) {
      return;
    }
    use(life, 0, load(speculation.hashes), Holding.CLAIM);
    limit(life);
    dispatches.add(speculation, life);
    if (told(life, speculation.hashes)) {
      dispatches.expire(speculation, now);
    }
  }

  /** Whether the engine itself tells what the life has of such blocks. */
  private boolean told(int life, BlockHashes hashes) {
    return lives.authorities[life] != 0
        && lives.authorities[life] == BlockKeys.namespace(hashes.namespace());
  }

  /**
   * Makes what a dispatch claimed held, unless the holder has begun anew since, or tells of its
   * cache itself.
   */
  void confirm(BlockSpeculation speculation) {
    if (dispatches.current(speculation) && !told(speculation.life, speculation.hashes)) {
      dispatches.remove(speculation);
      use(speculation.life, 0, load(speculation.hashes), Holding.HBM);
      limit(speculation.life);
    }
  }

  /** Takes back what a dispatch claimed, no other one claims, and nobody has stored. */
  void withdraw(BlockSpeculation speculation) {
    if (speculation.over || !dispatches.current(speculation)) {
      return;
    }
    speculation.over = true;
    int life = speculation.life;
    dispatches.remove(speculation);
    int shared = dispatches.shared(speculation);
    int count = load(speculation.hashes);
    for (int i = count - 1; i >= shared; i--) {
      int block = table.find(keys[i]);
      int position = block == BlockTable.NONE ? -1 : sets.find(block, life, 0);
      if (position >= 0) {
        int tiers = Holding.tiers(sets.get(block, position));
        if ((tiers & Holding.CLAIM) != 0) {
          lose(block, position, tiers & ~Holding.CLAIM);
        }
      }
    }
  }

  void removed(long namespace, long[] hashes, long holderId, Tier tier) {
    int life = lives.of(holderId);
    if (life == Lives.NONE) {
      return;
    }
    int lost = lost(tier);
    for (long hash : hashes) {
      int block = table.find(BlockKeys.key(namespace, hash));
      int position = block == BlockTable.NONE ? -1 : sets.find(block, life, 0);
      if (position >= 0) {
        int tiers = Holding.tiers(sets.get(block, position));
        if ((tiers & lost) != 0) {
          lose(block, position, tiers & ~lost);
        }
      }
    }
  }

  void capacity(long holderId, int blocks) {
    int life = admit(holderId);
    if (life != Lives.NONE) {
      lives.capacities[life] = blocks;
      limit(life);
    }
  }

  void drop(long holderId) {
    if (lives.of(holderId) != Lives.NONE || lives.unseen(holderId)) {
      versions.open();
      lives.bury(holderId);
    }
  }

  /** What a holder has is another's from now on, unless that one is over already. */
  void rename(long from, long to) {
    if (from != to && (lives.unseen(to) || lives.of(to) != Lives.NONE)) {
      versions.open();
      lives.rename(from, to);
    }
  }

  void clear(long holderId) {
    int life = lives.of(holderId);
    if (life != Lives.NONE) {
      versions.open();
      int capacity = lives.capacities[life];
      int begun = lives.begin(holderId, now);
      lives.capacities[begun] = capacity;
    }
  }

  List<BlockHolder> holders(long key) {
    List<BlockHolder> found = new ArrayList<>();
    int block = table.find(key);
    int count = block == BlockTable.NONE ? 0 : sets.count(block);
    for (int position = 0; position < count; position++) {
      long holding = sets.get(block, position);
      int life = Holding.life(holding);
      int tiers = Holding.tiers(holding);
      if (lives.current[life] && !Holding.hole(tiers)) {
        int age = now - uses.tick(Holding.use(holding));
        found.add(BlockCore.holder(lives.holders[life], tiers, age));
      }
    }
    return found;
  }

  /** Evicts the oldest holdings, as many as asked. */
  void evict(int count) {
    for (int i = 0; i < count && evictOldest(); i++) {}
  }

  /**
   * A use of a chain by a life: blocks from {@code from} on are held, those above at least hold the
   * chain together.
   */
  private void use(int life, int from, int to, int tiers) {
    if (from >= to) {
      return;
    }
    int use = makeUse();
    if (use == Uses.NONE) {
      refused += to;
      return;
    }
    underWay = use;
    int known = resolve(to);
    long evictions = removals;
    int parent = BlockTable.NONE;
    int position = 0;
    int lastUse = Uses.NONE;
    int displaced = 0;
    int added = 0;
    int unevenAdded = 0;
    int i = 0;
    while (i < to) {
      int gained = i < from ? 0 : tiers;
      int block = i < known && evictions == removals ? path[i] : table.find(keys[i]);
      int found;
      if (block == BlockTable.NONE) {
        settle(lastUse, parent);
        lastUse = Uses.NONE;
        if (table.room() == 0) {
          if (!makeRoom(to - i)) {
            break;
          }
          position = found(parent, life, position);
        }
        versions.open();
        int end = Math.min(i < from ? from : to, i + table.room());
        int uneven = Holding.uneven(gained) ? 1 : 0;
        int last = table.addRow(keys, i, end, parent, Holding.of(life, gained, use), uneven);
        if (last == BlockTable.NONE) {
          break;
        }
        addChild(parent, position);
        added += table.added();
        unevenAdded += uneven * table.added();
        parent = last;
        position = 0;
        i += table.added();
        continue;
      } else if (table.parent(block) == parent) {
        found = sets.find(block, life, position);
      } else {
        break;
      }
      if (found >= 0) {
        long holding = sets.get(block, found);
        int oldUse = Holding.use(holding);
        if (oldUse != lastUse) {
          settle(lastUse, parent);
          lastUse = oldUse;
        }
        sets.set(block, found, Holding.withUse(holding, use));
        gain(block, found, gained);
      } else {
        // Before evictions, which must not find a use without blocks.
        settle(lastUse, parent);
        lastUse = Uses.NONE;
        versions.open();
        found = ~found;
        if (!sets.insert(block, found, Holding.of(life, gained, use))) {
          if (++displaced > MOST_DISPLACED || !evictOldest()) {
            break;
          }
          position = found(parent, life, position);
          continue;
        }
        added++;
        if (Holding.uneven(gained)) {
          unevenAdded++;
          table.changeUneven(block, 1);
        }
        addChild(parent, position);
      }
      parent = block;
      position = found;
      i++;
    }
    settle(lastUse, parent);
    underWay = Uses.NONE;
    refused += to - i;
    counted(life, added, unevenAdded);
    if (parent == BlockTable.NONE) {
      uses.release(use);
      return;
    }
    uses.setTail(use, parent);
    uses.append(lives.hot(life), use);
    long last = sets.get(parent, position);
    if (Holding.hole(Holding.tiers(last)) && Holding.children(last) == 0) {
      remove(parent, position);
    }
  }

  /** Enters holdings in the books, and how many of them are uneven. */
  void counted(int life, int added, int uneven) {
    holdings += added;
    lives.holdings[life] += added;
    lives.uneven[life] += uneven;
    lives.inHbm[life] += added - uneven;
  }

  void addChild(int block, int position) {
    if (block != BlockTable.NONE) {
      sets.set(block, position, Holding.withChild(sets.get(block, position)));
    }
  }

  /** Where the life's holding is now, after evictions that spared it. */
  private int found(int block, int life, int guess) {
    return block == BlockTable.NONE ? 0 : sets.find(block, life, guess);
  }

  /**
   * Finds the blocks of the chain that there are, and puts them into the path.
   *
   * @return how many of the first blocks are there
   */
  private int resolve(int size) {
    long deepest = table.deepest(null, 0, keys, size);
    int block = (int) deepest;
    int known = block == BlockTable.NONE ? 0 : (int) (deepest >>> 32) + 1;
    if (path.length < known) {
      path = new int[keys.length];
    }
    int at = known;
    while (at > 0 && block != BlockTable.NONE) {
      int run = Math.min(at - 1, table.run(block));
      for (int i = 0; i <= run; i++) {
        path[--at] = block - i;
      }
      block = table.parent(block - run);
    }
    // Of hashes that are no chain nothing is known but what each look-up tells.
    boolean chain = at == 0 && block == BlockTable.NONE;
    for (int i = 0; i < known && chain; i++) {
      chain = table.key(path[i]) == keys[i];
    }
    return chain ? known : 0;
  }

  /** Lets an older use go if the last block that it was the last to reach now has a newer one. */
  private void settle(int use, int deepest) {
    if (use != Uses.NONE && uses.tail(use) == deepest) {
      uses.release(use);
    }
  }

  private int makeUse() {
    int use = uses.make(now);
    while (use == Uses.NONE && evictOldest()) {
      use = uses.make(now);
    }
    return use;
  }

  /** Makes room for a block, and if that takes evictions for as many as are to come. */
  boolean makeRoom(int blocks) {
    while (table.room() < blocks && (table.grow() || evictOldest(blocks))) {}
    return table.room() > 0;
  }

  void gain(int block, int position, int gained) {
    long holding = sets.get(block, position);
    int before = Holding.tiers(holding);
    int after = before | gained;
    if ((after & Holding.HBM) != 0) {
      after &= ~Holding.CLAIM;
    }
    if (after != before) {
      change(block, position, holding, before, after);
    }
  }

  /** Takes tiers from a holding, and the holding with the last of them. */
  int lose(int block, int position, int left) {
    long holding = sets.get(block, position);
    if (left == 0 && Holding.children(holding) == 0) {
      return remove(block, position);
    }
    change(block, position, holding, Holding.tiers(holding), left);
    return block;
  }

  private void change(int block, int position, long holding, int before, int after) {
    versions.open();
    int life = Holding.life(holding);
    count(block, life, before, -1);
    count(block, life, after, 1);
    sets.set(block, position, Holding.withTiers(holding, after));
  }

  private void count(int block, int life, int tiers, int change) {
    if (Holding.uneven(tiers)) {
      lives.uneven[life] += change;
      table.changeUneven(block, change);
    } else {
      lives.inHbm[life] += change;
    }
  }

  /**
   * Takes a holding without children away, and the holes above that have no other child.
   *
   * @return the next block above of which the life has a holding left, or none
   */
  private int remove(int block, int position) {
    versions.open();
    int below = block;
    int at = position;
    while (true) {
      long holding = sets.get(below, at);
      int life = Holding.life(holding);
      int use = Holding.use(holding);
      int parent = table.parent(below);
      holdings--;
      lives.holdings[life]--;
      count(below, life, Holding.tiers(holding), -1);
      if (sets.count(below) == 1) {
        table.remove(below);
        removals++;
      } else {
        sets.remove(below, at);
      }
      if (parent == BlockTable.NONE) {
        uses.release(use);
        return BlockTable.NONE;
      }
      at = sets.find(parent, life, at);
      removedAt = at;
      long above = Holding.withoutChild(sets.get(parent, at));
      sets.set(parent, at, above);
      if (Holding.use(above) == use) {
        uses.setTail(use, parent);
      } else {
        uses.release(use);
      }
      if (!Holding.hole(Holding.tiers(above))
          || Holding.children(above) > 0
          || Holding.use(above) == underWay) {
        return parent;
      }
      below = parent;
    }
  }

  /**
   * Takes the holdings of a use away from its tail up, as long as nobody else holds the blocks and
   * another block of the use is left above: the quick way for most of a chain.
   *
   * @param most how many at most
   * @param tiers the tiers that they may be in
   * @return how many they were
   */
  private int removeRow(int life, int use, int most, int tiers) {
    int block = uses.tail(use);
    long holding = sole(block, life, use);
    int removed = 0;
    int uneven = 0;
    boolean whole = true;
    while (whole && removed < most) {
      int last = block;
      int run = Math.min(table.run(last), most - removed - 1);
      int row = 0;
      while (whole && row <= run) {
        int found = Holding.tiers(holding);
        int parent = row < run ? block - 1 : table.parent(block);
        long above = sole(parent, life, use);
        // The last one above its removed child still counts that.
        whole =
            (found & ~tiers) == 0
                && !Holding.hole(found)
                && Holding.children(holding) == (removed + row == 0 ? 0 : 1)
                && !Holding.hole(Holding.tiers(above));
        if (whole) {
          uneven += Holding.uneven(found) ? 1 : 0;
          row++;
          block = parent;
          holding = above;
        }
      }
      if (row > 0) {
        versions.open();
        table.removeRow(last, row);
        removed += row;
      }
    }
    if (removed > 0) {
      sets.set(block, 0, Holding.withoutChild(sets.get(block, 0)));
      uses.setTail(use, block);
      removals += removed;
      holdings -= removed;
      lives.holdings[life] -= removed;
      lives.uneven[life] -= uneven;
      lives.inHbm[life] -= removed - uneven;
    }
    return removed;
  }

  /** A block's holding if it is the only one, of that life and by that use; else 0, a hole. */
  private long sole(int block, int life, int use) {
    if (block == BlockTable.NONE || table.count(block) != 1) {
      return 0;
    }
    long holding = sets.get(block, 0);
    return Holding.life(holding) == life && Holding.use(holding) == use ? holding : 0;
  }

  /** Takes what a life holds in HBM beyond its capacity, what was used longest ago first. */
  private void limit(int life) {
    int capacity = lives.capacities[life];
    if (capacity == 0 || lives.authorities[life] != 0) {
      return;
    }
    while (lives.inHbm[life] > capacity) {
      int use = uses.oldest(lives.hot(life));
      if (use == Uses.NONE) {
        return;
      }
      int beyond = lives.inHbm[life] - capacity;
      overCapacity += removeRow(life, use, beyond, Holding.IN_HBM);
      int block = uses.tail(use);
      boolean whole = true;
      while (block != BlockTable.NONE) {
        int position = sets.find(block, life, removedAt);
        long holding = sets.get(block, position);
        if (Holding.use(holding) != use) {
          break;
        }
        int left = block;
        int tiers = Holding.tiers(holding);
        if ((tiers & Holding.IN_HBM) != 0) {
          if (lives.inHbm[life] <= capacity) {
            whole = false;
            break;
          }
          left = lose(block, position, tiers & ~Holding.IN_HBM);
          overCapacity++;
        }
        block = left == block ? table.parent(block) : left;
      }
      if (whole && uses.tail(use) != BlockTable.NONE) {
        uses.append(lives.cold(life), use);
      }
    }
  }

  /** Takes the oldest holding away, of lives that are over before all others. */
  private boolean evictOldest() {
    return evictOldest(1);
  }

  /** As {@link #evictOldest()}, and as many more are likely to follow. */
  private boolean evictOldest(int likely) {
    if (lives.over() != Lives.NONE) {
      reclaim();
      return true;
    }
    int use = victim == Lives.NONE ? Uses.NONE : lives.oldestUse(victim);
    if (use == Uses.NONE || uses.tick(use) > victimUntil || !lives.current[victim]) {
      use = chooseVictim();
      if (use == Uses.NONE) {
        return false;
      }
    }
    // What is known of it is no longer all that it told.
    lives.authority(victim, 0);
    if (use != shortened && likely > 1) {
      shortened = use;
      evicted += removeRow(victim, use, likely - 1, ANY_TIER);
    }
    takeTail(victim, use);
    evicted++;
    return true;
  }

  /** Finds the life with the oldest use, and until when it stays the one. */
  private int chooseVictim() {
    int oldest = Uses.NONE;
    int until = Integer.MAX_VALUE;
    for (int life = 1; life < lives.end(); life++) {
      int use = lives.current[life] ? lives.oldestUse(life) : Uses.NONE;
      if (use == Uses.NONE) {
        continue;
      }
      if (oldest == Uses.NONE || uses.tick(use) < uses.tick(oldest)) {
        until = oldest == Uses.NONE ? until : uses.tick(oldest);
        oldest = use;
        victim = life;
      } else {
        until = Math.min(until, uses.tick(use));
      }
    }
    victimUntil = until;
    return oldest;
  }

  private void reclaim() {
    int life = lives.over();
    takeTail(life, lives.oldestUse(life));
    if (lives.holdings[life] == 0) {
      lives.releaseOver();
    }
  }

  private void takeTail(int life, int use) {
    int block = uses.tail(use);
    remove(block, sets.find(block, life, removedAt));
  }
}

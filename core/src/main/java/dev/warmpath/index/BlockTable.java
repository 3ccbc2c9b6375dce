package dev.warmpath.index;

import dev.warmpath.hash.BlockHashes;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * The blocks, each a record of four longs and an int, and the hash table that finds them by key.
 *
 * <p>A record is the block's key; its parent's number above its run; its first holding; and where
 * the other holdings are above the next block that its bucket has no slot for. The int is the
 * block's shape: the number of its holdings above that of the uneven ones among them. A block keeps
 * its number for life, so that children can name their parent by it; number 0 is none. The run says
 * how many blocks above it are numbered one after the other: chains are told at once and so mostly
 * get numbers in a row, and what is in a row needs no look-up, and few lines of a cache.
 *
 * <p>A bucket is eight longs: its books, which are how many of its slots are taken above the first
 * block that they have no room for, and seven slots of a block's hash above its number. Nearly
 * always the first slots are enough, which mostly share a line of the processor's caches with the
 * books. The table grows by linear hashing, bucket by bucket as blocks are added, so that no growth
 * is more than a few steps.
 *
 * <p>Readers may read under the writer's hands; what they make of it is theirs to check.
 */
final class BlockTable {
  static final int NONE = 0;

  /** The offsets of a record's longs. */
  static final int KEY = 0;

  static final int LINKS = 1;
  static final int FIRST = 2;
  static final int CHAIN = 3;

  static final int RECORD_SHIFT = 2;

  private static final int MOST_BLOCKS = 1 << 28;
  private static final int COUNT_SHIFT = 16;
  private static final int SHORT = 0xFFFF;
  private static final long LOW_INT = 0xFFFFFFFFL;

  private static final int BUCKET_SHIFT = 3;
  private static final int SLOTS = (1 << BUCKET_SHIFT) - 1;

  /** The slots that are always looked at. */
  private static final int NEAR = 5;

  private static final long ONE_SLOT = 1L << 32;

  /** The blocks of a bucket on average. */
  private static final int LOAD = 3;

  /** How many blocks without a slot a reader follows who is not alone. */
  private static final int LONGEST_CHAIN = 1 << 10;

  /** How many blocks a search for the deepest looks at in one go. */
  private static final int FAN = 16;

  /** How many buckets are fetched at the same time: so many that they don't displace each other. */
  private static final int BATCH = 32;

  /** What as good as never comes of buckets, but keeps them from not being read at all. */
  private static final long NEVER = 0x5DEECE66DB5026F5L;

  private static final VarHandle GENERATION;

  static {
    try {
      GENERATION = MethodHandles.lookup().findVarHandle(BlockTable.class, "generation", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final PageBudget.Share budget;
  private final LongPages records;
  private final IntPages shapes;
  private final LongPages buckets;
  private int bucketCount;
  private int blocks;
  private int unused;
  private int free;
  private int freeCount;
  private int added;

  /** Grows before what a block took up may be another's; see {@link #generation}. */
  private int generation;

  /** Where the buckets begin that were fetched last. */
  private final int[] starts = new int[BATCH];

  /** Keeps what was only fetched from being optimized away. */
  long fetched;

  /**
   * Creates an empty table.
   *
   * @param pageShift the binary logarithm of the longs of a page
   */
  BlockTable(PageBudget.Share budget, int pageShift) {
    this.budget = budget;
    this.records = new LongPages(pageShift);
    this.shapes = new IntPages(pageShift - RECORD_SHIFT);
    this.buckets = new LongPages(pageShift);
    grow();
    budget.take(buckets.pageBytes());
    buckets.grow();
    bucketCount = buckets.size() >> BUCKET_SHIFT;
    unused = 1;
  }

  int blocks() {
    return blocks;
  }

  /** One more than the largest number of a block. */
  int end() {
    return unused;
  }

  /** How many blocks there is room for without another page. */
  int room() {
    return freeCount + shapes.size() - unused;
  }

  /** Adds a page of records if the budget allows for it. */
  boolean grow() {
    if (shapes.size() >= MOST_BLOCKS || !budget.take(records.pageBytes() + shapes.pageBytes())) {
      return false;
    }
    records.grow();
    shapes.grow();
    return true;
  }

  /** The page with a block's record, for {@link #at}. */
  long[] page(int block) {
    return records.page(block << RECORD_SHIFT);
  }

  /** Where in its page a block's record begins. */
  int at(int block) {
    return block << RECORD_SHIFT & records.mask;
  }

  long key(int block) {
    return records.get(block << RECORD_SHIFT);
  }

  int parent(int block) {
    return (int) (records.get((block << RECORD_SHIFT) + LINKS) >>> 32);
  }

  /** How many blocks above a block have the numbers before it; there may be more. */
  int run(int block) {
    return (int) records.get((block << RECORD_SHIFT) + LINKS) & SHORT;
  }

  int others(int block) {
    return (int) (records.get((block << RECORD_SHIFT) + CHAIN) >>> 32);
  }

  void setOthers(int block, int address) {
    int at = (block << RECORD_SHIFT) + CHAIN;
    records.set(at, (records.get(at) & LOW_INT) | (long) address << 32);
  }

  int count(int block) {
    return shapes.get(block) >>> COUNT_SHIFT;
  }

  int uneven(int block) {
    return shapes.get(block) & SHORT;
  }

  void changeCount(int block, int change) {
    shapes.set(block, shapes.get(block) + (change << COUNT_SHIFT));
  }

  void changeUneven(int block, int change) {
    shapes.set(block, shapes.get(block) + change);
  }

  /**
   * Finds the nearest block above one with more holdings, of those numbered in a row.
   *
   * @param run how many blocks above are numbered in a row
   * @return the block, or the complement of the last that was looked at
   */
  int moreHoldings(int block, int run) {
    int count = count(block);
    int low = 0;
    int high = 1;
    while (high <= run && count(block - high) == count) {
      low = high;
      high <<= 1;
    }
    if (high > run) {
      if (low == run || count(block - run) == count) {
        return ~(block - run);
      }
      high = run;
    }
    // At low there are as many, at high more.
    while (high - low > 1) {
      int middle = (low + high) >>> 1;
      if (count(block - middle) == count) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return block - high;
  }

  /**
   * Finds a block.
   *
   * @return the block or {@link #NONE}
   */
  int find(long key) {
    int hash = hash(key);
    int start = bucket(hash) << BUCKET_SHIFT;
    long[] page = buckets.page(start);
    int at = start & buckets.mask;
    long books = page[at];
    int block = (int) hits(page, at, books, hash);
    if (block > NONE && block < shapes.size() && key(block) == key) {
      return block;
    }
    int spare = (int) books;
    return block == NONE && spare == NONE ? NONE : findRare(key, page, at, spare);
  }

  /** Where several blocks of a bucket have the same hash, or more than it has slots. */
  private int findRare(long key, long[] page, int at, int spare) {
    int hash = hash(key);
    for (int slot = 1; slot <= SLOTS; slot++) {
      long content = page[at + slot];
      int block = (int) content;
      if (block != NONE && (int) (content >>> 32) == hash && key(block) == key) {
        return block;
      }
    }
    int block = spare;
    for (int steps = 0; block != NONE && steps < LONGEST_CHAIN; steps++) {
      if (key(block) == key) {
        return block;
      }
      block = next(block);
    }
    return NONE;
  }

  /**
   * Finds the deepest block of a chain that there is; all before it are there too.
   *
   * <p>Each round looks at some blocks in one go, so that they come from memory at the same time.
   *
   * @param hashes the chain's hashes, or null for its keys
   * @return the block's place in the chain, above its number; 0 for none
   */
  long deepest(@Nullable BlockHashes hashes, long namespace, long[] keys, int size) {
    if (size == 0) {
      return 0;
    }
    int last = find(key(hashes, namespace, keys, size - 1));
    if (last != NONE) {
      return (long) (size - 1) << 32 | last;
    }
    int low = -1;
    int lowBlock = NONE;
    int high = size - 1;
    while (high - low > 1) {
      int stride = Math.max(1, (high - low + FAN - 1) / FAN);
      long touched = 0;
      for (int i = low + stride; i < high; i += stride) {
        touched += touch(key(hashes, namespace, keys, i));
      }
      if (touched == NEVER) {
        Thread.onSpinWait();
      }
      int steps = (high - low - 1) / stride;
      int from = 0;
      int to = steps + 1;
      int fromBlock = lowBlock;
      while (to - from > 1) {
        int middle = (from + to) >>> 1;
        int found = find(key(hashes, namespace, keys, low + middle * stride));
        if (found == NONE) {
          to = middle;
        } else {
          from = middle;
          fromBlock = found;
        }
      }
      high = Math.min(high, low + to * stride);
      low += from * stride;
      lowBlock = fromBlock;
    }
    return low < 0 ? 0 : (long) low << 32 | lowBlock;
  }

  private static long key(@Nullable BlockHashes hashes, long namespace, long[] keys, int position) {
    return hashes == null ? keys[position] : BlockKeys.key(namespace, hashes.bits(position));
  }

  /** Has a key's bucket fetched; the result must be used for something. */
  long touch(long key) {
    int start = bucket(hash(key)) << BUCKET_SHIFT;
    long[] page = buckets.page(start);
    int at = start & buckets.mask;
    return page[at];
  }

  private static int hash(long key) {
    return (int) (key >>> 32);
  }

  private int bucket(int hash) {
    int count = bucketCount;
    int span = Integer.highestOneBit(count);
    int bucket = hash & (span << 1) - 1;
    return bucket < count ? bucket : hash & span - 1;
  }

  /**
   * Adds blocks one below the other, each with the same first holding, for which there must be
   * {@link #room}. Ends before a block that there is already.
   *
   * @return the deepest that was added, or {@link #NONE}
   */
  int addRow(long[] keys, int from, int to, int parent, long holding, int uneven) {
    long inner = Holding.withChild(holding);
    int shape = 1 << COUNT_SHIFT | uneven;
    int above = parent;
    int run = parent == NONE ? 0 : run(parent);
    added = 0;
    for (int i = from; i < to; i++) {
      int at = (i - from) % BATCH;
      if (at == 0) {
        int batch = Math.min(BATCH, to - i);
        makeBuckets(batch);
        fetch(keys, i, 1, batch);
      }
      int block = add(keys[i], starts[at], inner, shape);
      if (block == NONE) {
        break;
      }
      run = above != NONE && above == block - 1 ? Math.min(SHORT, run + 1) : 0;
      page(block)[at(block) + LINKS] = (long) above << 32 | run;
      added++;
      above = block;
    }
    if (added == 0) {
      return NONE;
    }
    page(above)[at(above) + FIRST] = holding;
    return above;
  }

  /** Finds where buckets begin, and has them fetched, all at the same time. */
  private void fetch(long[] keys, int from, int step, int count) {
    long touched = 0;
    int at = from;
    for (int i = 0; i < count; i++) {
      int start = bucket(hash(keys[at])) << BUCKET_SHIFT;
      starts[i] = start;
      touched += buckets.get(start);
      at += step;
    }
    fetched = touched;
  }

  /** How many blocks the last {@link #addRow} added. */
  int added() {
    return added;
  }

  /** Adds a block whose links are yet to be set. */
  private int add(long key, int start, long holding, int shape) {
    int hash = hash(key);
    long[] bucket = buckets.page(start);
    int slots = start & buckets.mask;
    long books = bucket[slots];
    if ((hits(bucket, slots, books, hash) != 0 || (int) books != NONE)
        && findRare(key, bucket, slots, (int) books) != NONE) {
      return NONE;
    }
    boolean reused = free != NONE;
    int block = reused ? free : unused++;
    long[] page = page(block);
    int at = at(block);
    if (reused) {
      freeCount--;
      free = (int) (page[at + LINKS] >>> 32);
    }
    blocks++;
    page[at] = key;
    page[at + FIRST] = holding;
    page[at + CHAIN] = 0;
    // A reader who sees that the block has a holding must see whose.
    VarHandle.storeStoreFence();
    shapes.set(block, shape);
    int used = (int) (books >>> 32);
    if (used < SLOTS) {
      bucket[slots + 1 + used] = (long) hash << 32 | block;
      bucket[slots] = books + ONE_SLOT;
    } else {
      page[at + CHAIN] = books & LOW_INT;
      bucket[slots] = (books & ~LOW_INT) | block;
    }
    return block;
  }

  /**
   * What is in the slots of a bucket that have a hash, laid over each other: without branches, as
   * nobody can predict which slot it is.
   */
  private static long hits(long[] page, int at, long books, int hash) {
    long wanted = Integer.toUnsignedLong(hash);
    long hits = 0;
    for (int slot = 1; slot <= NEAR; slot++) {
      hits |= hit(page[at + slot], wanted);
    }
    if (books >>> 32 > NEAR) {
      for (int slot = NEAR + 1; slot <= SLOTS; slot++) {
        hits |= hit(page[at + slot], wanted);
      }
    }
    return hits;
  }

  /** A slot's content if it has the hash, else 0. */
  private static long hit(long content, long wanted) {
    return content & ((((content >>> 32) ^ wanted) - 1) >> 63);
  }

  private void put(int bucket, int block, int hash) {
    int start = bucket << BUCKET_SHIFT;
    long[] page = buckets.page(start);
    int at = start & buckets.mask;
    long books = page[at];
    int used = (int) (books >>> 32);
    if (used < SLOTS) {
      page[at + 1 + used] = (long) hash << 32 | block;
      page[at] = books + ONE_SLOT;
    } else {
      setNext(block, (int) books);
      page[at] = (books & ~LOW_INT) | block;
    }
  }

  /**
   * A reader's: which generation of blocks and runs this is. Whatever was read between two looks
   * that show the same was not used anew meanwhile.
   */
  int generation() {
    return (int) GENERATION.getAcquire(this);
  }

  /** What was a block's may be another's from now on. */
  void nextGeneration() {
    GENERATION.setOpaque(this, generation + 1);
    VarHandle.fullFence();
  }

  /** Takes a block away whose last holding is taken away. */
  void remove(int block) {
    removeRow(block, 1);
  }

  /** Takes blocks away that are numbered in a row, from the last one up. */
  void removeRow(int tail, int count) {
    nextGeneration();
    int block = tail;
    int left = count;
    while (left > 0) {
      long[] page = page(block);
      int at = at(block);
      int batch = Math.min(Math.min(left, BATCH), (at >> RECORD_SHIFT) + 1);
      fetch(page, at, -(1 << RECORD_SHIFT), batch);
      for (int i = 0; i < batch; i++) {
        take(page[at], starts[i], block);
        page[at] = 0;
        page[at + LINKS] = (long) free << 32;
        shapes.set(block, 0);
        free = block;
        block--;
        at -= 1 << RECORD_SHIFT;
      }
      freeCount += batch;
      blocks -= batch;
      left -= batch;
    }
  }

  private void take(long key, int start, int block) {
    int hash = hash(key);
    long[] page = buckets.page(start);
    int at = start & buckets.mask;
    long books = page[at];
    int slot = slot(page, at, books, (long) hash << 32 | block);
    int spare = (int) books;
    if (slot == 0) {
      takeSpare(page, at, spare, block);
    } else if (spare == NONE) {
      int last = at + (int) (books >>> 32);
      page[at + slot] = page[last];
      page[last] = 0;
      page[at] = books - ONE_SLOT;
    } else {
      page[at + slot] = (long) hash(key(spare)) << 32 | spare;
      page[at] = (books & ~LOW_INT) | next(spare);
    }
  }

  /** The slot of a bucket that has a content, or 0; without branches, as {@link #hits}. */
  private static int slot(long[] page, int at, long books, long wanted) {
    int found = 0;
    for (int slot = 1; slot <= NEAR; slot++) {
      found |= slot & same(page[at + slot], wanted);
    }
    if (books >>> 32 > NEAR) {
      for (int slot = NEAR + 1; slot <= SLOTS; slot++) {
        found |= slot & same(page[at + slot], wanted);
      }
    }
    return found;
  }

  /** All bits if both are the same, else none. */
  private static int same(long content, long wanted) {
    long differs = content ^ wanted;
    return ~(int) ((differs | -differs) >> 63);
  }

  private void takeSpare(long[] page, int at, int spare, int block) {
    if (spare == block) {
      page[at] = (page[at] & ~LOW_INT) | next(block);
      return;
    }
    int before = spare;
    while (next(before) != block) {
      before = next(before);
    }
    setNext(before, next(block));
  }

  private int next(int block) {
    return (int) records.get((block << RECORD_SHIFT) + CHAIN);
  }

  private void setNext(int block, int next) {
    int at = (block << RECORD_SHIFT) + CHAIN;
    records.set(at, (records.get(at) & ~LOW_INT) | next);
  }

  /** Makes buckets for more blocks, as far as the budget allows. */
  private void makeBuckets(int more) {
    while (blocks + more > bucketCount * LOAD && split()) {}
  }

  /** Makes two buckets of the next one in turn. */
  private boolean split() {
    if (bucketCount << BUCKET_SHIFT == buckets.size()) {
      if (bucketCount >= MOST_BLOCKS / LOAD || !budget.take(buckets.pageBytes())) {
        return false;
      }
      buckets.grow();
    }
    int span = Integer.highestOneBit(bucketCount);
    int from = bucketCount - span;
    int start = from << BUCKET_SHIFT;
    long[] page = buckets.page(start);
    int at = start & buckets.mask;
    int chain = (int) page[at];
    int used = (int) (page[at] >>> 32);
    int kept = 0;
    for (int slot = 1; slot <= used; slot++) {
      long content = page[at + slot];
      int hash = (int) (content >>> 32);
      if ((hash & span) == 0) {
        page[at + ++kept] = content;
      } else {
        put(bucketCount, (int) content, hash);
      }
    }
    for (int slot = kept + 1; slot <= used; slot++) {
      page[at + slot] = 0;
    }
    page[at] = (long) kept << 32;
    while (chain != NONE) {
      int next = next(chain);
      int hash = hash(key(chain));
      setNext(chain, NONE);
      put((hash & span) == 0 ? from : bucketCount, chain, hash);
      chain = next;
    }
    bucketCount++;
    return true;
  }
}

package dev.warmpath.index;

/**
 * The blocks, each a record of four longs, and the hash table that finds them by key.
 *
 * <p>A record is the block's key; its parent's number, the number of its holdings and that of the
 * uneven ones among them; its first holding; and where the other holdings are, above the next block
 * of its bucket. A block keeps its number for life, so that children can name their parent by it;
 * number 0 is none. The table grows by linear hashing, bucket by bucket as blocks are added, so
 * that no growth is more than a few steps and the load stays at one.
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
  private static final int PARENT_SHIFT = 32;
  private static final int SHORT = 0xFFFF;
  private static final long LOW_INT = 0xFFFFFFFFL;

  /** The longest chain of a bucket that a reader who is not alone follows. */
  private static final int LONGEST_CHAIN = 1 << 10;

  private final PageBudget.Share budget;
  private final LongPages records;
  private final IntPages buckets;
  private int bucketCount;
  private int blocks;
  private int unused;
  private int free;
  private int freeCount;

  /**
   * Creates an empty table.
   *
   * @param pageShift the binary logarithm of the longs of a page
   */
  BlockTable(PageBudget.Share budget, int pageShift) {
    this.budget = budget;
    this.records = new LongPages(pageShift);
    this.buckets = new IntPages(pageShift + 1);
    grow();
    budget.take(buckets.pageBytes());
    buckets.grow();
    bucketCount = buckets.size();
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
    return freeCount + (records.size() >> RECORD_SHIFT) - unused;
  }

  /** Adds a page of records if the budget allows for it. */
  boolean grow() {
    if (records.size() >>> RECORD_SHIFT >= MOST_BLOCKS || !budget.take(records.pageBytes())) {
      return false;
    }
    records.grow();
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
    return parentOf(links(block));
  }

  long links(int block) {
    return records.get((block << RECORD_SHIFT) + LINKS);
  }

  void setLinks(int block, long links) {
    records.set((block << RECORD_SHIFT) + LINKS, links);
  }

  int others(int block) {
    return (int) (records.get((block << RECORD_SHIFT) + CHAIN) >>> 32);
  }

  void setOthers(int block, int address) {
    int at = (block << RECORD_SHIFT) + CHAIN;
    records.set(at, (records.get(at) & LOW_INT) | (long) address << 32);
  }

  static int parentOf(long links) {
    return (int) (links >>> PARENT_SHIFT);
  }

  static int countOf(long links) {
    return (int) (links >>> COUNT_SHIFT) & SHORT;
  }

  static int unevenOf(long links) {
    return (int) links & SHORT;
  }

  static long withCount(long links, int change) {
    return links + ((long) change << COUNT_SHIFT);
  }

  static long withUneven(long links, int change) {
    return links + change;
  }

  /**
   * Finds a block, at once if it stands where it is guessed to.
   *
   * @return the block or {@link #NONE}
   */
  int find(long key, int guess) {
    int record = guess << RECORD_SHIFT;
    if (guess > 0 && record < records.size() && records.get(record) == key) {
      return guess;
    }
    return find(key);
  }

  int find(long key) {
    int block = buckets.get(bucket(key));
    int steps = 0;
    while (block != NONE) {
      long[] page = page(block);
      int at = at(block);
      if (page[at] == key) {
        return block;
      }
      block = (int) page[at + CHAIN];
      if (++steps > LONGEST_CHAIN) {
        return NONE;
      }
    }
    return NONE;
  }

  private int bucket(long key) {
    int count = bucketCount;
    int hash = (int) (key >>> 32);
    int span = Integer.highestOneBit(count);
    int bucket = hash & (span << 1) - 1;
    return bucket < count ? bucket : hash & span - 1;
  }

  /** Adds a block without holdings, for which there must be {@link #room}, and no such block. */
  int add(long key, int parent) {
    int block;
    if (free != NONE) {
      block = free;
      free = parent(block);
      freeCount--;
    } else {
      block = unused++;
    }
    if (++blocks > bucketCount) {
      split();
    }
    int bucket = bucket(key);
    long[] page = page(block);
    int at = at(block);
    page[at] = key;
    page[at + LINKS] = (long) parent << PARENT_SHIFT;
    page[at + CHAIN] = buckets.get(bucket) & LOW_INT;
    buckets.set(bucket, block);
    return block;
  }

  /** Takes a block away. */
  void remove(int block) {
    long[] page = page(block);
    int at = at(block);
    int bucket = bucket(page[at]);
    int next = (int) page[at + CHAIN];
    int before = buckets.get(bucket);
    if (before == block) {
      buckets.set(bucket, next);
    } else {
      while (true) {
        int link = (before << RECORD_SHIFT) + CHAIN;
        long chain = records.get(link);
        if ((int) chain == block) {
          records.set(link, (chain & ~LOW_INT) | next);
          break;
        }
        before = (int) chain;
      }
    }
    page[at] = 0;
    page[at + LINKS] = (long) free << PARENT_SHIFT;
    page[at + CHAIN] = 0;
    free = block;
    freeCount++;
    blocks--;
  }

  /** Makes two buckets of the next one in turn. */
  private void split() {
    if (bucketCount == buckets.size()) {
      if (bucketCount >= MOST_BLOCKS || !budget.take(buckets.pageBytes())) {
        return;
      }
      buckets.grow();
    }
    int span = Integer.highestOneBit(bucketCount);
    int from = bucketCount - span;
    int low = NONE;
    int high = NONE;
    int block = buckets.get(from);
    while (block != NONE) {
      long[] page = page(block);
      int at = at(block);
      int next = (int) page[at + CHAIN];
      boolean up = ((int) (page[at] >>> 32) & span) != 0;
      page[at + CHAIN] = (page[at + CHAIN] & ~LOW_INT) | (up ? high : low);
      if (up) {
        high = block;
      } else {
        low = block;
      }
      block = next;
    }
    buckets.set(from, low);
    buckets.set(bucketCount, high);
    bucketCount++;
  }
}

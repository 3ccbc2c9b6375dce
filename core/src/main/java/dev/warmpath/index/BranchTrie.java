package dev.warmpath.index;

import dev.warmpath.prompt.ContentKeys;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * Where prompts part, and whether what follows is used again: the statistics by which many clients
 * that never talk to each other come to the same opinion on which part of a prompt makes the place
 * it belongs to. A trie of {@link ContentKeys} that keeps stretches without branches as one node,
 * and statistics only where one ends.
 *
 * <p>It holds no text, and says nothing of who holds a prompt. {@link #walk} takes no lock,
 * allocates nothing and looks at the nodes on the prompt's way only, while updates may come from
 * any thread and don't wait for each other, as those of {@link ByteRadixTree}.
 *
 * <p>Bounded by one budget in bytes, whatever the namespaces: what was used longest ago goes, the
 * deepest first. Of a prompt only the first keys are kept, one for every 64 bytes of the budget.
 * What is forgotten of one conversation costs nothing: where conversations part is used by all of
 * them.
 */
public final class BranchTrie {
  /**
   * Ways that must have been seen to lead on from a place before it counts as a fork: 3. Two may be
   * a question asked once again with a typing error.
   */
  public static final int FAN = 3;

  private static final int MOST_WAITING_UPDATES = 1_024;

  /** Bytes of the budget for each bucket: about a node's. */
  private static final int BYTES_PER_BUCKET = 256;

  private final LongSupplier ticker;
  private final long origin;
  private final BranchWriter writer;
  private final BranchReader reader;
  private final WriteCombiner combiner = new WriteCombiner(MOST_WAITING_UPDATES);

  private BranchTrie(Builder builder) {
    this.ticker = builder.ticker;
    this.origin = ticker.getAsLong();
    BranchTable table =
        new BranchTable((int) Math.min(1 << 28, builder.budgetBytes / BYTES_PER_BUCKET));
    this.writer = new BranchWriter(table, builder.budgetBytes);
    this.reader = new BranchReader(table, writer);
  }

  /** Begins a trie of 4 MB with the system's monotonic clock. */
  public static Builder builder() {
    return new Builder();
  }

  /**
   * Finds a prompt's way. Changes nothing: counting it is {@link #visit}.
   *
   * <p>Beside updates, {@link BranchPath#known} is what it was at one moment of the walk, and each
   * stretch is seen as it was at one moment, the deeper the later. The statistics of different
   * stretches may differ by the updates of that time: they are estimates, and not made to be of one
   * moment.
   *
   * @param keys the prompt
   * @param out is overwritten with the answer; the caller's own
   */
  public void walk(ContentKeys keys, BranchPath out) {
    reader.walk(keys, tick(), out);
  }

  /**
   * Counts a prompt that is about to be sent.
   *
   * @return what to tell of its outcome
   */
  public BranchVisit visit(ContentKeys keys) {
    BranchVisit visit = new BranchVisit(this, keys);
    combiner.submit(() -> visit.counted(writer, tick()));
    return visit;
  }

  void withdraw(BranchVisit visit) {
    combiner.submit(() -> visit.takeBack(writer, tick()));
  }

  void learn(BranchVisit visit, int cachedTokens) {
    combiner.submit(() -> visit.learn(writer, cachedTokens));
  }

  /** Counts what the trie holds, after all updates that were made before. */
  public Stats stats() {
    return combiner.call(() -> writer.stats(combiner.shed()));
  }

  /**
   * Writes what was learned where prompts part, in a form that this version and later ones read.
   * Hashes only, no text.
   *
   * @param out stays open
   */
  public void save(OutputStream out) throws IOException {
    List<BranchNode.Shape> shapes = new ArrayList<>();
    combiner.call(
        () -> {
          writer.forEach(node -> shapes.add(node.shape));
          return shapes.size();
        });
    BranchFile.write(shapes, out);
  }

  /**
   * Reads what {@link #save} wrote and adds it, within the budget.
   *
   * @param in stays open
   * @return how many stretches there were
   * @throws IOException when they can't be read, are damaged, or of a form that is not known;
   *     nothing is added then
   */
  public int load(InputStream in) throws IOException {
    List<BranchNode.Shape> shapes = BranchFile.read(in, writer.longest);
    return combiner.call(
        () -> {
          shapes.forEach(writer::restore);
          return shapes.size();
        });
  }

  private int tick() {
    return Fading.tick(ticker.getAsLong() - origin);
  }

  /**
   * What a trie holds and has let go.
   *
   * @param nodes stretches along which no two prompts part
   * @param bytes what all of it takes up on the heap, at most the budget
   * @param budgetBytes the budget
   * @param evicted nodes that had to make room so far
   * @param shed updates that were lost because too many waited so far
   */
  public record Stats(int nodes, long bytes, long budgetBytes, long evicted, long shed) {}

  /** Collects what a trie needs to know, all of which has a default. Not thread safe. */
  public static final class Builder {
    private static final long SMALLEST_BUDGET = 64 << 10;

    private long budgetBytes = 4 << 20;
    private LongSupplier ticker = System::nanoTime;

    private Builder() {}

    /**
     * Sets how much heap it may take up; 4 MB by default.
     *
     * @throws IllegalArgumentException if that is below 64 KB
     */
    public Builder budgetBytes(long bytes) {
      if (bytes < SMALLEST_BUDGET) {
        throw new IllegalArgumentException("budget below 64 KB: " + bytes);
      }
      budgetBytes = bytes;
      return this;
    }

    /** Sets the clock: monotonic nanoseconds from any origin. */
    public Builder ticker(LongSupplier nanos) {
      ticker = nanos;
      return this;
    }

    /** Builds an empty trie. */
    public BranchTrie build() {
      return new BranchTrie(this);
    }
  }
}

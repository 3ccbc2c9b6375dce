package dev.warmpath.prompt;

import com.dynatrace.hash4j.hashing.HashValue128;
import com.dynatrace.hash4j.hashing.Hasher128;
import com.dynatrace.hash4j.hashing.Hashing;
import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.warmpath.prompt.tokenizer.SegmentVisitor;
import dev.warmpath.prompt.tokenizer.TokenBuffer;
import dev.warmpath.prompt.tokenizer.Tokenizer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Token ids by segment: the stretches of text between added tokens, which are tokenized apart from
 * each other in any case, so that putting cached segments together is the same as tokenizing the
 * whole ({@link Tokenizer#cut}). Found by a 128-bit hash and confirmed by comparing the bytes,
 * since these ids may become what a model reads.
 *
 * <p>Bounded in bytes; W-TinyLFU decides what stays. Safe for any number of threads.
 */
final class SegmentCache {
  private static final Hasher128 HASHER = Hashing.xxh3_128();
  private static final int ENTRY_BYTES = 200;

  /**
   * Where a segment is looked up.
   *
   * @param high the upper half of its hash
   * @param low the lower half
   * @param tokenizer the tokenizer's number
   * @param first whether it stands at the start of a text, where that matters
   */
  private record Key(long high, long low, int tokenizer, boolean first) {
    @Override
    public int hashCode() {
      return Long.hashCode(low) * 31 + tokenizer;
    }
  }

  private record Segment(byte[] text, int[] ids) {}

  /**
   * A text cut into segments and encoded.
   *
   * @param tokenizer the tokenizer's number
   * @param segments the ids, segment by segment
   * @param added for each segment whether it is an added token
   * @param high for each segment the upper half of a hash of everything up to its end
   * @param low the lower half
   */
  record Encoded(int tokenizer, TokenSegments segments, boolean[] added, long[] high, long[] low) {
    private static final long[] NONE = {};

    /** Ids of which nothing is remembered at any place. */
    static Encoded apart(TokenSegments segments) {
      return new Encoded(0, segments, new boolean[segments.parts().size()], NONE, NONE);
    }

    /** The same with ids behind it that are no text of it. */
    Encoded followedBy(int[] ids) {
      List<int[]> parts = new ArrayList<>(segments.parts());
      boolean[] places = Arrays.copyOf(added, parts.size() + 1);
      places[parts.size()] = false;
      parts.add(ids);
      return new Encoded(
          tokenizer, new TokenSegments(parts, segments.size() + ids.length), places, high, low);
    }
  }

  private final Cache<Key, Segment> cache;
  private final long budgetBytes;

  SegmentCache(long budgetBytes) {
    this.budgetBytes = budgetBytes;
    this.cache =
        Caffeine.newBuilder()
            .maximumWeight(budgetBytes)
            .weigher(
                (Key key, Segment segment) ->
                    ENTRY_BYTES + segment.text().length + Integer.BYTES * segment.ids().length)
            .executor(Runnable::run)
            .recordStats()
            .build();
  }

  /**
   * Cuts and encodes a text.
   *
   * @param before ids to put before it
   * @param after ids to put after it
   */
  Encoded encode(Tokenizer tokenizer, int tokenizerNumber, byte[] utf8, int[] before, int[] after) {
    Encoder encoder = new Encoder(tokenizer, tokenizerNumber, utf8);
    for (int id : before) {
      encoder.added(0, 0, id);
    }
    tokenizer.cut(utf8, 0, utf8.length, encoder);
    for (int id : after) {
      encoder.added(0, 0, id);
    }
    return encoder.finish();
  }

  /** Bytes that entries may take. */
  long budgetBytes() {
    return budgetBytes;
  }

  /** Bytes that entries take, by estimate. */
  long bytes() {
    return cache.policy().eviction().map(e -> e.weightedSize().orElse(0)).orElse(0L);
  }

  /** The share of look-ups that found their segment; 1 before the first. */
  double hitRate() {
    return cache.stats().hitRate();
  }

  private final class Encoder implements SegmentVisitor {
    private final Tokenizer tokenizer;
    private final int number;
    private final boolean positionSensitive;
    private final byte[] utf8;
    private final List<int[]> parts = new ArrayList<>();
    private boolean[] added = new boolean[64];
    private long[] high = new long[64];
    private long[] low = new long[64];
    private long runningHigh;
    private long runningLow;
    private int size;
    private @Nullable TokenBuffer buffer;

    Encoder(Tokenizer tokenizer, int number, byte[] utf8) {
      this.tokenizer = tokenizer;
      this.number = number;
      this.positionSensitive = tokenizer.positionSensitive();
      this.utf8 = utf8;
    }

    @Override
    public void text(int from, int to, boolean first) {
      HashValue128 hash = HASHER.hashBytesTo128Bits(utf8, from, to - from);
      long upper = hash.getMostSignificantBits();
      long lower = hash.getLeastSignificantBits();
      boolean atStart = first && positionSensitive;
      Key key = new Key(upper, lower, number, atStart);
      Segment segment = cache.getIfPresent(key);
      if (segment == null
          || !Arrays.equals(segment.text(), 0, segment.text().length, utf8, from, to)) {
        segment = new Segment(Arrays.copyOfRange(utf8, from, to), encodeSegment(from, to, first));
        cache.put(key, segment);
      }
      // The same text at the start may have other tokens, and so other blocks.
      append(segment.ids(), false, atStart ? ~upper : upper, lower);
    }

    @Override
    public void added(int from, int to, int id) {
      append(new int[] {id}, true, ~(long) id, id);
    }

    private int[] encodeSegment(int from, int to, boolean first) {
      TokenBuffer out = buffer;
      if (out == null) {
        out = new TokenBuffer((to - from) / 3 + 16);
        buffer = out;
      }
      out.clear();
      tokenizer.encodeSegment(utf8, from, to, first, out);
      return out.toArray();
    }

    private void append(int[] ids, boolean isAdded, long upper, long lower) {
      int at = parts.size();
      if (at == high.length) {
        added = Arrays.copyOf(added, 2 * at);
        high = Arrays.copyOf(high, 2 * at);
        low = Arrays.copyOf(low, 2 * at);
      }
      parts.add(ids);
      size += ids.length;
      long a = runningHigh ^ upper;
      long b = runningLow ^ lower;
      runningHigh = fold(a ^ 0x9e3779b97f4a7c15L, b ^ 0xd1b54a32d192ed03L) + lower;
      runningLow = fold(a ^ 0x8cb92ba72f3d8dd7L, Long.rotateLeft(b, 32) ^ 0xaaaaaaaaaaaaaaabL) ^ a;
      added[at] = isAdded;
      high[at] = runningHigh;
      low[at] = runningLow;
    }

    Encoded finish() {
      return new Encoded(number, new TokenSegments(parts, size), added, high, low);
    }
  }

  private static long fold(long a, long b) {
    return a * b ^ Math.multiplyHigh(a, b);
  }
}

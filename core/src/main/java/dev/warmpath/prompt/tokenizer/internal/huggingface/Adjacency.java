package dev.warmpath.prompt.tokenizer.internal.huggingface;

import dev.warmpath.prompt.tokenizer.internal.unicode.Utf8;
import java.util.BitSet;

/**
 * Which characters stand side by side in what merges can make. Between two that never do, no merge
 * reaches across, so a word may be cut there and its parts encoded on their own: for texts without
 * spaces that turns long words, seldom seen again, into short ones that are tokens or in the memo.
 *
 * <p>A byte-level token may begin or end within a character; what it holds of that character then
 * stands for all characters that end or begin so.
 *
 * <p>Pairs of whole characters are in a Bloom filter: a false answer costs a cut that would have
 * been possible, and a look-up is one load without a branch that can't be predicted.
 */
final class Adjacency {
  private static final int ASCII = 128;

  /** Marks a part of a character: up to three bytes, in the lower bits. */
  private static final int PARTIAL = 1 << 30;

  private static final int FILTER_BITS_PER_PAIR = 16;

  private final boolean[] ascii = new boolean[ASCII * ASCII];
  private final long[] filter;
  private final int filterShift;

  /** Pairs in which there is a part of a character; 0 is empty. */
  private long[] partial = new long[64];

  private int partialCount;

  /** Characters of the basic plane of which, or next to which, parts may be joined to others. */
  private final long[] brittle = new long[(Character.MAX_VALUE + 1) >>> 6];

  private Adjacency(int pairs) {
    long bits = Math.max(1 << 12, Long.highestOneBit((long) pairs * FILTER_BITS_PER_PAIR) * 2);
    filter = new long[(int) (bits >>> 6)];
    filterShift = 64 - Long.numberOfTrailingZeros(bits);
  }

  /** The pairs in all results of merges. */
  static Adjacency of(Vocabulary vocabulary, Merges merges) {
    // About two characters of most tokens of several are a pair that no other token has.
    Adjacency adjacency = new Adjacency(merges.count() / 4);
    BitSet seen = new BitSet(vocabulary.size());
    for (int rank = 0; rank < merges.count(); rank++) {
      int id = merges.result(rank);
      if (!seen.get(id)) {
        seen.set(id);
        adjacency.addToken(vocabulary.bytes(id));
      }
    }
    adjacency.markEndings();
    return adjacency;
  }

  /** Whether a merge may reach across the boundary between two characters. */
  boolean occurs(int left, int right) {
    if ((left | right) < ASCII) {
      return ascii[left * ASCII + right];
    }
    long hash = hash(left, right) >>> filterShift;
    return (filter[(int) (hash >>> 6)] >>> hash & 1) != 0
        || ((isBrittle(left) || isBrittle(right)) && occursInPart(left, right));
  }

  private boolean occursInPart(int left, int right) {
    int leftWidth = width(left);
    int rightWidth = width(right);
    for (int ending = leftWidth; ending > 0; ending--) {
      for (int beginning = rightWidth; beginning > 0; beginning--) {
        int x = ending == leftWidth ? left : ending(left, ending);
        int y = beginning == rightWidth ? right : beginning(right, beginning);
        if (containsPartial(x, y)) {
          return true;
        }
      }
    }
    return false;
  }

  private boolean isBrittle(int codePoint) {
    return codePoint > Character.MAX_VALUE || (brittle[codePoint >>> 6] >>> codePoint & 1) != 0;
  }

  private void addToken(byte[] token) {
    int start = 0;
    while (start < token.length && token[start] < (byte) 0xC0) {
      start++;
    }
    int end = token.length - Utf8.incompleteTail(token, start, token.length);
    if (start > 3 || Utf8.firstMalformed(token, start, end) < end) {
      // In no text, so neither are the pairs in it.
      return;
    }
    int last = start == 0 ? -1 : PARTIAL | bits(token, 0, start);
    for (int at = start; at < token.length; ) {
      int part;
      if (at < end) {
        part = Utf8.codePointAt(token, at);
        at += Utf8.width(token[at]);
      } else {
        part = PARTIAL | bits(token, end, token.length - end);
        at = token.length;
      }
      if (last >= 0) {
        add(last, part);
      }
      last = part;
    }
  }

  private void add(int left, int right) {
    if (left < ASCII && right < ASCII) {
      ascii[left * ASCII + right] = true;
      return;
    }
    if (right >= PARTIAL) {
      mark(left);
    }
    if (left >= PARTIAL) {
      mark(right);
    }
    if (left < PARTIAL && right < PARTIAL) {
      long hash = hash(left, right) >>> filterShift;
      filter[(int) (hash >>> 6)] |= 1L << hash;
      return;
    }
    if (containsPartial(left, right)) {
      return;
    }
    if (++partialCount * 2 > partial.length) {
      long[] old = partial;
      partial = new long[old.length * 2];
      for (long key : old) {
        if (key != 0) {
          insert(key);
        }
      }
    }
    insert(key(left, right));
  }

  private void mark(int codePoint) {
    if (codePoint <= Character.MAX_VALUE) {
      brittle[codePoint >>> 6] |= 1L << codePoint;
    }
  }

  /** Marks the characters with endings that are joined to beginnings. */
  private void markEndings() {
    BitSet endings = new BitSet();
    for (long key : partial) {
      int left = (int) (key >>> 32);
      if (left >= PARTIAL && (int) key >= PARTIAL) {
        endings.set(left - PARTIAL);
      }
    }
    if (endings.isEmpty()) {
      return;
    }
    for (int c = ASCII; c <= Character.MAX_VALUE; c++) {
      for (int length = width(c) - 1; length > 0; length--) {
        if (endings.get(ending(c, length) - PARTIAL)) {
          mark(c);
        }
      }
    }
  }

  private static int bits(byte[] bytes, int from, int length) {
    int bits = 0;
    for (int i = 0; i < length; i++) {
      bits = bits << 8 | (bytes[from + i] & 0xFF);
    }
    return bits;
  }

  private static int width(int codePoint) {
    return codePoint < ASCII ? 1 : codePoint < 0x800 ? 2 : codePoint < 0x10000 ? 3 : 4;
  }

  /** The byte of a character's UTF-8 form, counted from its end. */
  private static int byteFromEnd(int codePoint, int index) {
    int width = width(codePoint);
    int bits = codePoint >>> (6 * index);
    if (index < width - 1) {
      return 0x80 | (bits & 0x3F);
    }
    return width == 1 ? bits : (0xF00 >>> width & 0xFF) | bits;
  }

  private static int ending(int codePoint, int length) {
    int bits = 0;
    for (int i = length - 1; i >= 0; i--) {
      bits = bits << 8 | byteFromEnd(codePoint, i);
    }
    return PARTIAL | bits;
  }

  private static int beginning(int codePoint, int length) {
    int width = width(codePoint);
    int bits = 0;
    for (int i = width - 1; i >= width - length; i--) {
      bits = bits << 8 | byteFromEnd(codePoint, i);
    }
    return PARTIAL | bits;
  }

  private boolean containsPartial(int left, int right) {
    long key = key(left, right);
    int slot = slot(key);
    while (partial[slot] != 0) {
      if (partial[slot] == key) {
        return true;
      }
      slot = slot + 1 & partial.length - 1;
    }
    return false;
  }

  private void insert(long key) {
    int slot = slot(key);
    while (partial[slot] != 0) {
      slot = slot + 1 & partial.length - 1;
    }
    partial[slot] = key;
  }

  private static long key(int left, int right) {
    return (long) left << 32 | right;
  }

  private static long hash(int left, int right) {
    return key(left, right) * 0x9E3779B97F4A7C15L;
  }

  private int slot(long key) {
    return (int) ((key * 0x9E3779B97F4A7C15L) >>> 40) & partial.length - 1;
  }
}

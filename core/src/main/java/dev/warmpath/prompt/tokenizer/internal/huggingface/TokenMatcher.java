package dev.warmpath.prompt.tokenizer.internal.huggingface;

import dev.warmpath.prompt.tokenizer.AddedToken;
import dev.warmpath.prompt.tokenizer.SegmentVisitor;
import dev.warmpath.prompt.tokenizer.internal.unicode.CodePoints;
import dev.warmpath.prompt.tokenizer.internal.unicode.Utf8;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Finds added tokens in a text: from left to right, the longest at each place, not overlapping. A
 * trie over bytes whose edges are in one hash table. Where all tokens begin with one of few bytes,
 * as most do, text without such a byte is passed over eight bytes at a time.
 */
final class TokenMatcher {
  /** First bytes up to which a word-wide search for each of them beats a look-up for each byte. */
  private static final int FEW = 4;

  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final long LOW_BITS = 0x0101010101010101L;
  private static final long HIGH_BITS = 0x8080808080808080L;

  private final boolean[] begins = new boolean[256];

  /** The bytes that begin tokens, each eight times over and the last repeated; null if many. */
  private final long @Nullable [] firsts;

  /** Pairs of bytes that begin tokens; a token of one byte has all pairs with it. */
  private final long[] pairs = new long[1 << 10];

  private final AddedToken[] tokens;
  private final boolean skipSpecial;

  /** Edges: node and byte in the upper bits, the child in the lower 24; 0 is empty. */
  private long[] edges = new long[64];

  private int edgeCount;

  /** For each node the index of the token that ends there, or -1; node 0 is the root. */
  private int[] ending = new int[64];

  private int nodes = 1;

  /**
   * A matcher.
   *
   * @param contents what to look for, in UTF-8
   * @param tokens the token of each
   * @param skipSpecial whether special tokens are passed over as plain text
   */
  TokenMatcher(List<byte[]> contents, List<AddedToken> tokens, boolean skipSpecial) {
    this.tokens = tokens.toArray(AddedToken[]::new);
    this.skipSpecial = skipSpecial;
    Arrays.fill(ending, -1);
    for (int i = 0; i < this.tokens.length; i++) {
      int node = 0;
      for (byte b : contents.get(i)) {
        node = childOrNew(node, b & 0xFF);
      }
      markBeginning(contents.get(i));
      // Of tokens that look the same in their normalized form, the first counts.
      if (ending[node] < 0) {
        ending[node] = i;
      }
    }
    firsts = firsts();
  }

  private void markBeginning(byte[] content) {
    int first = content[0] & 0xFF;
    begins[first] = true;
    int pair = first << 8;
    if (content.length > 1) {
      pair |= content[1] & 0xFF;
      pairs[pair >>> 6] |= 1L << pair;
    } else {
      Arrays.fill(pairs, pair >>> 6, (pair >>> 6) + 4, -1);
    }
  }

  private long @Nullable [] firsts() {
    long[] found = new long[FEW];
    int count = 0;
    for (int b = 0; b < begins.length; b++) {
      if (begins[b]) {
        if (count == FEW) {
          return null;
        }
        found[count++] = b * LOW_BITS;
      }
    }
    if (count == 0) {
      return null;
    }
    Arrays.fill(found, count, FEW, found[count - 1]);
    return count == 1 ? new long[] {found[0]} : found;
  }

  boolean isEmpty() {
    return tokens.length == 0;
  }

  /** Gives the text's segments to the visitor; {@code first} is that of the text as a whole. */
  void cut(byte[] utf8, int from, int to, boolean first, SegmentVisitor visitor) {
    int start = from;
    int at = from;
    while (true) {
      at = nextBeginning(utf8, at, to);
      if (at == to) {
        break;
      }
      long match = longest(utf8, at, to);
      if (match < 0) {
        at++;
        continue;
      }
      int end = (int) (match >>> 32);
      AddedToken token = tokens[(int) match];
      if ((skipSpecial && token.special())
          || (token.singleWord() && !standsAlone(utf8, from, at, end, to))) {
        at = end;
        continue;
      }
      int tokenStart = token.leftStrip() ? Math.max(start, skipBack(utf8, from, at)) : at;
      int tokenEnd = token.rightStrip() ? skipAhead(utf8, end, to) : end;
      if (start < tokenStart) {
        visitor.text(start, tokenStart, first && start == from);
      }
      // White space that the token before has swallowed leaves nothing of this one.
      if (tokenStart < tokenEnd) {
        visitor.added(tokenStart, tokenEnd, token.id());
      }
      start = tokenEnd;
      at = end;
    }
    if (start != to) {
      visitor.text(start, to, first && start == from);
    }
  }

  /** The next place where the first two bytes of a token are, or {@code to}. */
  private int nextBeginning(byte[] utf8, int from, int to) {
    int at = from;
    while (true) {
      at = nextFirst(utf8, at, to);
      if (at + 1 >= to) {
        return at;
      }
      int pair = (utf8[at] & 0xFF) << 8 | (utf8[at + 1] & 0xFF);
      if ((pairs[pair >>> 6] >>> pair & 1) != 0) {
        return at;
      }
      at++;
    }
  }

  /** The next place where the first byte of a token is, or {@code to}. */
  private int nextFirst(byte[] utf8, int from, int to) {
    long[] wanted = firsts;
    int at = from;
    if (wanted != null) {
      at = wanted.length == 1 ? skip(utf8, at, to, wanted[0]) : skip(utf8, at, to, wanted);
    }
    while (at < to && !begins[utf8[at] & 0xFF]) {
      at++;
    }
    return at;
  }

  /** The next place of a byte, or one near {@code to} before which it is not. */
  private static int skip(byte[] utf8, int from, int to, long wanted) {
    int at = from;
    for (; at <= to - 16; at += 16) {
      long found =
          zeros((long) LONG.get(utf8, at) ^ wanted) | zeros((long) LONG.get(utf8, at + 8) ^ wanted);
      if (found != 0) {
        long first = zeros((long) LONG.get(utf8, at) ^ wanted);
        return first != 0
            ? at + (Long.numberOfTrailingZeros(first) >>> 3)
            : at + 8 + (Long.numberOfTrailingZeros(found) >>> 3);
      }
    }
    return at;
  }

  /** As above for one of four bytes. */
  private static int skip(byte[] utf8, int from, int to, long[] wanted) {
    long first = wanted[0];
    long second = wanted[1];
    long third = wanted[2];
    long fourth = wanted[3];
    int at = from;
    for (; at <= to - 8; at += 8) {
      long bytes = (long) LONG.get(utf8, at);
      long found =
          zeros(bytes ^ first)
              | zeros(bytes ^ second)
              | zeros(bytes ^ third)
              | zeros(bytes ^ fourth);
      if (found != 0) {
        return at + (Long.numberOfTrailingZeros(found) >>> 3);
      }
    }
    return at;
  }

  /** Not zero if a byte is; the lowest bit that is set stands in the first such byte. */
  private static long zeros(long bytes) {
    return (bytes - LOW_BITS) & ~bytes & HIGH_BITS;
  }

  /** The end of the longest token at a place in the upper half, its index in the lower; or -1. */
  private long longest(byte[] utf8, int from, int to) {
    long found = -1;
    int node = 0;
    for (int at = from; at < to; at++) {
      node = child(node, utf8[at] & 0xFF);
      if (node == 0) {
        break;
      }
      if (ending[node] >= 0) {
        found = (long) (at + 1) << 32 | ending[node];
      }
    }
    return found;
  }

  private static boolean standsAlone(byte[] utf8, int from, int start, int end, int to) {
    return (start == from
            || !CodePoints.isWord(
                Utf8.lenientCodePointAt(utf8, Utf8.previous(utf8, from, start), to)))
        && (end == to || !CodePoints.isWord(Utf8.lenientCodePointAt(utf8, end, to)));
  }

  private static int skipBack(byte[] utf8, int from, int end) {
    int at = end;
    while (at > from) {
      int previous = Utf8.previous(utf8, from, at);
      if (!CodePoints.isSpace(Utf8.lenientCodePointAt(utf8, previous, at))) {
        break;
      }
      at = previous;
    }
    return at;
  }

  private static int skipAhead(byte[] utf8, int from, int to) {
    int at = from;
    while (at < to && CodePoints.isSpace(Utf8.lenientCodePointAt(utf8, at, to))) {
      at += Utf8.width(utf8[at]);
    }
    return at;
  }

  private int child(int node, int b) {
    long key = (long) node << 8 | b;
    int slot = slot(key);
    while (edges[slot] != 0) {
      if (edges[slot] >>> 24 == key) {
        return (int) edges[slot] & 0xFFFFFF;
      }
      slot = slot + 1 & edges.length - 1;
    }
    return 0;
  }

  private int childOrNew(int node, int b) {
    int known = child(node, b);
    if (known != 0) {
      return known;
    }
    if (++edgeCount * 2 > edges.length) {
      long[] old = edges;
      edges = new long[old.length * 2];
      for (long edge : old) {
        if (edge != 0) {
          insert(edge);
        }
      }
    }
    if (nodes == ending.length) {
      ending = Arrays.copyOf(ending, nodes * 2);
      Arrays.fill(ending, nodes, ending.length, -1);
    }
    insert(((long) node << 8 | b) << 24 | nodes);
    return nodes++;
  }

  private void insert(long edge) {
    int slot = slot(edge >>> 24);
    while (edges[slot] != 0) {
      slot = slot + 1 & edges.length - 1;
    }
    edges[slot] = edge;
  }

  private int slot(long key) {
    return (int) ((key * 0x9E3779B97F4A7C15L) >>> 36) & edges.length - 1;
  }
}

package dev.warmpath.prompt.tokenizer.internal.huggingface;

import dev.warmpath.prompt.tokenizer.internal.unicode.Bytes;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The model's vocabulary: tokens as bytes, found by bytes or by id.
 *
 * <p>Two open-addressing tables hold the tokens. One of up to seven bytes is its own key, a {@code
 * long} with the length in the top byte; a longer one is found by a 64-bit hash and confirmed by
 * its bytes. Key and value lie side by side, so that a look-up costs one cache line (and one for
 * the bytes of a long token). The value carries, besides the id and the place of the bytes, a
 * lazily found fact: whether merging the token's bytes gives the token itself, which is what makes
 * a hit the answer.
 *
 * <p>In a byte-level vocabulary the tokens are stored as the bytes that they stand for. Tokens that
 * leave the byte-level alphabet can't come out of a merge; they are kept apart.
 */
final class Vocabulary {
  /** Greatest id plus one; pairs of ids and a rank must fit into a {@code long}. */
  static final int MAX_SIZE = (1 << 20) - 1;

  static final int UNKNOWN = 0;
  static final int CANONICAL = 1;
  static final int MERGED_OTHERWISE = 2;

  /**
   * A value, from its lowest bit: id, state plus one, length (0 if too long), start of the bytes.
   */
  private static final int ID_BITS = 20;

  private static final int ID_MASK = (1 << ID_BITS) - 1;
  private static final int STATE_MASK = 3;
  private static final int LENGTH_SHIFT = ID_BITS + 2;
  private static final int MAX_LENGTH = -1 >>> LENGTH_SHIFT;

  private static final int SHORT = 7;
  private static final long MULTIPLIER = 0x9E3779B97F4A7C15L;
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private final byte[] arena;
  private final int[] starts;
  private final int[] ends;
  private final boolean byteLevel;

  /** Tokens outside the byte-level alphabet, in UTF-8; empty if there is no such alphabet. */
  private final Map<String, Integer> foreign;

  private final long[] shortTable;
  private final int shortShift;
  private final long[] longTable;
  private final int longShift;
  private final int count;

  private Vocabulary(Builder builder, boolean byteLevel) {
    this.byteLevel = byteLevel;
    int size = 0;
    for (int i = 0; i < builder.count; i++) {
      size = Math.max(size, builder.ids[i] + 1);
    }
    starts = new int[size];
    ends = new int[size];
    Arrays.fill(starts, -1);
    foreign = new HashMap<>();
    Bytes bytes = new Bytes(builder.text.size());
    byte[] text = builder.text.array();
    int shortTokens = 0;
    for (int i = 0; i < builder.count; i++) {
      int id = builder.ids[i];
      int from = builder.ends[i];
      int to = builder.ends[i + 1];
      byte[] raw = byteLevel ? ByteLevel.toBytes(text, from, to) : null;
      starts[id] = bytes.size();
      if (raw != null) {
        bytes.append(raw);
      } else {
        bytes.append(text, from, to);
      }
      ends[id] = bytes.size();
      shortTokens += ends[id] - starts[id] <= SHORT ? 1 : 0;
      if (byteLevel && raw == null) {
        foreign.put(new String(text, from, to - from, StandardCharsets.UTF_8), id);
      }
    }
    arena = bytes.toByteArray();
    shortTable = new long[tableSize(shortTokens)];
    shortShift = shift(shortTable);
    longTable = new long[tableSize(builder.count - shortTokens)];
    longShift = shift(longTable);
    int distinct = foreign.size();
    Set<Integer> foreignIds = new HashSet<>(foreign.values());
    for (int i = 0; i < builder.count; i++) {
      int id = builder.ids[i];
      if (!foreignIds.contains(id) && put(starts[id], ends[id], id)) {
        distinct++;
      }
    }
    count = distinct;
  }

  /** Collects tokens in their written form. */
  static final class Builder {
    private final Bytes text = new Bytes(1 << 16);
    private int[] ends = new int[1 << 12];
    private int[] ids = new int[1 << 12];
    private int count;

    /** Adds a token; a later one with the same form replaces an earlier one. */
    void add(char[] chars, int from, int length, int id) {
      if (count + 1 == ends.length) {
        ends = Arrays.copyOf(ends, ends.length * 2);
        ids = Arrays.copyOf(ids, ids.length * 2);
      }
      appendUtf8(text, chars, from, length);
      ids[count++] = id;
      ends[count] = text.size();
    }

    Vocabulary build(boolean byteLevel) {
      return new Vocabulary(this, byteLevel);
    }
  }

  /** Appends UTF-16 text as UTF-8. */
  static void appendUtf8(Bytes out, char[] chars, int from, int length) {
    for (int i = from; i < from + length; i++) {
      char c = chars[i];
      if (c < 0x80) {
        out.append(c);
      } else if (!Character.isSurrogate(c)) {
        out.appendCodePoint(c);
      } else {
        int codePoint = Character.codePointAt(chars, i, from + length);
        out.appendCodePoint(codePoint <= 0xFFFF ? 0xFFFD : codePoint);
        i += Character.charCount(codePoint) - 1;
      }
    }
  }

  /** Whether tokens are stored as the bytes that they stand for. */
  boolean isByteLevel() {
    return byteLevel;
  }

  /** Number of tokens. */
  int count() {
    return count;
  }

  /** Greatest id plus one. */
  int size() {
    return starts.length;
  }

  /** Whether there is a token with this id. */
  boolean contains(int id) {
    return id >= 0 && id < starts.length && starts[id] >= 0;
  }

  /** The bytes of a token as stored. */
  byte[] bytes(int id) {
    return Arrays.copyOfRange(arena, starts[id], ends[id]);
  }

  /** Passes a token's bytes on; gives the text that is certain with them. */
  String appendTo(StreamingUtf8 utf8, int id) {
    return utf8.append(arena, starts[id], ends[id]);
  }

  /** The token in its written form, or null. */
  @Nullable String token(int id) {
    if (!contains(id)) {
      return null;
    }
    String plain = new String(bytes(id), StandardCharsets.UTF_8);
    if (!byteLevel || foreign.getOrDefault(plain, -1) == id) {
      return plain;
    }
    return new String(ByteLevel.fromBytes(arena, starts[id], ends[id]), StandardCharsets.UTF_8);
  }

  /** The id of a token in its written form, or -1. */
  int find(String token) {
    return findWritten(token.getBytes(StandardCharsets.UTF_8));
  }

  /** The id of a token in its written form, in UTF-8, or -1. */
  int findWritten(byte[] utf8) {
    if (!byteLevel) {
      return find(utf8, 0, utf8.length);
    }
    byte[] raw = ByteLevel.toBytes(utf8, 0, utf8.length);
    return raw != null
        ? find(raw, 0, raw.length)
        : foreign.getOrDefault(new String(utf8, StandardCharsets.UTF_8), -1);
  }

  /** The id of a token by its bytes as stored, or -1. */
  int find(byte[] bytes, int from, int to) {
    long value = value(bytes, from, to);
    return value == 0 ? -1 : id(value);
  }

  /**
   * A token's {@link #id} and {@link #state}, by its bytes as stored; 0 if there is no such token.
   */
  long value(byte[] bytes, int from, int to) {
    int length = to - from;
    return length <= SHORT
        ? shortTable[shortSlot(key(bytes, from, length)) + 1]
        : longTable[longSlot(hash(bytes, from, to), bytes, from, to) + 1];
  }

  static int id(long value) {
    return (int) value & ID_MASK;
  }

  static int state(long value) {
    return ((int) value >>> ID_BITS & STATE_MASK) - 1;
  }

  /**
   * Remembers whether merging a token's bytes gives the token. Threads may do so at once and
   * without order: each writes the same, and nothing but the state ever changes.
   */
  void setState(byte[] bytes, int from, int to, int state) {
    int length = to - from;
    if (length <= SHORT) {
      setState(shortTable, shortSlot(key(bytes, from, length)) + 1, state);
    } else {
      setState(longTable, longSlot(hash(bytes, from, to), bytes, from, to) + 1, state);
    }
  }

  private static void setState(long[] table, int at, int state) {
    table[at] = (table[at] & ~((long) STATE_MASK << ID_BITS)) | (long) (state + 1) << ID_BITS;
  }

  /** A hash of a word, good for the tables here and for others. */
  static long hash(byte[] bytes, int from, int to) {
    int length = to - from;
    if (length <= SHORT) {
      long h = key(bytes, from, length) * MULTIPLIER;
      return h ^ h >>> 32;
    }
    long h = length * MULTIPLIER;
    for (int at = from; at < to - 8; at += 8) {
      h = Long.rotateLeft((h ^ (long) LONG.get(bytes, at)) * MULTIPLIER, 29);
    }
    h = (h ^ (long) LONG.get(bytes, to - 8)) * MULTIPLIER;
    return h ^ h >>> 32;
  }

  private static long key(byte[] bytes, int from, int length) {
    if (from + 8 <= bytes.length) {
      long mask = (1L << (length << 3)) - 1;
      return ((long) LONG.get(bytes, from) & mask) | (long) length << 56;
    }
    long key = (long) length << 56;
    for (int i = 0; i < length; i++) {
      key |= (bytes[from + i] & 0xFFL) << (i << 3);
    }
    return key;
  }

  /** Where the key is, or the empty place where it would be. */
  private int shortSlot(long key) {
    long[] table = shortTable;
    int slot = (int) ((key * MULTIPLIER) >>> shortShift) << 1;
    while (table[slot] != key && table[slot + 1] != 0) {
      slot = slot + 2 & table.length - 1;
    }
    return slot;
  }

  /** Where the token is, or the empty place where it would be. */
  private int longSlot(long hash, byte[] bytes, int from, int to) {
    long[] table = longTable;
    int slot = (int) ((hash * MULTIPLIER) >>> longShift) << 1;
    while (table[slot + 1] != 0
        && (table[slot] != hash || !matches(table[slot + 1], bytes, from, to))) {
      slot = slot + 2 & table.length - 1;
    }
    return slot;
  }

  /** Whether a long token has these bytes. */
  private boolean matches(long value, byte[] bytes, int from, int to) {
    int length = to - from;
    int known = (int) value >>> LENGTH_SHIFT;
    if (known == 0) {
      int id = id(value);
      return Arrays.equals(arena, starts[id], ends[id], bytes, from, to);
    }
    if (known != length) {
      return false;
    }
    int start = (int) (value >>> 32);
    int last = length - 8;
    for (int at = 0; at < last; at += 8) {
      if ((long) LONG.get(arena, start + at) != (long) LONG.get(bytes, from + at)) {
        return false;
      }
    }
    return (long) LONG.get(arena, start + last) == (long) LONG.get(bytes, from + last);
  }

  /** Returns whether the token is new. */
  private boolean put(int from, int to, int id) {
    int length = to - from;
    boolean isShort = length <= SHORT;
    long[] table = isShort ? shortTable : longTable;
    long key = isShort ? key(arena, from, length) : hash(arena, from, to);
    int slot = isShort ? shortSlot(key) : longSlot(key, arena, from, to);
    boolean isNew = table[slot + 1] == 0;
    table[slot] = key;
    int known = length <= MAX_LENGTH ? length : 0;
    table[slot + 1] =
        (long) from << 32 | (long) known << LENGTH_SHIFT | (UNKNOWN + 1L) << ID_BITS | id;
    return isNew;
  }

  /** Two longs for a token, at most half of them used. */
  private static int tableSize(int tokens) {
    return Math.max(16, Integer.highestOneBit(Math.max(1, tokens)) * 8);
  }

  private static int shift(long[] table) {
    return 64 - Integer.numberOfTrailingZeros(table.length / 2);
  }
}

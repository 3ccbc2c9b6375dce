package dev.warmpath.prompt.tokenizer.internal.huggingface;

import dev.warmpath.prompt.tokenizer.TokenBuffer;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Remembers the ids of words that are no single token. Bounded and lossy: a word has two places, a
 * new word takes the first and moves what was there to the second. Lock-free: an entry is one
 * immutable byte array behind one reference, so a reader sees a whole entry or none; a lost or
 * doubled entry costs time only.
 */
final class WordMemo {
  /** Longer words seldom come again. */
  static final int MAX_WORD = 64;

  private static final int SLOTS = 1 << 15;
  private static final VarHandle ENTRY = MethodHandles.arrayElementVarHandle(byte[][].class);
  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

  /** Word length, number of ids, the ids in four bytes each, the word. */
  private final byte @Nullable [][] entries = new byte[SLOTS][];

  /** Appends the ids of a word; false if they aren't known. */
  boolean get(long hash, byte[] bytes, int from, int to, TokenBuffer out) {
    int slot = (int) hash & SLOTS - 1;
    byte[] entry = (byte[]) ENTRY.getAcquire(entries, slot);
    if (entry == null) {
      return false;
    }
    if (!matches(entry, bytes, from, to)) {
      byte[] second = (byte[]) ENTRY.getAcquire(entries, slot ^ 1);
      if (second == null || !matches(second, bytes, from, to)) {
        return false;
      }
      ENTRY.setRelease(entries, slot, second);
      ENTRY.setRelease(entries, slot ^ 1, entry);
      entry = second;
    }
    for (int at = 2, end = 2 + (entry[1] << 2); at < end; at += 4) {
      out.add((int) INT.get(entry, at));
    }
    return true;
  }

  /** Remembers a word of at most {@link #MAX_WORD} bytes by the ids in {@code symbols}. */
  void put(long hash, byte[] bytes, int from, int to, int[] symbols, int count) {
    int length = to - from;
    byte[] entry = new byte[2 + (count << 2) + length];
    entry[0] = (byte) length;
    entry[1] = (byte) count;
    for (int i = 0; i < count; i++) {
      INT.set(entry, 2 + (i << 2), symbols[i]);
    }
    System.arraycopy(bytes, from, entry, 2 + (count << 2), length);
    int slot = (int) hash & SLOTS - 1;
    Object evicted = ENTRY.getAcquire(entries, slot);
    if (evicted != null) {
      ENTRY.setRelease(entries, slot ^ 1, evicted);
    }
    ENTRY.setRelease(entries, slot, entry);
  }

  void clear() {
    Arrays.fill(entries, null);
  }

  private static boolean matches(byte[] entry, byte[] bytes, int from, int to) {
    int start = 2 + (entry[1] << 2);
    return entry[0] == to - from && Arrays.equals(entry, start, entry.length, bytes, from, to);
  }
}

package dev.warmpath.prompt.tokenizer;

import java.util.Arrays;

/**
 * A growing list of token ids without boxing, meant to be reused. Not for use by several threads.
 */
public final class TokenBuffer {
  private int[] ids;
  private int size;

  /** An empty buffer. */
  public TokenBuffer() {
    this(256);
  }

  /**
   * An empty buffer with room.
   *
   * @param capacity number of ids it holds before it grows
   */
  public TokenBuffer(int capacity) {
    ids = new int[Math.max(16, capacity)];
  }

  /**
   * Appends an id.
   *
   * @param id the token id
   */
  public void add(int id) {
    if (size == ids.length) {
      grow(1);
    }
    ids[size++] = id;
  }

  /**
   * Appends a range of ids.
   *
   * @param source where the ids are
   * @param from index of the first
   * @param to index after the last
   */
  public void addAll(int[] source, int from, int to) {
    int length = to - from;
    if (ids.length - size < length) {
      grow(length);
    }
    System.arraycopy(source, from, ids, size, length);
    size += length;
  }

  /**
   * Appends ids.
   *
   * @param source the ids
   */
  public void addAll(int[] source) {
    addAll(source, 0, source.length);
  }

  /**
   * The number of ids.
   *
   * @return the size
   */
  public int size() {
    return size;
  }

  /**
   * The id at an index.
   *
   * @param index from 0 to {@code size() - 1}
   * @return the token id
   * @throws IndexOutOfBoundsException if there is no such index
   */
  public int get(int index) {
    if (index >= size) {
      throw new IndexOutOfBoundsException(index);
    }
    return ids[index];
  }

  /** Removes all ids and keeps the room. */
  public void clear() {
    size = 0;
  }

  /**
   * A copy of the ids.
   *
   * @return a new array
   */
  public int[] toArray() {
    return Arrays.copyOf(ids, size);
  }

  /**
   * A copy of the ids from an index on.
   *
   * @param from index of the first id copied
   * @return a new array
   */
  public int[] toArray(int from) {
    return Arrays.copyOfRange(ids, from, size);
  }

  private void grow(int more) {
    ids = Arrays.copyOf(ids, Math.max(ids.length + (ids.length >> 1), size + more));
  }
}

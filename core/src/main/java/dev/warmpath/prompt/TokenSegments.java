package dev.warmpath.prompt;

import java.util.List;

/**
 * A prompt's token ids as the segments they were found in, which other prompts share. Put together
 * only when somebody asks.
 */
final class TokenSegments {
  static final TokenSegments NONE = new TokenSegments(List.of(), 0);

  private final List<int[]> parts;
  private final int size;

  TokenSegments(List<int[]> parts, int size) {
    this.parts = parts;
    this.size = size;
  }

  static TokenSegments of(int[] ids) {
    return new TokenSegments(List.of(ids), ids.length);
  }

  /** The segments, in order; never to be changed. */
  List<int[]> parts() {
    return parts;
  }

  int size() {
    return size;
  }

  /** Whether the ids from {@code from} to {@code to} are the other's; both have as many. */
  boolean sameIn(int from, int to, TokenSegments other) {
    for (int at = from; at < to; at++) {
      if (get(at) != other.get(at)) {
        return false;
      }
    }
    return true;
  }

  private int get(int index) {
    int at = index;
    for (int[] part : parts) {
      if (at < part.length) {
        return part[at];
      }
      at -= part.length;
    }
    throw new IndexOutOfBoundsException(index);
  }

  int[] toArray() {
    int[] all = new int[size];
    int at = 0;
    for (int[] part : parts) {
      System.arraycopy(part, 0, all, at, part.length);
      at += part.length;
    }
    return all;
  }
}

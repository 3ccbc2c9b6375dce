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

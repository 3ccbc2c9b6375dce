package dev.warmpath.fake.load;

/**
 * Text by name: equal names give equal text, different names text that differs from its first word
 * on. A token of the fake engines is four bytes, so a text of n tokens is 4n ASCII letters and
 * spaces.
 */
final class Texts {
  static final int TOKEN_BYTES = 4;

  private Texts() {}

  /** A number from three others, for names that are made of parts. */
  static long name(long seed, String kind, long number) {
    return mix(mix(seed * 31 + kind.hashCode()) + number);
  }

  /**
   * Appends {@code tokens} tokens of the text named {@code name}, the first {@code from} left out.
   */
  static void append(StringBuilder out, long name, int from, int tokens) {
    long start = mix(name);
    for (int i = from; i < from + tokens; i++) {
      long bits = mix(start + i);
      for (int c = 0; c < TOKEN_BYTES - 1; c++) {
        out.append((char) ('a' + Long.remainderUnsigned(bits, 26)));
        bits >>>= 8;
      }
      out.append(' ');
    }
  }

  /** SplitMix64's finaliser. */
  private static long mix(long value) {
    long z = value + 0x9e3779b97f4a7c15L;
    z = (z ^ z >>> 30) * 0xbf58476d1ce4e5b9L;
    z = (z ^ z >>> 27) * 0x94d049bb133111ebL;
    return z ^ z >>> 31;
  }
}

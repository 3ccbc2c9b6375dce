package dev.warmpath.fake.load;

/**
 * Text by name: equal names give equal text, different names text that differs from its first word
 * on. A token of the fake engines is four bytes, so a text of n tokens is 4n ASCII letters and
 * spaces.
 */
final class Texts {
  private static final int TOKEN_BYTES = 4;

  private Texts() {}

  /** The name of a text of some kind in a workload drawn from {@code seed}. */
  static long name(long seed, String kind, long number) {
    return mix(mix(seed * 31 + kind.hashCode()) + number);
  }

  /** Appends {@code tokens} tokens of the text named {@code name}. */
  static void append(StringBuilder out, long name, int tokens) {
    long state = mix(name);
    for (int i = 0; i < tokens; i++) {
      state = mix(state + i);
      long bits = state;
      for (int c = 0; c < TOKEN_BYTES - 1; c++) {
        out.append((char) ('a' + Long.remainderUnsigned(bits, 26)));
        bits >>>= 8;
      }
      out.append(' ');
    }
  }

  static String of(long name, int tokens) {
    StringBuilder out = new StringBuilder(tokens * TOKEN_BYTES);
    append(out, name, tokens);
    return out.toString();
  }

  /** SplitMix64's finaliser. */
  private static long mix(long value) {
    long z = value + 0x9e3779b97f4a7c15L;
    z = (z ^ z >>> 30) * 0xbf58476d1ce4e5b9L;
    z = (z ^ z >>> 27) * 0x94d049bb133111ebL;
    return z ^ z >>> 31;
  }
}

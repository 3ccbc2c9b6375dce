package dev.warmpath.fake.text;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/**
 * The answer a fake engine is going to give, token by token.
 *
 * <p>Each token is a word of three letters and a space. The words depend on the seed alone, so the
 * same request has the same answer on every worker, and a longer answer begins with the shorter
 * one.
 */
public final class PlannedText {
  private static final String CONSONANTS = "bcdfghjklmnpqrstvwxz";
  private static final String VOWELS = "aeiou";
  private static final int WORDS = CONSONANTS.length() * VOWELS.length() * CONSONANTS.length();
  private static final String[] WORD_TEXTS = new String[WORDS];
  private static final int[] WORD_TOKENS = new int[WORDS];

  static {
    for (int i = 0; i < WORDS; i++) {
      int vowelAndLast = i % (VOWELS.length() * CONSONANTS.length());
      char first = CONSONANTS.charAt(i / (VOWELS.length() * CONSONANTS.length()));
      char vowel = VOWELS.charAt(vowelAndLast / CONSONANTS.length());
      char last = CONSONANTS.charAt(vowelAndLast % CONSONANTS.length());
      WORD_TEXTS[i] = "" + first + vowel + last + ' ';
      WORD_TOKENS[i] = FakeTokenizer.encode(WORD_TEXTS[i])[0];
    }
  }

  private final int[] words;
  private final int[] tokens;
  private final boolean stopped;

  private PlannedText(int[] words, boolean stopped) {
    this.words = words;
    this.stopped = stopped;
    this.tokens = new int[words.length];
    for (int i = 0; i < words.length; i++) {
      tokens[i] = WORD_TOKENS[words[i]];
    }
  }

  /**
   * Plans an answer.
   *
   * @param seed decides the words
   * @param count how many tokens at most
   * @param stops the answer ends with the first token that completes one of these texts; the
   *     matching token is left out of the text
   * @return the plan
   */
  public static PlannedText plan(long seed, int count, List<String> stops) {
    int[] words = new int[count];
    long state = seed;
    for (int i = 0; i < count; i++) {
      state += 0x9E3779B97F4A7C15L;
      long z = (state ^ (state >>> 30)) * 0xBF58476D1CE4E5B9L;
      z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
      words[i] = (int) Long.remainderUnsigned(z ^ (z >>> 31), WORDS);
    }
    int end = stops.isEmpty() ? -1 : firstStop(words, stops);
    if (end < 0) {
      return new PlannedText(words, false);
    }
    return new PlannedText(Arrays.copyOf(words, end + 1), true);
  }

  private static int firstStop(int[] words, List<String> stops) {
    StringBuilder text = new StringBuilder(words.length * 4);
    for (int i = 0; i < words.length; i++) {
      text.append(WORD_TEXTS[words[i]]);
      for (String stop : stops) {
        int from = Math.max(0, text.length() - 4 - stop.length());
        if (!stop.isEmpty() && text.indexOf(stop, from) >= 0) {
          return i;
        }
      }
    }
    return -1;
  }

  /**
   * Returns the token ids.
   *
   * @return the array itself, not to be changed
   */
  public int[] tokens() {
    return tokens;
  }

  /**
   * Returns the number of tokens.
   *
   * @return tokens
   */
  public int length() {
    return words.length;
  }

  /**
   * Tells whether the answer ends because of a stop text.
   *
   * @return false if it merely reaches its length
   */
  public boolean stopped() {
    return stopped;
  }

  /**
   * Returns a part of the answer as text.
   *
   * @param from first token
   * @param to token after the last one
   * @return plain ASCII that needs no escaping in JSON
   */
  public String text(int from, int to) {
    int visibleEnd = stopped ? Math.min(to, words.length - 1) : to;
    if (visibleEnd - from == 1) {
      return WORD_TEXTS[words[from]];
    }
    StringBuilder text = new StringBuilder(Math.max(0, visibleEnd - from) * 4);
    for (int i = from; i < visibleEnd; i++) {
      text.append(WORD_TEXTS[words[i]]);
    }
    return text.toString();
  }

  /**
   * Returns a seed that stands for a whole prompt.
   *
   * @param tokens the prompt
   * @param salt anything else that tells requests apart
   * @return a seed
   */
  public static long seed(int[] tokens, long salt) {
    long hash = salt ^ 0x51_7C_C1_B7_27_22_0A_95L;
    for (int token : tokens) {
      hash = (Long.rotateLeft(hash, 23) ^ token) * 0xD6E8FEB86659FD93L;
    }
    return hash ^ (hash >>> 32);
  }

  /**
   * Returns a seed for a text.
   *
   * @param text any text
   * @return a seed
   */
  public static long seed(String text) {
    long hash = 0;
    for (byte b : text.getBytes(StandardCharsets.UTF_8)) {
      hash = (Long.rotateLeft(hash, 23) ^ b) * 0xD6E8FEB86659FD93L;
    }
    return hash;
  }
}

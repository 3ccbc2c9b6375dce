package dev.warmpath.fake.text;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The answer a fake engine is going to give, token by token.
 *
 * <p>It is made of words of three letters and spaces; in the tokens of {@link FakeTokenizer} each
 * word with its space is a token. The words depend on the seed alone, so the same request has the
 * same answer on every worker, and a longer answer begins with the shorter one.
 */
public final class PlannedText {
  private static final String CONSONANTS = "bcdfghjklmnpqrstvwxz";
  private static final String VOWELS = "aeiou";
  private static final int WORDS = CONSONANTS.length() * VOWELS.length() * CONSONANTS.length();
  private static final String[] WORD_TEXTS = new String[WORDS];
  private static final int[] WORD_TOKENS = new int[WORDS];
  private static final Map<Integer, String> TEXTS_BY_TOKEN = new HashMap<>();

  static {
    for (int i = 0; i < WORDS; i++) {
      int vowelAndLast = i % (VOWELS.length() * CONSONANTS.length());
      char first = CONSONANTS.charAt(i / (VOWELS.length() * CONSONANTS.length()));
      char vowel = VOWELS.charAt(vowelAndLast / CONSONANTS.length());
      char last = CONSONANTS.charAt(vowelAndLast % CONSONANTS.length());
      WORD_TEXTS[i] = "" + first + vowel + last + ' ';
      WORD_TOKENS[i] = FakeTokenizer.encode(WORD_TEXTS[i])[0];
      TEXTS_BY_TOKEN.put(WORD_TOKENS[i], WORD_TEXTS[i]);
    }
  }

  /** How often a plan is made anew when its text has other ids than it was made of. */
  private static final int ATTEMPTS = 16;

  private final int[] tokens;
  private final String[] pieces;
  private final int whole;
  private final @Nullable String matchedStop;
  private final @Nullable Integer matchedToken;

  /**
   * Holds a plan.
   *
   * @param pieces what each token adds to the text
   * @param whole how many tokens at the beginning are seen whole
   */
  private PlannedText(
      int[] tokens,
      String[] pieces,
      int whole,
      @Nullable String matchedStop,
      @Nullable Integer matchedToken) {
    this.tokens = tokens;
    this.pieces = pieces;
    this.whole = whole;
    this.matchedStop = matchedStop;
    this.matchedToken = matchedToken;
  }

  /**
   * Plans an answer in the tokens of {@link FakeTokenizer}.
   *
   * @param seed decides the words
   * @param count how many tokens at most
   * @param stops the answer ends with the first token that completes one of these texts, which is
   *     left out of the text
   * @return the plan
   */
  public static PlannedText plan(long seed, int count, List<String> stops) {
    int[] words = words(seed, count);
    int[] tokens = new int[count];
    String[] pieces = new String[count];
    for (int i = 0; i < count; i++) {
      tokens[i] = WORD_TOKENS[words[i]];
      pieces[i] = WORD_TEXTS[words[i]];
    }
    return stoppedAt(tokens, pieces, stops);
  }

  /**
   * Plans an answer in an encoder's tokens: the ids of the planned words, cut to the length asked
   * for. A cut may fall within a word, whose beginning alone could have other ids; then other words
   * are tried.
   *
   * @param encoder gives the ids
   * @param seed decides the words
   * @param count how many tokens at most
   * @param stops as for {@link #plan(long, int, List)}
   * @return the plan
   */
  static PlannedText plan(PromptEncoder encoder, long seed, int count, List<String> stops) {
    PlannedText plan = new PlannedText(new int[0], new String[0], 0, null, null);
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      int[] tokens = encoded(encoder, seed + attempt, count);
      plan = stoppedAt(tokens, pieces(encoder, tokens), stops);
      if (Arrays.equals(
          encoder.encode(plan.text(0, plan.whole), false),
          Arrays.copyOf(plan.tokens, plan.whole))) {
        break;
      }
    }
    return plan;
  }

  /** The first ids of words with spaces between them. */
  private static int[] encoded(PromptEncoder encoder, long seed, int count) {
    int[] tokens = new int[0];
    for (int size = count; tokens.length < count && size <= count * ATTEMPTS; size *= 2) {
      StringBuilder text = new StringBuilder(size * 4);
      for (int word : words(seed, size)) {
        text.append(WORD_TEXTS[word]);
      }
      tokens = encoder.encode(text.toString().stripTrailing(), false);
    }
    return tokens.length > count ? Arrays.copyOf(tokens, count) : tokens;
  }

  /**
   * What each id adds to the text. An id's text may depend on the one before it, so it is what the
   * text of a few ids has more than the text of all but the last of them; half a character waits
   * for its other half.
   */
  private static String[] pieces(PromptEncoder encoder, int[] tokens) {
    String[] pieces = new String[tokens.length];
    int window = 0;
    int told = 0;
    for (int i = 0; i < tokens.length; i++) {
      String known = encoder.decode(Arrays.copyOfRange(tokens, window, told));
      String all = encoder.decode(Arrays.copyOfRange(tokens, window, i + 1));
      boolean whole = !all.endsWith("\uFFFD") || i == tokens.length - 1;
      pieces[i] = whole && all.startsWith(known) ? all.substring(known.length()) : "";
      if (whole) {
        window = told;
        told = i + 1;
      }
    }
    return pieces;
  }

  private static int[] words(long seed, int count) {
    int[] words = new int[count];
    long state = seed;
    for (int i = 0; i < count; i++) {
      state += 0x9E3779B97F4A7C15L;
      long z = (state ^ (state >>> 30)) * 0xBF58476D1CE4E5B9L;
      z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
      words[i] = (int) Long.remainderUnsigned(z ^ (z >>> 31), WORDS);
    }
    return words;
  }

  private static PlannedText stoppedAt(int[] tokens, String[] pieces, List<String> stops) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; !stops.isEmpty() && i < pieces.length; i++) {
      text.append(pieces[i]);
      for (String stop : stops) {
        int from = Math.max(0, text.length() - pieces[i].length() - stop.length());
        int at = stop.isEmpty() ? -1 : text.indexOf(stop, from);
        if (at >= 0) {
          return cut(Arrays.copyOf(tokens, i + 1), Arrays.copyOf(pieces, i + 1), at, stop);
        }
      }
    }
    return new PlannedText(tokens, pieces, tokens.length, null, null);
  }

  /** Leaves out of the text what comes behind so many characters, as a stop begins there. */
  private static PlannedText cut(int[] tokens, String[] pieces, int characters, String stop) {
    int whole = 0;
    int left = characters;
    for (int i = 0; i < pieces.length; i++) {
      if (left >= pieces[i].length()) {
        left -= pieces[i].length();
        whole = i + 1;
      } else {
        pieces[i] = pieces[i].substring(0, left);
        left = 0;
      }
    }
    return new PlannedText(tokens, pieces, whole, stop, null);
  }

  /**
   * Returns the answer as it is where certain tokens end it.
   *
   * @param stops ids; the first token that is one of them is the last, and not seen in the text
   * @return this if none of them occurs
   */
  public PlannedText stoppedAt(Set<Integer> stops) {
    for (int i = 0; !stops.isEmpty() && i < tokens.length; i++) {
      if (stops.contains(tokens[i])) {
        String[] seen = Arrays.copyOf(pieces, i + 1);
        seen[i] = "";
        return new PlannedText(
            Arrays.copyOf(tokens, i + 1), seen, Math.min(whole, i), null, tokens[i]);
      }
    }
    return this;
  }

  /** The word of one of {@link FakeTokenizer}'s ids; U+FFFD if it is none of a word. */
  static String word(int token) {
    return TEXTS_BY_TOKEN.getOrDefault(token, "\uFFFD");
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
    return tokens.length;
  }

  /**
   * Tells whether the answer ends because of a stop.
   *
   * @return false if it merely reaches its length
   */
  public boolean stopped() {
    return matchedStop != null || matchedToken != null;
  }

  /**
   * Returns the text that ends the answer.
   *
   * @return a stop text, or null if none does
   */
  public @Nullable String matchedStop() {
    return matchedStop;
  }

  /**
   * Returns the token that ends the answer.
   *
   * @return its id, or null if none does
   */
  public @Nullable Integer matchedToken() {
    return matchedToken;
  }

  /**
   * Returns a part of the answer as text.
   *
   * @param from first token
   * @param to token after the last one
   * @return the text that these tokens add
   */
  public String text(int from, int to) {
    if (to - from == 1) {
      return pieces[from];
    }
    StringBuilder text = new StringBuilder(Math.max(0, to - from) * 4);
    for (int i = from; i < to; i++) {
      text.append(pieces[i]);
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

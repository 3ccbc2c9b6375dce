package dev.warmpath.prompt.tokenizer.internal.huggingface;

import dev.warmpath.prompt.tokenizer.TokenBuffer;
import dev.warmpath.prompt.tokenizer.internal.unicode.Utf8;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Byte-pair encoding of single words: begin with the word's bytes (or characters) as symbols and
 * merge the adjacent pair of lowest rank, the leftmost of several, until no pair has a merge
 * (Sennrich et al. 2016, as carried out by Hugging Face tokenizers' {@code BPE} model).
 *
 * <p>A word that is a token is looked up whole; other words come from a memo; the rest are merged,
 * by repeated scans while they are short and with a heap when they are long.
 */
final class BytePairModel {
  /** Symbols up to which scanning for the lowest rank beats a heap. */
  private static final int LINEAR_LIMIT = 96;

  private final Vocabulary vocabulary;
  private final Merges merges;
  private final Options options;
  private final WordMemo memo = new WordMemo();
  private final boolean wholeWords;
  private final int unknownId;
  private final byte[] prefix;
  private final byte[] suffix;

  /** Byte-level models: the symbol of each byte, or -1; else null. */
  private final int @Nullable [] byteSymbols;

  /** Byte-level models: the rank of each pair of bytes; else null. */
  private final int @Nullable [] byteRanks;

  /** The ids of {@code <0x00>} to {@code <0xFF>}, or -1 where the vocabulary lacks them. */
  private final int[] fallback = new int[256];

  /** Where words can be cut; null if that could change something. */
  private final @Nullable Adjacency adjacency;

  /**
   * What {@code tokenizer.json} says of the model beside vocabulary and merges.
   *
   * @param byteLevel whether words are bytes, given to the model in GPT-2's byte-level alphabet
   * @param ignoreMerges whether a word that is a token is that token, whatever the merges say
   * @param byteFallback whether an unknown character becomes its UTF-8 bytes' tokens
   * @param fuseUnknown whether adjacent unknown characters make one unknown token
   * @param unknownToken the unknown token, if there is one
   * @param continuingPrefix what characters that do not begin a word have before them in the
   *     vocabulary; often empty
   * @param endSuffix what the last character of a word has after it in the vocabulary; often empty
   */
  record Options(
      boolean byteLevel,
      boolean ignoreMerges,
      boolean byteFallback,
      boolean fuseUnknown,
      @Nullable String unknownToken,
      String continuingPrefix,
      String endSuffix) {}

  BytePairModel(Vocabulary vocabulary, Merges merges, Options options) {
    this.vocabulary = vocabulary;
    this.merges = merges;
    this.options = options;
    prefix = written(options.continuingPrefix());
    suffix = written(options.endSuffix());
    wholeWords = options.ignoreMerges() || prefix.length + suffix.length == 0;
    unknownId = options.unknownToken() == null ? -1 : vocabulary.find(options.unknownToken());
    for (int b = 0; b < 256; b++) {
      fallback[b] = vocabulary.find(String.format("<0x%02X>", b));
    }
    boolean plain = prefix.length + suffix.length == 0;
    if (options.byteLevel()) {
      byteSymbols = new int[256];
      for (int b = 0; b < 256; b++) {
        byteSymbols[b] = vocabulary.find(new byte[] {(byte) b}, 0, 1);
      }
      byteRanks = new int[1 << 16];
      for (int pair = 0; pair < byteRanks.length; pair++) {
        int left = byteSymbols[pair >>> 8];
        int right = byteSymbols[pair & 0xFF];
        byteRanks[pair] = left < 0 || right < 0 ? Merges.NONE : merges.rank(left, right);
      }
      boolean complete = plain && Arrays.stream(byteSymbols).allMatch(id -> id >= 0);
      adjacency = complete ? Adjacency.of(vocabulary, merges) : null;
    } else {
      byteSymbols = null;
      byteRanks = null;
      // Cutting must not touch unknown characters: that takes a token for every byte, unmerged.
      boolean complete =
          plain
              && options.byteFallback()
              && Arrays.stream(fallback).allMatch(id -> id >= 0)
              && !merges.touchAny(fallback);
      adjacency = complete ? Adjacency.of(vocabulary, merges) : null;
    }
  }

  private byte[] written(String text) {
    byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
    if (!options.byteLevel()) {
      return utf8;
    }
    byte[] raw = ByteLevel.toBytes(utf8, 0, utf8.length);
    if (raw == null) {
      throw new IllegalArgumentException("a subword affix outside the byte-level alphabet");
    }
    return raw;
  }

  /** Appends the ids of a word: bytes for a byte-level model, well-formed UTF-8 for others. */
  void encode(byte[] bytes, int from, int to, Scratch scratch, TokenBuffer out) {
    if (adjacency == null || (options.byteLevel() && !startsWide(bytes, from, to))) {
      encodeWord(bytes, from, to, options.ignoreMerges(), scratch, out);
      return;
    }
    if (options.ignoreMerges()) {
      int id = vocabulary.find(bytes, from, to);
      if (id >= 0) {
        out.add(id);
        return;
      }
    }
    int start = from;
    int codePoint = Utf8.codePointAt(bytes, from);
    int at = from + Utf8.width(bytes[from]);
    while (at < to) {
      int next = Utf8.codePointAt(bytes, at);
      if (!adjacency.occurs(codePoint, next)) {
        encodeWord(bytes, start, at, false, scratch, out);
        start = at;
      }
      codePoint = next;
      at += Utf8.width(bytes[at]);
    }
    encodeWord(bytes, start, to, false, scratch, out);
  }

  /**
   * Whether a word begins with a character of three or more bytes, be it after a space. Such
   * scripts mostly write no spaces, and their words are long and seldom come again; others are
   * looked up whole.
   */
  private static boolean startsWide(byte[] bytes, int from, int to) {
    int lead = bytes[from] >= 0 && from + 1 < to ? bytes[from + 1] : bytes[from];
    return lead < 0 && lead >= (byte) 0xE0;
  }

  /** {@code ifToken}: whether a word that is a token is that token whatever the merges say. */
  private void encodeWord(
      byte[] bytes, int from, int to, boolean ifToken, Scratch scratch, TokenBuffer out) {
    boolean undecided = false;
    if (wholeWords) {
      long value = vocabulary.value(bytes, from, to);
      int state = Vocabulary.state(value);
      if (state == Vocabulary.CANONICAL || (ifToken && value != 0)) {
        out.add(Vocabulary.id(value));
        return;
      }
      undecided = value != 0 && state == Vocabulary.UNKNOWN;
    }
    encodeOther(bytes, from, to, undecided, scratch, out);
  }

  /** {@code undecided}: whether the word is a token of which it isn't known what merging gives. */
  private void encodeOther(
      byte[] bytes, int from, int to, boolean undecided, Scratch scratch, TokenBuffer out) {
    boolean memorable = !undecided && to - from <= WordMemo.MAX_WORD;
    long hash = 0;
    if (memorable) {
      hash = Vocabulary.hash(bytes, from, to);
      if (memo.get(hash, bytes, from, to, out)) {
        return;
      }
    }
    int count = merge(bytes, from, to, scratch);
    int[] symbols = scratch.symbols;
    out.addAll(symbols, 0, count);
    if (undecided) {
      int id = vocabulary.find(bytes, from, to);
      boolean canonical = count == 1 && symbols[0] == id;
      int state = canonical ? Vocabulary.CANONICAL : Vocabulary.MERGED_OTHERWISE;
      vocabulary.setState(bytes, from, to, state);
    } else if (memorable && count <= WordMemo.MAX_WORD) {
      memo.put(hash, bytes, from, to, symbols, count);
    }
  }

  /** Forgets the words seen so far; for measurements of the first encounter. */
  void clearMemo() {
    memo.clear();
  }

  private int merge(byte[] bytes, int from, int to, Scratch scratch) {
    int count = byteSymbols == null ? -1 : byteSymbols(bytes, from, to, scratch);
    if (count < 0) {
      count = symbols(bytes, from, to, scratch);
      for (int i = 0; i + 1 < count; i++) {
        scratch.ranks[i] = merges.rank(scratch.symbols[i], scratch.symbols[i + 1]);
      }
    }
    return count <= LINEAR_LIMIT
        ? mergeByScanning(scratch.symbols, scratch.ranks, count)
        : mergeByHeap(scratch, count);
  }

  /** The symbols and ranks of a word of known bytes; -1 if a byte is unknown. */
  private int byteSymbols(byte[] bytes, int from, int to, Scratch scratch) {
    int[] ofByte = byteSymbols;
    int[] ofPair = byteRanks;
    if (ofByte == null || ofPair == null || prefix.length + suffix.length > 0) {
      return -1;
    }
    int count = to - from;
    scratch.ensureSymbols(count);
    int[] symbols = scratch.symbols;
    int[] ranks = scratch.ranks;
    int last = 0;
    for (int i = 0; i < count; i++) {
      int b = bytes[from + i] & 0xFF;
      int symbol = ofByte[b];
      if (symbol < 0) {
        return -1;
      }
      symbols[i] = symbol;
      if (i > 0) {
        ranks[i - 1] = ofPair[last << 8 | b];
      }
      last = b;
    }
    return count;
  }

  /** The symbols of any word, unknown characters included. */
  private int symbols(byte[] bytes, int from, int to, Scratch scratch) {
    int count = 0;
    int unknown = 0;
    for (int at = from; at < to; ) {
      int end = at + (options.byteLevel() ? 1 : Utf8.width(bytes[at]));
      int id = symbol(bytes, at, end, at > from, end == to);
      // A character has at most four bytes, a byte's character in the alphabet two; affixes add.
      scratch.ensureSymbols(count + unknown + 8 + prefix.length + suffix.length);
      if (id >= 0) {
        count = flush(scratch, count, unknown);
        unknown = 0;
        scratch.symbols[count++] = id;
      } else {
        int added =
            options.byteFallback() ? fallBack(bytes, at, end, to, at > from, scratch, count) : 0;
        if (added > 0) {
          // As upstream does it, an unknown token that waits is not put before these.
          count += added;
        } else if (options.unknownToken() != null) {
          if (unknownId < 0) {
            throw new IllegalStateException(
                "The unknown token " + options.unknownToken() + " is not in the vocabulary");
          }
          if (unknown > 0 && !options.fuseUnknown()) {
            scratch.symbols[count++] = unknownId;
          }
          unknown = 1;
        }
      }
      at = end;
    }
    scratch.ensureSymbols(count + 1);
    return flush(scratch, count, unknown);
  }

  private int flush(Scratch scratch, int count, int unknown) {
    if (unknown == 0) {
      return count;
    }
    scratch.symbols[count] = unknownId;
    return count + 1;
  }

  private int symbol(byte[] bytes, int from, int to, boolean continues, boolean last) {
    int before = continues ? prefix.length : 0;
    int after = last ? suffix.length : 0;
    if (before + after == 0) {
      return vocabulary.find(bytes, from, to);
    }
    byte[] affixed = affixed(bytes, from, to, continues, last);
    return vocabulary.find(affixed, 0, affixed.length);
  }

  private byte[] affixed(byte[] bytes, int from, int to, boolean continues, boolean last) {
    int before = continues ? prefix.length : 0;
    int after = last ? suffix.length : 0;
    byte[] affixed = new byte[before + to - from + after];
    System.arraycopy(prefix, 0, affixed, 0, before);
    System.arraycopy(bytes, from, affixed, before, to - from);
    System.arraycopy(suffix, 0, affixed, before + to - from, after);
    return affixed;
  }

  /** Adds the tokens of a character's bytes and returns their number, 0 if one is missing. */
  private int fallBack(
      byte[] bytes, int from, int to, int end, boolean continues, Scratch scratch, int count) {
    byte[] character = affixed(bytes, from, to, continues, to == end);
    if (options.byteLevel()) {
      character = ByteLevel.fromBytes(character, 0, character.length);
    }
    for (byte b : character) {
      if (fallback[b & 0xFF] < 0) {
        return 0;
      }
    }
    scratch.ensureSymbols(count + character.length + 1);
    for (int i = 0; i < character.length; i++) {
      scratch.symbols[count + i] = fallback[character[i] & 0xFF];
    }
    return character.length;
  }

  private int mergeByScanning(int[] symbols, int[] ranks, int symbolCount) {
    int count = symbolCount;
    while (count > 1) {
      int best = Merges.NONE;
      int at = -1;
      for (int i = 0; i < count - 1; i++) {
        if (ranks[i] < best) {
          best = ranks[i];
          at = i;
        }
      }
      if (at < 0) {
        break;
      }
      int symbol = merges.result(best);
      symbols[at] = symbol;
      count--;
      for (int i = at + 1; i < count; i++) {
        symbols[i] = symbols[i + 1];
        ranks[i - 1] = ranks[i];
      }
      if (at > 0) {
        ranks[at - 1] = merges.rank(symbols[at - 1], symbol);
      }
      if (at < count - 1) {
        ranks[at] = merges.rank(symbol, symbols[at + 1]);
      }
    }
    return count;
  }

  /**
   * A heap holds the pairs by rank and place; an entry whose pair has changed since is passed over.
   */
  private int mergeByHeap(Scratch scratch, int count) {
    scratch.ensureLinks(count);
    int[] symbols = scratch.symbols;
    int[] ranks = scratch.ranks;
    int[] next = scratch.next;
    int[] previous = scratch.previous;
    long[] heap = scratch.heap;
    int size = 0;
    ranks[count - 1] = Merges.NONE;
    for (int i = 0; i < count; i++) {
      previous[i] = i - 1;
      next[i] = i + 1;
      if (ranks[i] != Merges.NONE) {
        heap[size++] = entry(ranks[i], i);
      }
    }
    for (int i = (size >>> 1) - 1; i >= 0; i--) {
      sink(heap, size, i, heap[i]);
    }
    while (size > 0) {
      long top = heap[0];
      size--;
      sink(heap, size, 0, heap[size]);
      int at = (int) top;
      int rank = (int) (top >>> 32);
      if (ranks[at] != rank) {
        continue;
      }
      int symbol = merges.result(rank);
      int right = next[at];
      symbols[at] = symbol;
      ranks[right] = Merges.NONE;
      int after = next[right];
      next[at] = after;
      ranks[at] = Merges.NONE;
      if (after < count) {
        previous[after] = at;
        ranks[at] = merges.rank(symbol, symbols[after]);
        if (ranks[at] != Merges.NONE) {
          rise(heap, size++, entry(ranks[at], at));
        }
      }
      int before = previous[at];
      if (before >= 0) {
        ranks[before] = merges.rank(symbols[before], symbol);
        if (ranks[before] != Merges.NONE) {
          rise(heap, size++, entry(ranks[before], before));
        }
      }
    }
    int left = 0;
    for (int i = 0; i < count; i = next[i]) {
      symbols[left++] = symbols[i];
    }
    return left;
  }

  private static long entry(int rank, int at) {
    return (long) rank << 32 | at;
  }

  private static void rise(long[] heap, int from, long entry) {
    int at = from;
    while (at > 0) {
      int parent = (at - 1) >>> 1;
      if (heap[parent] <= entry) {
        break;
      }
      heap[at] = heap[parent];
      at = parent;
    }
    heap[at] = entry;
  }

  private static void sink(long[] heap, int size, int from, long entry) {
    int at = from;
    while (true) {
      int child = 2 * at + 1;
      if (child >= size) {
        break;
      }
      if (child + 1 < size && heap[child + 1] < heap[child]) {
        child++;
      }
      if (heap[child] >= entry) {
        break;
      }
      heap[at] = heap[child];
      at = child;
    }
    heap[at] = entry;
  }
}

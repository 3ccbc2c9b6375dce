package dev.warmpath.prompt.tokenizer.internal.huggingface;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.prompt.tokenizer.TokenBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** Compares the model with merging as the definition has it, for random vocabularies. */
class BytePairModelTest {
  /** Characters of one to four bytes that share beginnings and endings. */
  private static final String[] CHARACTERS = {
    "a", "b", " ", "'", "é", "è", "ж", "中", "丮", "串", "在", "圭", "ㄭ", "\uD83D\uDE00", "\uD83D\uDE01"
  };

  private final Map<String, Integer> ids = new HashMap<>();
  private final List<String[]> merges = new ArrayList<>();
  private final Scratch scratch = new Scratch();

  @Property(tries = 300)
  void mergesByteLevelWordsAsDefined(@ForAll long seed, @ForAll boolean ignoreMerges) {
    SplittableRandom random = new SplittableRandom(seed);
    ids.clear();
    merges.clear();
    for (int b = 0; b < 256; b++) {
      ids.put(String.valueOf(ByteLevel.character(b)), ids.size());
    }
    String[] alphabet = new String[CHARACTERS.length];
    for (int i = 0; i < alphabet.length; i++) {
      alphabet[i] = byteLevel(CHARACTERS[i]);
    }
    addMerges(random, alphabet, true);
    BytePairModel model = model(true, ignoreMerges, false);
    for (int i = 0; i < 60; i++) {
      String word = word(random, i == 0 ? 300 : 12);
      assertThat(encode(model, word)).as(word).isEqualTo(expected(byteLevel(word), ignoreMerges));
    }
  }

  @Property(tries = 300)
  void mergesCharactersAsDefined(@ForAll long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    ids.clear();
    merges.clear();
    for (int b = 0; b < 256; b++) {
      ids.put(String.format("<0x%02X>", b), ids.size());
    }
    String[] known = Arrays.copyOf(CHARACTERS, random.nextInt(4, CHARACTERS.length + 1));
    for (String character : known) {
      ids.put(character, ids.size());
    }
    addMerges(random, known, false);
    BytePairModel model = model(false, false, true);
    for (int i = 0; i < 60; i++) {
      String word = word(random, i == 0 ? 300 : 12);
      assertThat(encode(model, word)).as(word).isEqualTo(expected(word, false));
    }
  }

  private void addMerges(SplittableRandom random, String[] alphabet, boolean byteLevel) {
    List<String> symbols = new ArrayList<>();
    for (String character : alphabet) {
      if (byteLevel) {
        character.chars().forEach(c -> symbols.add(String.valueOf((char) c)));
      } else {
        symbols.add(character);
      }
    }
    for (int i = random.nextInt(60); i > 0; i--) {
      String left = symbols.get(random.nextInt(symbols.size()));
      String right = symbols.get(random.nextInt(symbols.size()));
      // Runs of characters make merges that texts really have.
      if (random.nextBoolean()) {
        String text =
            alphabet[random.nextInt(alphabet.length)] + alphabet[random.nextInt(alphabet.length)];
        int cut =
            text.offsetByCodePoints(0, random.nextInt(1, text.codePointCount(0, text.length())));
        left = text.substring(0, cut);
        right = text.substring(cut);
        if (!ids.containsKey(left) || !ids.containsKey(right)) {
          continue;
        }
      }
      merges.add(new String[] {left, right});
      ids.computeIfAbsent(left + right, token -> ids.size());
      symbols.add(left + right);
    }
  }

  private String word(SplittableRandom random, int most) {
    StringBuilder word = new StringBuilder();
    for (int i = random.nextInt(1, most); i > 0; i--) {
      word.append(CHARACTERS[random.nextInt(CHARACTERS.length)]);
    }
    return word.toString();
  }

  private BytePairModel model(boolean byteLevel, boolean ignoreMerges, boolean byteFallback) {
    Vocabulary.Builder builder = new Vocabulary.Builder();
    ids.forEach((token, id) -> builder.add(token.toCharArray(), 0, token.length(), id));
    Vocabulary vocabulary = builder.build(byteLevel);
    int[] lefts = merges.stream().mapToInt(merge -> ids.get(merge[0])).toArray();
    int[] rights = merges.stream().mapToInt(merge -> ids.get(merge[1])).toArray();
    int[] results = merges.stream().mapToInt(merge -> ids.get(merge[0] + merge[1])).toArray();
    return new BytePairModel(
        vocabulary,
        new Merges(lefts, rights, results),
        new BytePairModel.Options(byteLevel, ignoreMerges, byteFallback, false, null, "", ""));
  }

  private List<Integer> encode(BytePairModel model, String word) {
    byte[] utf8 = word.getBytes(StandardCharsets.UTF_8);
    // Twice, since the second time the memo answers; in a larger array, since words lie in texts.
    byte[] text = Arrays.copyOf(utf8, utf8.length + 9);
    TokenBuffer out = new TokenBuffer();
    model.encode(utf8, 0, utf8.length, scratch, out);
    int[] first = out.toArray();
    out.clear();
    model.encode(text, 0, utf8.length, scratch, out);
    assertThat(out.toArray()).isEqualTo(first);
    return Arrays.stream(first).boxed().toList();
  }

  /** Merges the pair of lowest rank, the leftmost of several, until there is none. */
  private List<Integer> expected(String written, boolean ignoreMerges) {
    if (ignoreMerges && ids.containsKey(written)) {
      return List.of(ids.get(written));
    }
    List<String> symbols = new ArrayList<>();
    written
        .codePoints()
        .forEach(
            c -> {
              String character = Character.toString(c);
              if (ids.containsKey(character)) {
                symbols.add(character);
              } else {
                for (byte b : character.getBytes(StandardCharsets.UTF_8)) {
                  symbols.add(String.format("<0x%02X>", b));
                }
              }
            });
    Map<String, Integer> ranks = new HashMap<>();
    for (int rank = 0; rank < merges.size(); rank++) {
      ranks.put(merges.get(rank)[0] + "\0" + merges.get(rank)[1], rank);
    }
    while (true) {
      int best = Integer.MAX_VALUE;
      int at = -1;
      for (int i = 0; i + 1 < symbols.size(); i++) {
        int rank =
            ranks.getOrDefault(symbols.get(i) + "\0" + symbols.get(i + 1), Integer.MAX_VALUE);
        if (rank < best) {
          best = rank;
          at = i;
        }
      }
      if (at < 0) {
        return symbols.stream().map(ids::get).toList();
      }
      symbols.set(at, symbols.get(at) + symbols.remove(at + 1));
    }
  }

  private static String byteLevel(String text) {
    byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
    return new String(ByteLevel.fromBytes(utf8, 0, utf8.length), StandardCharsets.UTF_8);
  }
}

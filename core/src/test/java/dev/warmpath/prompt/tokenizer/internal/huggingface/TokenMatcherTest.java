package dev.warmpath.prompt.tokenizer.internal.huggingface;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.prompt.tokenizer.AddedToken;
import dev.warmpath.prompt.tokenizer.SegmentVisitor;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/**
 * Compares the search for tokens with a plain one, for tokens with few and with many beginnings.
 */
class TokenMatcherTest {
  private static final String ALPHABET = "<|>ab\n ~\u00e9\u4e2d\u0000\u007f";

  @Property(tries = 1_000)
  void findsTheLongestTokenAtEachPlace(@ForAll long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    int letters = random.nextInt(1, ALPHABET.length() + 1);
    List<String> contents = new ArrayList<>();
    for (int i = random.nextInt(1, 8); i > 0; i--) {
      String content = ALPHABET.charAt(random.nextInt(letters)) + text(random, 4);
      if (!contents.contains(content)) {
        contents.add(content);
      }
    }
    TokenMatcher matcher = matcher(contents);
    String text = text(random, 120);
    // Plain letters between what may be tokens make stretches for the search to pass over.
    if (random.nextBoolean()) {
      text = text.replace("a", "zyxwvutsrqponmlkjihg").replace(" ", "z".repeat(40));
    }
    List<String> expected = cut(text, contents);
    byte[] utf8 = ("<|a" + text + "<|a").getBytes(StandardCharsets.UTF_8);
    assertThat(cut(matcher, utf8, 3, utf8.length - 3))
        .as("%s in %s", contents, text)
        .isEqualTo(expected);
  }

  private static String text(SplittableRandom random, int most) {
    StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(most); i > 0; i--) {
      text.append(ALPHABET.charAt(random.nextInt(ALPHABET.length())));
    }
    return text.toString();
  }

  private static TokenMatcher matcher(List<String> contents) {
    List<byte[]> utf8 = new ArrayList<>();
    List<AddedToken> tokens = new ArrayList<>();
    for (String content : contents) {
      utf8.add(content.getBytes(StandardCharsets.UTF_8));
      tokens.add(new AddedToken(tokens.size(), content, false, false, false, false, false));
    }
    return new TokenMatcher(utf8, tokens, false);
  }

  private static List<String> cut(TokenMatcher matcher, byte[] utf8, int from, int to) {
    List<String> parts = new ArrayList<>();
    matcher.cut(
        utf8,
        from,
        to,
        true,
        new SegmentVisitor() {
          @Override
          public void text(int start, int end, boolean first) {
            assertThat(first).isEqualTo(start == from);
            parts.add(new String(utf8, start, end - start, StandardCharsets.UTF_8));
          }

          @Override
          public void added(int start, int end, int id) {
            parts.add("#" + id);
          }
        });
    return parts;
  }

  private static List<String> cut(String text, List<String> contents) {
    List<String> parts = new ArrayList<>();
    int start = 0;
    for (int at = 0; at < text.length(); ) {
      int longest = -1;
      for (int i = 0; i < contents.size(); i++) {
        if (text.startsWith(contents.get(i), at)
            && (longest < 0 || contents.get(i).length() > contents.get(longest).length())) {
          longest = i;
        }
      }
      if (longest < 0) {
        at++;
        continue;
      }
      if (start < at) {
        parts.add(text.substring(start, at));
      }
      parts.add("#" + longest);
      at += contents.get(longest).length();
      start = at;
    }
    if (start < text.length()) {
      parts.add(text.substring(start));
    }
    return parts;
  }
}

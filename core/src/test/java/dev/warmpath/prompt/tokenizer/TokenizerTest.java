package dev.warmpath.prompt.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.prompt.tokenizer.internal.unicode.Utf8;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.text.Normalizer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class TokenizerTest {
  private static final Tokenizer CHATML = Tokenizers.load(resource("chatml"));
  private static final Tokenizer LLAMA = Tokenizers.load(resource("llama"));

  /** The ids are those of Hugging Face tokenizers 0.21.4. */
  @Test
  void encodesByteLevel() {
    String text = "<|im_start|>user\nHello, what's the weather in 東京?<|im_end|>\n";
    int[] ids = {
      701, 84, 361, 198, 39, 68, 75, 297, 11, 496, 421, 274, 281, 68, 356, 259, 334, 220, 162, 251,
      109, 160, 118, 105, 30, 702, 198
    };
    assertThat(CHATML.encode(text, true)).isEqualTo(ids);
    assertThat(CHATML.encode(text, false)).isEqualTo(ids);
    assertThat(CHATML.decode(ids, false)).isEqualTo(text);
    assertThat(CHATML.decode(ids, true)).isEqualTo("user\nHello, what's the weather in 東京?\n");
    assertThat(CHATML.encode("e\u0301 \u212B", false))
        .isEqualTo(new int[] {127, 102, 220, 127, 227});
    assertThat(CHATML.encode("", true)).isEmpty();
  }

  /** The ids are those of Hugging Face tokenizers 0.21.4. */
  @Test
  void encodesInTheWayOfSentencePiece() {
    int[] ids = {1, 351, 365, 372, 232, 193, 139, 366, 351, 243, 162, 155, 131};
    assertThat(LLAMA.encode("天气很好 😀", true)).isEqualTo(ids);
    assertThat(LLAMA.encode("天气很好 😀", false)).isEqualTo(Arrays.copyOfRange(ids, 1, 13));
    assertThat(LLAMA.decode(ids, true)).isEqualTo("天气很好 😀");
    assertThat(LLAMA.decode(ids, false)).isEqualTo("<s> 天气很好 😀");
    assertThat(LLAMA.encode("<s>Hi</s> there", true))
        .isEqualTo(new int[] {1, 1, 351, 292, 319, 2, 351, 443, 380, 315});
    assertThat(LLAMA.prefixTokens()).containsExactly(1);
    assertThat(LLAMA.suffixTokens()).isEmpty();
  }

  @Property(tries = 2_000)
  void segmentsOneAfterAnotherAreTheText(@ForAll long seed) {
    for (Tokenizer tokenizer : List.of(CHATML, LLAMA)) {
      byte[] utf8 = bytes(seed, tokenizer);
      TokenBuffer joined = new TokenBuffer();
      List<int[]> ranges = new ArrayList<>();
      tokenizer.cut(
          utf8,
          0,
          utf8.length,
          new SegmentVisitor() {
            @Override
            public void text(int from, int to, boolean first) {
              assertThat(first).isEqualTo(from == 0);
              ranges.add(new int[] {from, to});
              // A copy, as a cache would have it.
              byte[] segment = Arrays.copyOfRange(utf8, from, to);
              tokenizer.encodeSegment(segment, 0, segment.length, first, joined);
            }

            @Override
            public void added(int from, int to, int id) {
              ranges.add(new int[] {from, to});
              assertThat(new String(utf8, from, to - from, StandardCharsets.UTF_8))
                  .isEqualTo(tokenizer.token(id));
              joined.add(id);
            }
          });
      TokenBuffer whole = new TokenBuffer();
      tokenizer.encode(utf8, 0, utf8.length, false, whole);
      assertThat(joined.toArray()).isEqualTo(whole.toArray());
      int end = 0;
      for (int[] range : ranges) {
        assertThat(range[0]).isEqualTo(end);
        assertThat(range[1]).isGreaterThan(range[0]);
        end = range[1];
      }
      assertThat(end).isEqualTo(utf8.length);
    }
  }

  @Property(tries = 2_000)
  void streamedTextIsTheWholeText(@ForAll long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    for (Tokenizer tokenizer : List.of(CHATML, LLAMA)) {
      int[] ids =
          random.nextBoolean()
              ? random.ints(30, -1, tokenizer.vocabularySize() + 2).toArray()
              : tokenizer.encode(new TextGenerator(seed, tokens(tokenizer)).next(), true);
      for (boolean skip : new boolean[] {false, true}) {
        StringBuilder streamed = new StringBuilder();
        Detokenizer detokenizer = tokenizer.detokenizer(skip);
        for (int id : ids) {
          String piece = detokenizer.append(id);
          assertThat(Utf8.encode(piece)).isEqualTo(piece.getBytes(StandardCharsets.UTF_8));
          streamed.append(piece);
        }
        streamed.append(detokenizer.finish());
        assertThat(streamed.toString()).isEqualTo(tokenizer.decode(ids, skip));
      }
    }
  }

  @Test
  void neverStreamsHalfACharacter() {
    int[] ids = CHATML.encode("ok 😀!", false);
    Detokenizer detokenizer = CHATML.detokenizer(true);
    List<String> pieces = new ArrayList<>();
    for (int id : ids) {
      pieces.add(detokenizer.append(id));
    }
    pieces.add(detokenizer.finish());
    assertThat(pieces).contains("😀", "!").doesNotContain("\uFFFD");
    assertThat(String.join("", pieces)).isEqualTo("ok 😀!");
  }

  @Test
  void endsAnIncompleteCharacterWithAReplacement() {
    int[] ids = CHATML.encode("😀", false);
    Detokenizer detokenizer = CHATML.detokenizer(true);
    assertThat(detokenizer.append(ids[0])).isEmpty();
    assertThat(detokenizer.finish()).isEqualTo("\uFFFD");
  }

  @Property(tries = 1_000)
  void decodingUndoesEncoding(@ForAll long seed) {
    String text = new TextGenerator(seed, tokens(CHATML)).next();
    String normal =
        Normalizer.normalize(
            new String(Utf8.encode(text), StandardCharsets.UTF_8), Normalizer.Form.NFC);
    int[] ids = CHATML.encode(normal, false);
    // Characters later than Unicode 9 may stay as they are.
    assertThat(Normalizer.normalize(CHATML.decode(ids, false), Normalizer.Form.NFC))
        .isEqualTo(normal);
  }

  @Test
  void illFormedBytesCountAsReplacementCharacters() {
    byte[] bytes = {'a', (byte) 0xFF, 'b', (byte) 0xE4, (byte) 0xB8, '<'};
    TokenBuffer out = new TokenBuffer();
    CHATML.encode(bytes, 0, bytes.length, false, out);
    assertThat(out.toArray()).isEqualTo(CHATML.encode("a\uFFFDb\uFFFD<", false));
    assertThat(CHATML.encode("x\uD800y", false)).isEqualTo(CHATML.encode("x\uFFFDy", false));
  }

  @Test
  void encodesARangeOfAnArray() {
    byte[] bytes = "###Hello, world###".getBytes(StandardCharsets.UTF_8);
    TokenBuffer out = new TokenBuffer();
    out.add(7);
    CHATML.encode(bytes, 3, bytes.length - 3, false, out);
    assertThat(out.get(0)).isEqualTo(7);
    assertThat(out.toArray(1)).isEqualTo(CHATML.encode("Hello, world", false));
  }

  @Test
  void looksTokensUp() {
    assertThat(CHATML.vocabularySize()).isEqualTo(705);
    assertThat(CHATML.tokenId("<|im_start|>")).hasValue(701);
    assertThat(CHATML.token(701)).isEqualTo("<|im_start|>");
    assertThat(CHATML.tokenId("Ġ")).hasValue(220);
    assertThat(CHATML.token(220)).isEqualTo("Ġ");
    assertThat(CHATML.tokenId("no such token")).isEmpty();
    assertThat(CHATML.token(705)).isNull();
    assertThat(CHATML.token(-1)).isNull();
    assertThat(LLAMA.token(LLAMA.tokenId("<0xE4>").orElseThrow())).isEqualTo("<0xE4>");
    for (Tokenizer tokenizer : List.of(CHATML, LLAMA)) {
      for (int id = 0; id < tokenizer.vocabularySize(); id++) {
        assertThat(tokenizer.tokenId(Objects.requireNonNull(tokenizer.token(id)))).hasValue(id);
      }
    }
  }

  @Test
  void listsAddedTokens() {
    assertThat(CHATML.addedTokens())
        .extracting(AddedToken::content)
        .containsExactly("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<think>", "</think>");
    assertThat(CHATML.addedTokens())
        .extracting(AddedToken::special)
        .containsExactly(true, true, true, false, false);
  }

  @Test
  void manyThreadsGetTheSameIds() throws Exception {
    List<String> texts = new ArrayList<>();
    TextGenerator generator = new TextGenerator(11, tokens(CHATML));
    for (int i = 0; i < 400; i++) {
      texts.add(generator.next());
    }
    List<int[]> expected = texts.stream().map(text -> CHATML.encode(text, false)).toList();
    Tokenizer fresh = Tokenizers.load(resource("chatml"));
    ExecutorService executor = Executors.newFixedThreadPool(6);
    try {
      Callable<Void> task =
          () -> {
            for (int round = 0; round < 5; round++) {
              for (int i = 0; i < texts.size(); i++) {
                assertThat(fresh.encode(texts.get(i), false)).isEqualTo(expected.get(i));
              }
            }
            return null;
          };
      for (Future<Void> done : executor.invokeAll(List.of(task, task, task, task, task, task))) {
        done.get();
      }
    } finally {
      executor.shutdownNow();
    }
  }

  @Test
  void longRunsTakeLinearTime() {
    // With quadratic time these would take hours.
    for (Tokenizer tokenizer : List.of(CHATML, LLAMA)) {
      for (String unit : List.of("a", " ", "\n", "中", "ab", "<|")) {
        String text = unit.repeat((1 << 20) / unit.length());
        assertThat(tokenizer.decode(tokenizer.encode(text, false), false)).isEqualTo(text);
      }
    }
  }

  private static List<String> tokens(Tokenizer tokenizer) {
    return tokenizer.addedTokens().stream().map(AddedToken::content).toList();
  }

  /** UTF-8 with added tokens and, at times, ill-formed parts. */
  private static byte[] bytes(long seed, Tokenizer tokenizer) {
    byte[] utf8 = Utf8.encode(new TextGenerator(seed, tokens(tokenizer)).next());
    SplittableRandom random = new SplittableRandom(seed);
    for (int i = random.nextInt(3); i > 0 && utf8.length > 0; i--) {
      int at = random.nextInt(utf8.length);
      if (utf8[at] < 0) {
        utf8[at] = (byte) random.nextInt(0x80, 0x100);
      }
    }
    return utf8;
  }

  static Path resource(String name) {
    return Path.of(
            Objects.requireNonNull(TokenizerTest.class.getResource(name + "/tokenizer.json"))
                .getPath())
        .getParent();
  }
}

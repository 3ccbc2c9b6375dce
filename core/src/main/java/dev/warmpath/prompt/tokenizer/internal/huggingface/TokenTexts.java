package dev.warmpath.prompt.tokenizer.internal.huggingface;

import dev.warmpath.prompt.tokenizer.AddedToken;
import dev.warmpath.prompt.tokenizer.Detokenizer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/** The way back: from ids to tokens in their written form and to text. */
final class TokenTexts {
  private final Vocabulary vocabulary;
  private final AddedVocabulary addedVocabulary;
  private final Decoding decoding;
  private final List<AddedToken> added;
  private final int size;

  /**
   * How tokens become text.
   *
   * @param byteLevel whether the tokens' bytes, one after another, are the text in UTF-8
   * @param steps what else is done to the tokens; not used for byte-level decoding
   */
  record Decoding(boolean byteLevel, List<Decoders.Step> steps) {}

  TokenTexts(Vocabulary vocabulary, AddedVocabulary addedVocabulary, Decoding decoding) {
    this.vocabulary = vocabulary;
    this.addedVocabulary = addedVocabulary;
    this.decoding = decoding;
    added = addedVocabulary.all();
    int greatest = vocabulary.size() - 1;
    for (AddedToken token : added) {
      greatest = Math.max(greatest, token.id());
    }
    size = greatest + 1;
  }

  /** The added tokens by id. */
  List<AddedToken> added() {
    return added;
  }

  /** Greatest id plus one. */
  int size() {
    return size;
  }

  /** The id of a token in its written form. */
  OptionalInt id(String written) {
    int id = addedVocabulary.find(written);
    return id < 0 ? OptionalInt.empty() : OptionalInt.of(id);
  }

  /** A token in its written form, or null. */
  @Nullable String written(int id) {
    AddedToken token = addedVocabulary.get(id);
    return token != null ? token.content() : vocabulary.token(id);
  }

  /** A detokenizer for one stream. */
  Detokenizer detokenizer(boolean skipsSpecial) {
    return decoding.byteLevel()
        ? new ByteLevelDetokenizer(skipsSpecial)
        : new SteppedDetokenizer(skipsSpecial);
  }

  /** For byte-level tokenizers: the bytes of the tokens, one after another, are the text. */
  private final class ByteLevelDetokenizer implements Detokenizer {
    private final boolean skipsSpecial;
    private final StreamingUtf8 utf8 = new StreamingUtf8();

    ByteLevelDetokenizer(boolean skipsSpecial) {
      this.skipsSpecial = skipsSpecial;
    }

    @Override
    public String append(int id) {
      AddedToken token = addedVocabulary.get(id);
      if (token == null) {
        return vocabulary.contains(id) ? vocabulary.appendTo(utf8, id) : "";
      }
      if (skipsSpecial && addedVocabulary.isSpecial(token.content())) {
        return "";
      }
      byte[] written = token.content().getBytes(StandardCharsets.UTF_8);
      byte[] raw = ByteLevel.toBytes(written, 0, written.length);
      return utf8.append(raw != null ? raw : written);
    }

    @Override
    public String finish() {
      return utf8.finish();
    }
  }

  /** For all other tokenizers: the decoder's steps, one after another. */
  private final class SteppedDetokenizer implements Detokenizer {
    private final boolean skipsSpecial;
    private final StringBuilder ready = new StringBuilder();
    private final TokenSink first;

    SteppedDetokenizer(boolean skipsSpecial) {
      this.skipsSpecial = skipsSpecial;
      TokenSink sink =
          new TokenSink() {
            @Override
            public void part(String text) {
              ready.append(text);
            }

            @Override
            public void endToken() {}

            @Override
            public void finish() {}
          };
      for (int i = decoding.steps().size() - 1; i >= 0; i--) {
        sink = decoding.steps().get(i).before(sink);
      }
      first = sink;
    }

    @Override
    public String append(int id) {
      String token = written(id);
      if (token == null || (skipsSpecial && addedVocabulary.isSpecial(token))) {
        return "";
      }
      first.part(token);
      first.endToken();
      return take();
    }

    @Override
    public String finish() {
      first.finish();
      return take();
    }

    private String take() {
      String text = ready.toString();
      ready.setLength(0);
      return text;
    }
  }
}

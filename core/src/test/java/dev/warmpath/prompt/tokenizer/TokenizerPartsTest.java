package dev.warmpath.prompt.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;

import ai.djl.huggingface.tokenizers.HuggingFaceTokenizer;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Compares each part of {@code tokenizer.json} with Hugging Face's own tokenizers, bound by DJL:
 * tiny tokenizers whose parts are exchanged one by one, on texts that look for trouble.
 */
class TokenizerPartsTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int TEXTS = 250;
  private static final String BYTES =
      ",{'type':'ByteLevel','add_prefix_space':false,'trim_offsets':true,'use_regex':false}]}";
  private static final String STEPS = "{'type':'Sequence','pretokenizers':[";

  @TempDir Path folder;

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'type':'NFC'}",
        "{'type':'NFD'}",
        "{'type':'NFKC'}",
        "{'type':'NFKD'}",
        "{'type':'Lowercase'}",
        "{'type':'StripAccents'}",
        "{'type':'Strip','strip_left':true,'strip_right':true}",
        "{'type':'Strip','strip_left':true,'strip_right':false}",
        "{'type':'Strip','strip_left':false,'strip_right':true}",
        "{'type':'Prepend','prepend':'>> '}",
        "{'type':'Replace','pattern':{'String':' '},'content':'_'}",
        "{'type':'Replace','pattern':{'String':'ll'},'content':''}",
        "{'type':'Replace','pattern':{'Regex':'\\\\s+'},'content':' '}",
        "{'type':'Nmt'}",
        "{'type':'Sequence','normalizers':[{'type':'NFKD'},{'type':'StripAccents'},{'type':'Lowercase'}]}",
        "{'type':'Sequence','normalizers':[]}"
      })
  void normalizers(String normalizer) throws IOException {
    ObjectNode json = tiny("chatml");
    json.set("normalizer", tree(normalizer));
    compare(json);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'type':'ByteLevel','add_prefix_space':true,'trim_offsets':true,'use_regex':true}",
        "{'type':'ByteLevel','add_prefix_space':false,'trim_offsets':true}",
        "{'type':'ByteLevel','add_prefix_space':true,'trim_offsets':true,'use_regex':false}",
        STEPS + "{'type':'Digits','individual_digits':true}" + BYTES,
        STEPS + "{'type':'Digits','individual_digits':false}" + BYTES,
        STEPS + "{'type':'Punctuation'}" + BYTES,
        STEPS + "{'type':'Punctuation','behavior':'Removed'}" + BYTES,
        STEPS + "{'type':'Punctuation','behavior':'MergedWithPrevious'}" + BYTES,
        STEPS + "{'type':'Punctuation','behavior':'MergedWithNext'}" + BYTES,
        STEPS + "{'type':'Punctuation','behavior':'Contiguous'}" + BYTES,
        STEPS + "{'type':'Whitespace'}" + BYTES,
        STEPS + "{'type':'WhitespaceSplit'}" + BYTES,
        STEPS + "{'type':'BertPreTokenizer'}" + BYTES,
        STEPS + "{'type':'FixedLength','length':3}" + BYTES,
        STEPS
            + "{'type':'Metaspace','replacement':'▁','prepend_scheme':'always','split':true}"
            + BYTES,
        STEPS
            + "{'type':'Metaspace','replacement':'▁','prepend_scheme':'first','split':true}"
            + BYTES,
        STEPS
            + "{'type':'Metaspace','replacement':'▁','prepend_scheme':'never','split':false}"
            + BYTES,
        STEPS
            + "{'type':'Digits','individual_digits':true},"
            + "{'type':'ByteLevel','add_prefix_space':true,'trim_offsets':true,'use_regex':true}]}",
        STEPS
            + "{'type':'ByteLevel','add_prefix_space':true,'trim_offsets':true,'use_regex':true},"
            + "{'type':'Digits','individual_digits':true}]}",
        STEPS
            + "{'type':'Sequence','pretokenizers':[{'type':'Digits','individual_digits':false},"
            + "{'type':'Punctuation','behavior':'Isolated'}]}"
            + BYTES
      })
  void preTokenizers(String preTokenizer) throws IOException {
    ObjectNode json = tiny("chatml");
    json.set("pre_tokenizer", tree(preTokenizer));
    compare(json);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\\\\p{N}{1,3}",
        "[^\\\\S\\\\n]+|\\\\w+|\\\\W",
        "(?i:he|wor)l+|\\\\d{2}+|o{,2}?",
        "[\\\\p{Han}\\\\p{Hiragana}]+|\\\\p{^L}",
        "\\\\h+|\\\\H|.",
        "^a|b$|\\\\Ac|d\\\\z|\\\\bthe\\\\b",
        "(?>a+)b|(?<!x)y(?!z)|[a-c&&[^b]]+",
        "(?i)don't|[0-9]{2}?",
        "\\\\p{Lu}\\\\p{Ll}*|[\\\\x{4E00}-\\\\x{9FFF}]|\\\\u00e9",
        "[\\\\s&&[^ ]]|[^\\\\p{L}\\\\p{N}\\\\s]+",
        "a*"
      })
  void splitsAtExpressions(String regex) throws IOException {
    for (String behavior :
        List.of("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous")) {
      for (boolean invert : new boolean[] {false, true}) {
        ObjectNode json = tiny("chatml");
        json.set(
            "pre_tokenizer",
            tree(
                STEPS
                    + "{'type':'Split','pattern':{'Regex':'"
                    + regex.replace("'", "\\u0027")
                    + "'},'behavior':'"
                    + behavior
                    + "','invert':"
                    + invert
                    + "}"
                    + BYTES));
        compare(json, 60);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"})
  void splitsAtLiterals(String behavior) throws IOException {
    for (String literal : List.of(" ", "ll", ".")) {
      ObjectNode json = tiny("chatml");
      json.set(
          "pre_tokenizer",
          tree(
              STEPS
                  + "{'type':'Split','pattern':{'String':'"
                  + literal
                  + "'},'behavior':'"
                  + behavior
                  + "','invert':false}"
                  + BYTES));
      compare(json, 80);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'ignore_merges':true}",
        "{'dropout':0.0}",
        "{'continuing_subword_prefix':'','end_of_word_suffix':''}",
        "{'unk_token':'!','byte_fallback':true}",
        "{'end_of_word_suffix':'e','ignore_merges':true,'unk_token':'a'}",
        "{'end_of_word_suffix':'s','unk_token':'a','fuse_unk':true}",
        "{'end_of_word_suffix':'d'}"
      })
  void byteLevelModels(String options) throws IOException {
    ObjectNode json = tiny("chatml");
    ((ObjectNode) json.get("model")).setAll((ObjectNode) tree(options));
    compare(json);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'fuse_unk':false}",
        "{'byte_fallback':false}",
        "{'byte_fallback':false,'fuse_unk':false}",
        "{'byte_fallback':false,'unk_token':null}",
        "{'ignore_merges':true}",
        "{'ignore_merges':true,'byte_fallback':false}",
        "{'end_of_word_suffix':'e'}"
      })
  void characterLevelModels(String options) throws IOException {
    ObjectNode json = tiny("llama");
    ((ObjectNode) json.get("model")).setAll((ObjectNode) tree(options));
    compare(json);
  }

  @ParameterizedTest
  @ValueSource(strings = {"<0xE4>", "<0x41>", "<0x0A>"})
  void aMissingByteTokenMakesItsCharactersUnknown(String missing) throws IOException {
    for (String options : List.of("{}", "{'fuse_unk':false}", "{'unk_token':null}")) {
      ObjectNode json = tiny("llama");
      ((ObjectNode) json.get("model")).setAll((ObjectNode) tree(options));
      ObjectNode vocabulary = (ObjectNode) json.at("/model/vocab");
      vocabulary.set("(gone)", vocabulary.remove(missing));
      compare(json);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"a", " ", "é", "\u0000"})
  void aMissingByteIsUnknown(String missing) throws IOException {
    ObjectNode json = tiny("chatml");
    json.putNull("normalizer");
    ObjectNode model = (ObjectNode) json.get("model");
    ObjectNode vocabulary = (ObjectNode) model.get("vocab");
    // The byte-level form of the last byte of the character.
    int b = missing.getBytes(StandardCharsets.UTF_8)[missing.equals("é") ? 1 : 0] & 0xFF;
    String form = b == ' ' ? "\u0120" : b == 0 ? "\u0100" : String.valueOf((char) b);
    vocabulary.set("(gone)", vocabulary.remove(form));
    model.putArray("merges");
    compare(json);
    model.put("unk_token", "!");
    compare(json);
    model.put("fuse_unk", true);
    compare(json);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "'lstrip':true,'rstrip':false,'single_word':false,'normalized':false,'special':true",
        "'lstrip':false,'rstrip':true,'single_word':false,'normalized':false,'special':true",
        "'lstrip':true,'rstrip':true,'single_word':false,'normalized':true,'special':false",
        "'lstrip':false,'rstrip':false,'single_word':true,'normalized':false,'special':false",
        "'lstrip':true,'rstrip':true,'single_word':true,'normalized':false,'special':true",
        "'lstrip':false,'rstrip':false,'single_word':false,'normalized':true,'special':true",
        "'lstrip':false,'rstrip':true,'single_word':true,'normalized':true,'special':false"
      })
  void addedTokens(String flags) throws IOException {
    for (String model : List.of("chatml", "llama")) {
      ObjectNode json = tiny(model);
      if (model.equals("chatml")) {
        json.set("normalizer", tree("{'type':'Lowercase'}"));
      }
      int id = 2000;
      for (String content :
          List.of(
              "hello", "world", "the", "ab", "abc", "bcd", "  ", "\n", "東京", "é", "HELLO",
              "<|x|>")) {
        json.withArray("added_tokens")
            .add(
                tree(
                    "{'id':"
                        + id++
                        + ",'content':'"
                        + content.replace("\n", "\\n")
                        + "',"
                        + flags
                        + "}"));
      }
      compare(
          json,
          TEXTS,
          "hello",
          " hello ",
          "the",
          "abcd",
          "abc",
          "ab",
          "  ",
          "\n",
          "東京",
          "é",
          "Hello",
          "HELLO",
          "_the",
          "<|x|>",
          "   <|x|>  ");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'type':'TemplateProcessing','single':[{'SpecialToken':{'id':'A','type_id':0}},{'Sequence':{'id':'A','type_id':0}},{'SpecialToken':{'id':'B','type_id':0}}],'pair':[{'Sequence':{'id':'A','type_id':0}},{'Sequence':{'id':'B','type_id':1}}],'special_tokens':{'A':{'id':'A','ids':[5,6],'tokens':['x','y']},'B':{'id':'B','ids':[7],'tokens':['z']}}}",
        "{'type':'BertProcessing','sep':['s',9],'cls':['c',8]}",
        "{'type':'RobertaProcessing','sep':['s',9],'cls':['c',8],'trim_offsets':true,'add_prefix_space':true}",
        "{'type':'Sequence','processors':[{'type':'ByteLevel','add_prefix_space':true,'trim_offsets':false,'use_regex':true},{'type':'BertProcessing','sep':['s',9],'cls':['c',8]}]}"
      })
  void postProcessors(String processor) throws IOException {
    ObjectNode json = tiny("chatml");
    json.set("post_processor", tree(processor));
    compare(json, 50);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "null",
        "{'type':'ByteLevel','add_prefix_space':true,'trim_offsets':true,'use_regex':true}",
        "{'type':'Sequence','decoders':[{'type':'ByteLevel','add_prefix_space':true,'trim_offsets':true},{'type':'Strip','content':'"
            + " ','start':1,'stop':0}]}",
        "{'type':'Metaspace','replacement':'▁','prepend_scheme':'always','split':true}",
        "{'type':'Metaspace','replacement':'▁','prepend_scheme':'never','split':true}",
        "{'type':'BPEDecoder','suffix':'e'}",
        "{'type':'WordPiece','prefix':'t','cleanup':true}",
        "{'type':'Sequence','decoders':[{'type':'Replace','pattern':{'String':'▁'},'content':'"
            + " '},{'type':'ByteFallback'},{'type':'Fuse'}]}",
        "{'type':'Sequence','decoders':[{'type':'Replace','pattern':{'String':'▁t'},'content':'T'},{'type':'ByteFallback'},{'type':'Strip','content':'T','start':1,'stop':0}]}",
        "{'type':'Sequence','decoders':[{'type':'Replace','pattern':{'Regex':'[▁e]+'},'content':'.'},{'type':'Fuse'},{'type':'Replace','pattern':{'String':'..'},'content':'-'}]}",
        "{'type':'Sequence','decoders':[{'type':'Fuse'},{'type':'Strip','content':'▁','start':2,'stop':2}]}"
      })
  void decoders(String decoder) throws IOException {
    for (String model : List.of("chatml", "llama")) {
      ObjectNode json = tiny(model);
      json.set("decoder", tree(decoder));
      compare(json);
    }
  }

  private void compare(ObjectNode json) throws IOException {
    compare(json, TEXTS);
  }

  private void compare(ObjectNode json, int texts, String... tokens) throws IOException {
    Path file = folder.resolve("tokenizer.json");
    JSON.writeValue(file.toFile(), json);
    Tokenizer tokenizer = Tokenizers.load(file);
    try (HuggingFaceTokenizer reference =
        HuggingFaceTokenizer.builder()
            .optTokenizerPath(file)
            .optTruncation(false)
            .optPadding(false)
            .build()) {
      String added = tokenizer.addedTokens().get(1).content();
      TextGenerator generator =
          new TextGenerator(
              3, tokens.length > 0 ? List.of(tokens) : List.of(added, " " + added + "\n", "hello"));
      for (int i = 0; i < texts; i++) {
        String text = i == 0 ? "" : generator.next();
        int[] ids = tokenizer.encode(text, true);
        long[] expected = reference.encode(wellFormed(text)).getIds();
        assertThat(ids).as("ids of %s", text).isEqualTo(toInts(expected));
      }
      SplittableRandom random = new SplittableRandom(4);
      for (int i = 0; i < texts; i++) {
        int[] ids = random.ints(random.nextInt(1, 20), 0, tokenizer.vocabularySize()).toArray();
        long[] longs = Arrays.stream(ids).asLongStream().toArray();
        for (boolean skip : new boolean[] {false, true}) {
          assertThat(tokenizer.decode(ids, skip))
              .as("text of %s", Arrays.toString(ids))
              .isEqualTo(reference.decode(longs, skip));
        }
      }
    }
  }

  private static ObjectNode tiny(String name) throws IOException {
    try (InputStream in = TokenizerPartsTest.class.getResourceAsStream(name + "/tokenizer.json")) {
      return (ObjectNode) JSON.readTree(in);
    }
  }

  private static JsonNode tree(String json) throws IOException {
    return JSON.readTree(json.replace('\'', '"'));
  }

  private static int[] toInts(long[] ids) {
    return Arrays.stream(ids).mapToInt(Math::toIntExact).toArray();
  }

  private static String wellFormed(String text) {
    StringBuilder out = new StringBuilder(text.length());
    text.codePoints().forEach(c -> out.appendCodePoint(c >= 0xD800 && c <= 0xDFFF ? 0xFFFD : c));
    return out.toString();
  }
}

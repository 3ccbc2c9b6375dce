package dev.warmpath.prompt.tokenizer.internal.huggingface;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import dev.warmpath.prompt.tokenizer.internal.unicode.Bytes;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * A {@code tokenizer.json} as read: the small parts as trees, the model's vocabulary and merges
 * streamed into arrays, since they are millions of bytes.
 */
final class TokenizerJson {
  private static final JsonMapper MAPPER =
      JsonMapper.builder(
              JsonFactory.builder()
                  // Each name in a vocabulary comes once: a symbol table would only grow.
                  .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
                  .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
                  .streamReadConstraints(
                      StreamReadConstraints.builder()
                          .maxStringLength(Integer.MAX_VALUE)
                          .maxNameLength(Integer.MAX_VALUE)
                          .build())
                  .build())
          .build();

  private final Map<String, JsonNode> parts = new HashMap<>();
  private final Map<String, JsonNode> model = new HashMap<>();
  private final Vocabulary.Builder vocabulary = new Vocabulary.Builder();
  private final Bytes mergeText = new Bytes(1 << 16);
  private int[] mergeEnds = new int[1 << 12];
  private int mergeParts;
  private boolean hasVocabulary;
  private boolean hasMerges;

  private TokenizerJson() {}

  /** Reads a file. */
  static TokenizerJson read(InputStream in) throws IOException {
    TokenizerJson json = new TokenizerJson();
    try (JsonParser parser = MAPPER.createParser(in)) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        throw new IllegalArgumentException("no JSON object");
      }
      while (parser.nextToken() != JsonToken.END_OBJECT) {
        String name = parser.currentName();
        if (parser.nextToken() == JsonToken.START_OBJECT && name.equals("model")) {
          json.readModel(parser);
        } else {
          json.parts.put(name, MAPPER.readTree(parser));
        }
      }
    }
    return json;
  }

  /** Reads any other JSON file. */
  static JsonNode readTree(InputStream in) throws IOException {
    return MAPPER.readTree(in);
  }

  /** A part of the file, missing or null if there is none. */
  JsonNode part(String name) {
    return parts.getOrDefault(name, MissingNode.getInstance());
  }

  /** A property of the model. */
  JsonNode model(String name) {
    return model.getOrDefault(name, MissingNode.getInstance());
  }

  /** The model's kind; old files don't name it. */
  String modelType() {
    String guess = hasMerges ? "BPE" : model.containsKey("unk_id") ? "Unigram" : "WordPiece";
    return model("type").asText(guess);
  }

  /** The vocabulary, a byte-level one if words are given to the model as bytes. */
  Vocabulary vocabulary(boolean byteLevel) {
    return vocabulary.build(byteLevel);
  }

  /** The merges, as ids of the vocabulary. */
  Merges merges(Vocabulary vocabulary, int prefixBytes) {
    if (!hasVocabulary || !hasMerges) {
      throw new IllegalArgumentException("a model without vocabulary or merges");
    }
    int count = mergeParts / 2;
    int[] lefts = new int[count];
    int[] rights = new int[count];
    int[] results = new int[count];
    byte[] text = mergeText.array();
    for (int rank = 0; rank < count; rank++) {
      int start = mergeEnds[2 * rank];
      int middle = mergeEnds[2 * rank + 1];
      int end = mergeEnds[2 * rank + 2];
      lefts[rank] = find(vocabulary, Arrays.copyOfRange(text, start, middle));
      rights[rank] = find(vocabulary, Arrays.copyOfRange(text, middle, end));
      byte[] merged = Arrays.copyOfRange(text, start, end - prefixBytes);
      System.arraycopy(
          text, middle + prefixBytes, merged, middle - start, end - middle - prefixBytes);
      results[rank] = find(vocabulary, merged);
    }
    return new Merges(lefts, rights, results);
  }

  private static int find(Vocabulary vocabulary, byte[] written) {
    int id = vocabulary.findWritten(written);
    if (id < 0) {
      throw new IllegalArgumentException(
          "a merge of '"
              + new String(written, StandardCharsets.UTF_8)
              + "', which the vocabulary lacks");
    }
    return id;
  }

  private void readModel(JsonParser parser) throws IOException {
    while (parser.nextToken() != JsonToken.END_OBJECT) {
      String name = parser.currentName();
      JsonToken value = parser.nextToken();
      if (name.equals("vocab") && value == JsonToken.START_OBJECT) {
        readVocabulary(parser);
      } else if (name.equals("vocab") && value == JsonToken.START_ARRAY) {
        readScoredVocabulary(parser);
      } else if (name.equals("merges") && value == JsonToken.START_ARRAY) {
        readMerges(parser);
      } else {
        model.put(name, MAPPER.readTree(parser));
      }
    }
  }

  private void readVocabulary(JsonParser parser) throws IOException {
    hasVocabulary = true;
    while (parser.nextToken() != JsonToken.END_OBJECT) {
      String token = parser.currentName();
      parser.nextToken();
      int id = parser.getIntValue();
      if (id < 0 || id >= Vocabulary.MAX_SIZE) {
        throw new IllegalArgumentException("the token id " + id + " is out of range");
      }
      vocabulary.add(token.toCharArray(), 0, token.length(), id);
    }
  }

  /** Unigram's vocabulary: arrays of a token and its score, in the order of ids. */
  private void readScoredVocabulary(JsonParser parser) throws IOException {
    hasVocabulary = true;
    int id = 0;
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      String token = parser.nextTextValue();
      if (token == null || id >= Vocabulary.MAX_SIZE) {
        throw new IllegalArgumentException("a vocabulary without tokens, or with too many");
      }
      vocabulary.add(token.toCharArray(), 0, token.length(), id++);
      while (parser.nextToken() != JsonToken.END_ARRAY) {
        parser.skipChildren();
      }
    }
  }

  /** Merges are strings with a space between the two sides, or arrays of the two. */
  private void readMerges(JsonParser parser) throws IOException {
    hasMerges = true;
    while (true) {
      JsonToken token = parser.nextToken();
      if (token == JsonToken.END_ARRAY) {
        return;
      }
      if (token == JsonToken.VALUE_STRING) {
        readLegacyMerge(parser);
      } else {
        for (int side = 0; side < 2; side++) {
          if (parser.nextToken() != JsonToken.VALUE_STRING) {
            throw new IllegalArgumentException("a merge that is no pair of strings");
          }
          addMergePart(parser.getTextCharacters(), parser.getTextOffset(), parser.getTextLength());
        }
        if (parser.nextToken() != JsonToken.END_ARRAY) {
          throw new IllegalArgumentException("a merge that is no pair of strings");
        }
      }
    }
  }

  private void readLegacyMerge(JsonParser parser) throws IOException {
    char[] chars = parser.getTextCharacters();
    int from = parser.getTextOffset();
    int to = from + parser.getTextLength();
    if (parser.getText().startsWith("#version")) {
      return;
    }
    int space = -1;
    for (int i = from; i < to; i++) {
      if (chars[i] == ' ') {
        if (space >= 0) {
          throw new IllegalArgumentException("a merge with more than one space");
        }
        space = i;
      }
    }
    if (space < 0) {
      throw new IllegalArgumentException("a merge without a space");
    }
    addMergePart(chars, from, space - from);
    addMergePart(chars, space + 1, to - space - 1);
  }

  private void addMergePart(char[] chars, int from, int length) {
    if (mergeParts + 1 == mergeEnds.length) {
      mergeEnds = Arrays.copyOf(mergeEnds, mergeEnds.length * 2);
    }
    Vocabulary.appendUtf8(mergeText, chars, from, length);
    mergeEnds[++mergeParts] = mergeText.size();
  }
}

package dev.warmpath.prompt.tokenizer.internal.huggingface;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import dev.warmpath.prompt.tokenizer.AddedToken;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What {@code tokenizer_config.json} changes in a tokenizer, as transformers 4 applies it to fast
 * tokenizers: further added tokens, and for some classes the tokens around a text.
 */
final class TokenizerConfig {
  static final TokenizerConfig NONE = new TokenizerConfig(MissingNode.getInstance());

  /**
   * Classes that replace the post-processor by one that follows add_bos_token and add_eos_token.
   */
  private static final Set<String> REPLACING =
      Set.of("LlamaTokenizer", "CodeLlamaTokenizer", "GemmaTokenizer", "CohereTokenizer");

  private static final List<String> NAMED =
      List.of(
          "bos_token",
          "eos_token",
          "unk_token",
          "sep_token",
          "pad_token",
          "cls_token",
          "mask_token");

  private final JsonNode config;

  TokenizerConfig(JsonNode config) {
    this.config = config;
  }

  /** Adds the tokens that the configuration names. */
  void addTokens(AddedVocabulary vocabulary) {
    List<AddedToken> tokens = new ArrayList<>();
    Set<String> contents = new HashSet<>();
    vocabulary.all().forEach(token -> contents.add(token.content()));
    List<Map.Entry<String, JsonNode>> listed = new ArrayList<>();
    listed.addAll(config.path("added_tokens_decoder").properties());
    listed.sort(Comparator.comparingInt(entry -> Integer.parseInt(entry.getKey())));
    for (Map.Entry<String, JsonNode> entry : listed) {
      AddedToken token =
          TokenizerReader.addedToken(entry.getValue(), Integer.parseInt(entry.getKey()));
      tokens.add(token);
      contents.add(token.content());
    }
    for (JsonNode node : specialNodes()) {
      if (contents.add(content(node))) {
        tokens.add(special(node));
      }
    }
    vocabulary.add(tokens);
  }

  private List<JsonNode> specialNodes() {
    List<JsonNode> nodes = new ArrayList<>();
    for (String name : NAMED) {
      nodes.add(config.path(name));
    }
    config.path("additional_special_tokens").forEach(nodes::add);
    JsonNode extra = config.path("extra_special_tokens");
    extra.forEach(nodes::add);
    nodes.removeIf(node -> !node.isTextual() && !node.has("content"));
    return nodes;
  }

  private static String content(JsonNode node) {
    return node.isTextual() ? node.asText() : node.path("content").asText();
  }

  /** A special token that is only named is neither normalized nor stripped. */
  private static AddedToken special(JsonNode node) {
    return new AddedToken(
        -1,
        content(node),
        true,
        node.path("single_word").asBoolean(false),
        node.path("lstrip").asBoolean(false),
        node.path("rstrip").asBoolean(false),
        false);
  }

  /** Whether special tokens in a text count as plain text. */
  boolean splitsSpecialTokens() {
    return config.path("split_special_tokens").asBoolean(false);
  }

  /** Whether the tokens around a text come from here rather than from the post-processor. */
  boolean replacesSpecialTokens() {
    String type = config.path("tokenizer_class").asText();
    return REPLACING.contains(
        type.endsWith("Fast") ? type.substring(0, type.length() - "Fast".length()) : type);
  }

  /** The tokens around a text. */
  SpecialTokens specialTokens(AddedVocabulary vocabulary) {
    return new SpecialTokens(
        config.path("add_bos_token").asBoolean(true)
            ? ids(vocabulary, "bos_token", defaultToken("<s>", "<bos>", "<BOS_TOKEN>"))
            : new int[0],
        config.path("add_eos_token").asBoolean(false)
            ? ids(vocabulary, "eos_token", defaultToken("</s>", "<eos>", "<|END_OF_TURN_TOKEN|>"))
            : new int[0]);
  }

  private String defaultToken(String llama, String gemma, String cohere) {
    String type = config.path("tokenizer_class").asText();
    return type.startsWith("Gemma") ? gemma : type.startsWith("Cohere") ? cohere : llama;
  }

  private int[] ids(AddedVocabulary vocabulary, String name, @Nullable String otherwise) {
    JsonNode node = config.path(name);
    String token = node.isTextual() || node.has("content") ? content(node) : otherwise;
    int id = token == null ? -1 : vocabulary.find(token);
    if (id < 0) {
      throw new IllegalArgumentException("add_" + name + " without a " + name);
    }
    return new int[] {id};
  }
}

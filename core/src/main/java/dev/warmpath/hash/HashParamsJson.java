package dev.warmpath.hash;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Reads {@link HashParams} from JSON. Messages name keys and never repeat values. */
final class HashParamsJson {

  private static final ObjectMapper MAPPER = new ObjectMapper();

  private final HashParams.Builder params = HashParams.builder();
  private final List<BlockExtra> extras = new ArrayList<>();
  private final List<String> unknown = new ArrayList<>();
  private @Nullable Integer blockSize;

  private HashParamsJson() {}

  static HashParams read(String json) {
    JsonNode root;
    try {
      root = MAPPER.readTree(json);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(
          "hash parameters are not JSON, see line " + e.getLocation().getLineNr(), e);
    }
    if (root == null || !root.isObject()) {
      throw new IllegalArgumentException("hash parameters must be a JSON object");
    }
    HashParamsJson reader = new HashParamsJson();
    for (Map.Entry<String, JsonNode> field : root.properties()) {
      if (!field.getValue().isNull()) {
        reader.field(field.getKey(), field.getValue());
      }
    }
    return reader.params.extras(reader.extras).unknownKeys(reader.unknown).build();
  }

  private void field(String key, JsonNode value) {
    switch (key) {
      case "block_size", "page_size" -> blockSize(key, integer(key, value));
      case "dcp_world_size" -> params.contextParallel(integer(key, value));
      case "hash_block_tokens" -> params.hashBlockTokens(integer(key, value));
      case "seed" -> params.seed(text(key, value));
      case "none_hash_hex" -> params.noneHash(text(key, value));
      case "none_hash_u64" -> params.noneHash(numberText(key, value));
      case "xxh3_seed_u64" -> params.xxh3Seed(Bytes.unsigned(key, numberText(key, value)));
      case "model" -> params.model(text(key, value));
      case "alg" -> params.algorithm(text(key, value));
      case "mm_extra_key_style" -> params.multimodalKeyStyle(style(key, value));
      case "is_eagle", "eagle" -> params.eagle(flag(key, value));
      case "namespaced" -> params.namespaced(flag(key, value));
      case "legacy" -> params.legacy(flag(key, value));
      case "include_partial_tail" -> params.partialTail(flag(key, value));
      case "wide_tokens" -> params.wideTokens(flag(key, value));
      case "lora_name_mix" -> params.loraNameMix(text(key, value));
      case "lora_name", "lora" -> params.loraName(text(key, value));
      case "cache_salt", "ns" -> params.cacheSalt(text(key, value));
      case "extra_key" -> params.extraKey(text(key, value));
      case "prior_hex", "parent_hex" -> params.parent(text(key, value));
      case "parent_u64", "parent_sequence_hash_u64" -> params.parent(numberText(key, value));
      case "parent_given" -> flag(key, value); // says no more than that there is a parent
      case "first_token_index" -> params.firstTokenIndex(integer(key, value));
      case "mm" -> items(key, value);
      case "prompt_embeds_sha256_hex_per_block" -> embeds(key, value);
      case "mm_hashes_u64_by_block", "extra_strings_by_block" ->
          params.blockKeys(blockKeys(key, value));
      default -> unknown.add(key);
    }
  }

  private void blockSize(String key, int tokens) {
    if (blockSize != null && blockSize != tokens) {
      throw new IllegalArgumentException(key + " contradicts the other block size");
    }
    blockSize = tokens;
    params.blockSize(tokens);
  }

  private void items(String key, JsonNode value) {
    for (JsonNode item : array(key, value)) {
      extras.add(
          new MultimodalItem(
              text(key + ".identifier", item.path("identifier")),
              integer(key + ".offset", item.path("offset")),
              integer(key + ".length", item.path("length"))));
    }
  }

  private void embeds(String key, JsonNode value) {
    JsonNode digests = array(key, value);
    for (int block = 0; block < digests.size(); block++) {
      if (!digests.get(block).isNull()) {
        extras.add(new PromptEmbeds(block, text(key, digests.get(block))));
      }
    }
  }

  private static Map<Integer, List<String>> blockKeys(String key, JsonNode value) {
    if (!value.isObject()) {
      throw wrong(key, "an object from block indices to lists");
    }
    Map<Integer, List<String>> keys = new TreeMap<>();
    for (Map.Entry<String, JsonNode> field : value.properties()) {
      int block;
      try {
        block = Integer.parseUnsignedInt(field.getKey());
      } catch (NumberFormatException e) {
        throw wrong(key, "an object from block indices to lists");
      }
      List<String> list = new ArrayList<>();
      for (JsonNode item : array(key, field.getValue())) {
        list.add(numberText(key, item));
      }
      keys.put(block, list);
    }
    return keys;
  }

  private static MultimodalKeyStyle style(String key, JsonNode value) {
    return switch (text(key, value)) {
      case "pair" -> MultimodalKeyStyle.PAIR;
      case "bare" -> MultimodalKeyStyle.BARE;
      default -> throw wrong(key, "pair or bare");
    };
  }

  private static JsonNode array(String key, JsonNode value) {
    if (!value.isArray()) {
      throw wrong(key, "a list");
    }
    return value;
  }

  private static String text(String key, JsonNode value) {
    if (!value.isTextual()) {
      throw wrong(key, "a string");
    }
    return value.textValue();
  }

  /** A text, or a number as one. */
  private static String numberText(String key, JsonNode value) {
    return value.isIntegralNumber() ? value.asText() : text(key, value);
  }

  private static int integer(String key, JsonNode value) {
    if (!value.canConvertToInt() || !value.isIntegralNumber()) {
      throw wrong(key, "an integer");
    }
    return value.intValue();
  }

  private static boolean flag(String key, JsonNode value) {
    if (!value.isBoolean()) {
      throw wrong(key, "true or false");
    }
    return value.booleanValue();
  }

  private static IllegalArgumentException wrong(String key, String expected) {
    return new IllegalArgumentException(key + " must be " + expected);
  }
}

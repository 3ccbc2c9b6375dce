package dev.warmpath.hash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class HashParamsTest {

  private static final int[] TOKENS = IntStream.range(0, 64).toArray();

  private static BlockHashes hashes(String scheme, String json) {
    return HashSchemes.open(scheme, HashParams.parse(json), Retention.REPORTED)
        .append(TOKENS)
        .finish()
        .hashes();
  }

  @Test
  void listsTheSchemes() {
    assertThat(HashSchemes.names())
        .containsExactly(
            "sglang-event",
            "sglang-hicache",
            "fake-sglang",
            "vllm-sha256",
            "vllm-sha256-cbor",
            "vllm-xxhash",
            "vllm-xxhash-cbor",
            "atom",
            "dynamo",
            "llmd");
    assertThatThrownBy(() -> HashSchemes.byName("md5", HashParams.builder().build()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("md5")
        .hasMessageContaining("vllm-sha256-cbor");
  }

  @ParameterizedTest
  @CsvSource({"sglang-event,1", "sglang-hicache,1", "vllm-sha256,16", "atom,16"})
  void hasTheEnginesDefaultBlockSize(String scheme, int tokens) {
    HashParams none = HashParams.parse("{}");
    assertThat(HashSchemes.byName(scheme, none).blockTokens()).isEqualTo(tokens);
  }

  @ParameterizedTest
  @CsvSource({
    "dynamo,the block size",
    "llmd,the name of the model",
    "vllm-xxhash,PYTHONHASHSEED",
    "vllm-xxhash-cbor,PYTHONHASHSEED"
  })
  void saysWhatASchemeLacks(String scheme, String missing) {
    assertThatThrownBy(() -> HashSchemes.byName(scheme, HashParams.builder().build()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(missing);
  }

  @Test
  void emptyTextsCountAsAbsentButForTheSeed() {
    for (String scheme : HashSchemes.names()) {
      String rest = "\"block_size\": 16, \"model\": \"m\", \"seed\": \"7\"";
      assertThat(
              hashes(
                      scheme,
                      "{\"cache_salt\": \"\", \"lora_name\": \"\", \"extra_key\": \"\", %s}"
                          .formatted(rest))
                  .commonPrefix(hashes(scheme, "{\"cache_salt\": null, %s}".formatted(rest))))
          .as(scheme)
          .isEqualTo(4);
    }
    assertThat(hashes("vllm-sha256", "{\"seed\": \"\"}").bits(0))
        .isNotEqualTo(hashes("vllm-sha256", "{}").bits(0));
  }

  @Test
  void theBlockSizeCanBeOverruled() {
    HashParams params = HashParams.parse("{\"page_size\": 4}").toBuilder().blockSize(8).build();
    assertThat(HashSchemes.byName("sglang-event", params).blockTokens()).isEqualTo(8);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "16 | 2 |    | 32",
        "16 | 2 | 32 | 32",
        "   | 2 | 8  | 8",
        "4  |   | 8  | 8",
        "   |   | 48 | 48",
        "   | 4 |    | 64"
      })
  void atomCountsTheRanksOfTheContext(Integer block, Integer ranks, Integer hashed, int tokens) {
    HashParams.Builder params = HashParams.builder();
    if (block != null) {
      params.blockSize(block);
    }
    if (ranks != null) {
      params.contextParallel(ranks);
    }
    if (hashed != null) {
      params.hashBlockTokens(hashed);
    }
    assertThat(HashSchemes.byName("atom", params.build()).blockTokens()).isEqualTo(tokens);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"block_size\": 16, \"dcp_world_size\": 2, \"hash_block_tokens\": 16}",
        "{\"block_size\": 0}",
        "{\"block_size\": -4}",
        "{\"parent_u64\": \"-1\"}",
        "{\"parent_u64\": \"18446744073709551616\"}",
        "{\"first_token_index\": 16}"
      })
  void refusesContradictions(String json) {
    assertThatThrownBy(() -> hashes("atom", json)).isInstanceOf(IllegalArgumentException.class);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"seed\": \"42\", \"none_hash_hex\": \"9bd9\"}",
        "{\"none_hash_hex\": \"zz\"}",
        "{\"seed\": \"1\", \"none_hash_hex\":"
            + " \"9fa6eb003f14425eb9c8e6baacfbcaab26257357b829c7bfa74ffcc4f31c1780\"}",
        "{\"parent_hex\": \"00\"}",
        "{\"mm\": [{\"identifier\": \"i\", \"offset\": 0, \"length\": 0}]}",
        "{\"mm\": [{\"identifier\": \"i\", \"offset\": -1, \"length\": 4}]}",
        "{\"mm\": [{\"identifier\": \"i\"}]}",
        "{\"mm\": 3}",
        "{\"prompt_embeds_sha256_hex_per_block\": [\"00\"]}",
        "{\"mm_extra_key_style\": \"other\"}",
        "{\"cache_salt\": \"\\ud800\"}"
      })
  void refusesWrongForms(String json) {
    assertThatThrownBy(() -> hashes("vllm-sha256-cbor", json))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void anItemAfterAParentNeedsItsPlace() {
    String parent = "\"parent_hex\": \"" + "00".repeat(32) + "\"";
    String item = "\"mm\": [{\"identifier\": \"i\", \"offset\": 40, \"length\": 4}]";
    assertThatThrownBy(() -> hashes("vllm-sha256", "{%s, %s}".formatted(parent, item)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("first_token_index");
    String place = "\"first_token_index\": 32";
    BlockHashes placed = hashes("vllm-sha256", "{%s, %s, %s}".formatted(parent, item, place));
    BlockHashes plain = hashes("vllm-sha256", "{%s, %s}".formatted(parent, place));
    assertThat(placed.bits(0)).isNotEqualTo(plain.bits(0));
    // What lies before the parent's end is in the parent's digest.
    String before = "\"mm\": [{\"identifier\": \"i\", \"offset\": 4, \"length\": 28}]";
    BlockHashes passed = hashes("vllm-sha256", "{%s, %s, %s}".formatted(parent, before, place));
    assertThat(passed.commonPrefix(plain)).isEqualTo(4);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "[]",
        "{",
        "3",
        "{\"block_size\": \"16\"}",
        "{\"block_size\": 1.5}",
        "{\"page_size\": 4, \"block_size\": 8}",
        "{\"seed\": 42}",
        "{\"eagle\": 1}",
        "{\"xxh3_seed_u64\": \"x\"}",
        "{\"extra_strings_by_block\": []}",
        "{\"extra_strings_by_block\": {\"x\": []}}"
      })
  void refusesJsonOfTheWrongForm(String json) {
    assertThatThrownBy(() -> HashParams.parse(json)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void namesUnknownKeysAndHidesValues() {
    assertThat(HashParams.parse("{\"blok_size\": 4, \"seed\": \"1\"}").unknownKeys())
        .containsExactly("blok_size");
    assertThatThrownBy(() -> HashParams.parse("{\"cache_salt\": \"hush\" oops}"))
        .hasMessageNotContaining("hush");
    assertThatThrownBy(() -> HashParams.parse("{\"cache_salt\": {\"hush\": 1}}"))
        .hasMessageContaining("cache_salt")
        .hasMessageNotContaining("hush");
  }

  @Test
  void oldSglangBuildsHashTokensOnly() {
    for (String scheme : new String[] {"sglang-event", "sglang-hicache", "fake-sglang"}) {
      BlockHashes salted = hashes(scheme, "{\"page_size\": 16, \"cache_salt\": \"a\"}");
      BlockHashes older =
          hashes(scheme, "{\"page_size\": 16, \"cache_salt\": \"a\", \"namespaced\": false}");
      BlockHashes plain = hashes(scheme, "{\"page_size\": 16}");
      assertThat(older.bits(3)).isEqualTo(plain.bits(3)).isNotEqualTo(salted.bits(3));
      assertThat(older.namespace().comparableWith(plain.namespace())).isFalse();
    }
  }

  @Test
  void llmdFoldsTheSaltInLast() {
    String base = "\"block_size\": 16, \"model\": \"m\"";
    for (String alg : new String[] {"cbor-fnv", "xxh64"}) {
      BlockHashes salted =
          hashes(
              "llmd",
              "{%s, \"alg\": \"%s\", \"cache_salt\": \"s\", \"extra_strings_by_block\": {\"0\": [\"i\"]}}"
                  .formatted(base, alg));
      BlockHashes listed =
          hashes(
              "llmd",
              "{%s, \"alg\": \"%s\", \"extra_strings_by_block\": {\"0\": [\"i\", \"s\"]}}"
                  .formatted(base, alg));
      assertThat(salted.bits(3)).isEqualTo(listed.bits(3));
    }
    assertThatThrownBy(() -> hashes("llmd", "{%s, \"alg\": \"md5\"}".formatted(base)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("cbor-fnv");
  }

  @Test
  void onlyOneVllmSchemeHasALegacyForm() {
    assertThatThrownBy(() -> hashes("vllm-sha256", "{\"legacy\": true}"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("vllm-sha256-cbor");
  }

  @Test
  void aRandomRootMayBeWiderThanTheDigest() {
    String root = "00".repeat(32);
    BlockHashes hashes = hashes("vllm-xxhash-cbor", "{\"none_hash_hex\": \"%s\"}".formatted(root));
    assertThat(hashes.size()).isEqualTo(4);
    // As vLLM builds before the fixed seed did: 32 bytes under the first block, 16 later.
    BlockHashes later =
        HashSchemes.byName(
                "vllm-xxhash-cbor", HashParams.builder().noneHash("11".repeat(16)).build())
            .newChain()
            .append(TOKENS)
            .hashes();
    assertThat(later.bits(0)).isNotEqualTo(hashes.bits(0));
  }
}

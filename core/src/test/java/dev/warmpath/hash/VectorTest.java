package dev.warmpath.hash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Every published or recomputed vector of the engines' hashes, bit for bit. */
class VectorTest {

  /** Scheme of each vector file. */
  private static final Map<String, String> FILES =
      Map.ofEntries(
          Map.entry("sglang-event", "sglang-event"),
          Map.entry("sglang-hicache", "sglang-hicache"),
          Map.entry("fake-sglang", "fake-sglang"),
          Map.entry("vllm-sha256", "vllm-sha256"),
          Map.entry("vllm-sha256-cbor", "vllm-sha256-cbor"),
          Map.entry("vllm-sha256-cbor-captured", "vllm-sha256-cbor"),
          Map.entry("vllm-legacy-sha256-cbor-64bit", "vllm-sha256-cbor"),
          Map.entry("vllm-xxhash", "vllm-xxhash"),
          Map.entry("vllm-xxhash-cbor", "vllm-xxhash-cbor"),
          Map.entry("atom", "atom"),
          Map.entry("dynamo", "dynamo"),
          Map.entry("llmd", "llmd"));

  /** Parameters that follow from others of the same case. */
  private static final List<String> DERIVABLE =
      List.of(
          "none_hash_hex",
          "none_hash_u64",
          "xxh3_seed_u64",
          "hash_block_tokens",
          "parent_given",
          "first_token_index");

  static Stream<Arguments> cases() {
    return FILES.entrySet().stream()
        .sorted(Map.Entry.comparingByKey())
        .flatMap(
            file ->
                Vectors.read(file.getKey()).stream()
                    .map(vector -> Arguments.of(file.getKey(), file.getValue(), vector)));
  }

  @Test
  void everySchemeHasVectors() {
    assertThat(FILES.values()).containsAll(HashSchemes.names());
    assertThat(cases().count()).isGreaterThan(150);
  }

  @ParameterizedTest(name = "{0} {2}")
  @MethodSource("cases")
  void matchesAsWritten(String file, String scheme, Vectors.Case vector) {
    check(scheme, vector, optedIn(file, vector));
  }

  @ParameterizedTest(name = "{0} {2}")
  @MethodSource("cases")
  void matchesWithoutWhatCanBeDerived(String file, String scheme, Vectors.Case vector) {
    ObjectNode params = optedIn(file, vector);
    params.remove(DERIVABLE);
    boolean root = params.has("cache_salt") || params.has("extra_key");
    if (root && params.has("prior_hex")) {
      params.remove("prior_hex");
    }
    check(scheme, vector, params);
  }

  /** Forms that no released engine uses are off by default; their vectors ask for them here. */
  private static ObjectNode optedIn(String file, Vectors.Case vector) {
    ObjectNode params = vector.params().deepCopy();
    if (vector.name().contains("wide_tokens")) {
      params.put("wide_tokens", true);
    }
    if (file.contains("legacy")) {
      params.put("legacy", true);
    }
    return params;
  }

  private static void check(String scheme, Vectors.Case vector, ObjectNode params) {
    HashParams parsed = HashParams.parse(params.toString());
    assertThat(parsed.unknownKeys()).isEmpty();
    BlockHashes hashes =
        HashSchemes.open(scheme, parsed, Retention.DIGESTS)
            .append(vector.tokens())
            .finish()
            .hashes();
    List<Integer> blocks = IntStream.range(0, hashes.size()).boxed().toList();
    assertThat(blocks.stream().map(i -> Long.toUnsignedString(hashes.bits(i))))
        .isEqualTo(vector.unsigned());
    assertThat(blocks.stream().map(i -> Long.toString(hashes.bits(i)))).isEqualTo(vector.signed());
    if (hashes.scheme().hasLocalHashes()) {
      assertThat(blocks.stream().map(i -> Long.toUnsignedString(hashes.local(i))))
          .isEqualTo(vector.local());
    }
    if (!vector.digests().isEmpty()) {
      assertThat(blocks.stream().map(hashes::digestHex)).isEqualTo(vector.digests());
    }
    assertThat(blocks.stream().map(hashes::reported))
        .isEqualTo(
            switch (hashes.scheme().reportedForm()) {
              case FIRST_64_SIGNED -> vector.signed();
              case LAST_64_UNSIGNED, WHOLE_64_UNSIGNED -> vector.unsigned();
              case HEX -> vector.digests();
            });
  }

  static Stream<Arguments> casesWithExtraKeys() {
    return cases().filter(c -> ((Vectors.Case) c.get()[2]).node().has("per_block_extra_keys"));
  }

  /** A worker's event lists the extra keys of its blocks; they alone give the same hashes. */
  @ParameterizedTest(name = "{0} {2}")
  @MethodSource("casesWithExtraKeys")
  void matchesFromExtraKeysAlone(String file, String scheme, Vectors.Case vector) {
    ObjectNode params = vector.params().deepCopy();
    params.retain("seed", "block_size");
    BlockChain chain =
        HashSchemes.open(scheme, HashParams.parse(params.toString()), Retention.DIGESTS);
    JsonNode perBlock = vector.node().path("per_block_extra_keys");
    for (int block = 0; block < perBlock.size(); block++) {
      List<ExtraKey> keys = new ArrayList<>();
      for (JsonNode key : perBlock.get(block)) {
        keys.add(extraKey(key));
      }
      chain.add(new ExtraKeys(block, keys));
    }
    BlockHashes hashes = chain.append(vector.tokens()).hashes();
    assertThat(IntStream.range(0, hashes.size()).mapToObj(hashes::digestHex))
        .isEqualTo(vector.digests());
  }

  private static ExtraKey extraKey(JsonNode key) {
    if (key.isTextual()) {
      return new ExtraKey.Text(key.textValue());
    }
    return key.isArray()
        ? new ExtraKey.Placed(key.get(0).textValue(), key.get(1).longValue())
        : new ExtraKey.Raw(key.path("bytes_hex").textValue());
  }

  @Test
  void unreleasedFormsAreOffByDefault() {
    Vectors.Case wide = named("sglang-event", "wide_tokens_unconfirmed");
    HashParams params = HashParams.parse(wide.params().toString());
    BlockChain chain = HashSchemes.byName("sglang-event", params).newChain();
    assertThatThrownBy(() -> chain.append(wide.tokens()))
        .isInstanceOf(TokenRangeException.class)
        .hasMessageContaining("4294967296")
        .hasMessageContaining("position 2");
    assertThat(chain.tokens()).isZero();

    Vectors.Case partial = named("sglang-event", "partial_tail_chain_value");
    partial.params().remove("include_partial_tail");
    BlockHashes whole =
        HashSchemes.open(
                "sglang-event", HashParams.parse(partial.params().toString()), Retention.DIGESTS)
            .append(partial.tokens())
            .finish()
            .hashes();
    assertThat(whole.size()).isEqualTo(2);
  }

  private static Vectors.Case named(String file, String name) {
    return Vectors.read(file).stream().filter(c -> c.name().equals(name)).findFirst().orElseThrow();
  }
}

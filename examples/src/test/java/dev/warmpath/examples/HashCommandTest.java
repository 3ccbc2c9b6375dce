package dev.warmpath.examples;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.hash.HashSchemes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The engines' hash vectors through the command line. */
@Tag("long")
class HashCommandTest {
  /** Vector files whose name is not their scheme's. */
  private static final Map<String, String> OTHER_FILES =
      Map.of(
          "vllm-sha256-cbor-captured", "vllm-sha256-cbor",
          "vllm-legacy-sha256-cbor-64bit", "vllm-sha256-cbor");

  /** Parameters that follow from others of the same case. */
  private static final List<String> DERIVABLE =
      List.of(
          "none_hash_hex",
          "none_hash_u64",
          "xxh3_seed_u64",
          "hash_block_tokens",
          "parent_given",
          "first_token_index");

  @TempDir Path folder;

  /** Prints as the file and the case's name. */
  record Vector(String file, String scheme, JsonNode node) {
    ObjectNode params() {
      ObjectNode params = node.path("params").deepCopy();
      // forms of no released engine have to be asked for
      if (name().contains("unconfirmed")) {
        params.put("wide_tokens", true);
      }
      if (file.contains("legacy")) {
        params.put("legacy", true);
      }
      return params;
    }

    String name() {
      return node.path("name").asText();
    }

    String tokens() {
      return StreamSupport.stream(node.path("token_ids").spliterator(), false)
          .map(JsonNode::asText)
          .collect(Collectors.joining(","));
    }

    @Override
    public String toString() {
      return file + " " + name();
    }
  }

  static Stream<Vector> vectors() {
    Map<String, String> files = new TreeMap<>(OTHER_FILES);
    Run listed = Run.of("hash", "--scheme", "list");
    assertThat(listed.exitCode()).isZero();
    listed.out().lines().forEach(scheme -> files.put(scheme, scheme));
    List<Vector> vectors = new ArrayList<>();
    files.forEach(
        (file, scheme) ->
            Run.resource("/vectors/hash/" + file + ".json")
                .path("cases")
                .forEach(node -> vectors.add(new Vector(file, scheme, node))));
    return vectors.stream();
  }

  @Test
  void everySchemeHasVectors() {
    assertThat(vectors().map(Vector::scheme).distinct())
        .containsExactlyInAnyOrderElementsOf(HashSchemes.names());
    assertThat(vectors().count()).isGreaterThan(150);
  }

  @ParameterizedTest
  @MethodSource("vectors")
  void printsWhatTheVectorSays(Vector vector) throws IOException {
    JsonNode document = check(vector, vector.params());
    Path tokens = folder.resolve("tokens.json");
    Files.writeString(tokens, vector.node().path("token_ids").toString());
    assertThat(hash(vector.scheme(), vector.params(), "--tokens-file", tokens.toString()))
        .isEqualTo(document);
  }

  @ParameterizedTest
  @MethodSource("vectors")
  void derivesWhatFollowsFromOtherParameters(Vector vector) throws IOException {
    ObjectNode params = vector.params();
    params.remove(DERIVABLE);
    if (params.has("cache_salt") || params.has("extra_key")) {
      params.remove("prior_hex"); // the root that they give
    }
    check(vector, params);
  }

  private JsonNode check(Vector vector, ObjectNode params) throws IOException {
    JsonNode document = hash(vector.scheme(), params, "--tokens", vector.tokens());
    assertThat(document.path("scheme").asText()).isEqualTo(vector.scheme());
    JsonNode blocks = document.path("blocks");
    assertThat(blocks).hasSize(vector.node().path("expected_i64").size());
    for (int i = 0; i < blocks.size(); i++) {
      assertBlock(vector, i, blocks.get(i));
    }
    return document;
  }

  private static void assertBlock(Vector vector, int i, JsonNode block) {
    String digest = vector.node().path("expected_digests_hex").path(i).asText(null);
    String reported =
        vector
            .node()
            .path(vector.scheme().contains("sglang") ? "expected_i64" : "expected_u64")
            .path(i)
            .asText();
    assertThat(block.path("reported").isTextual()).isTrue();
    assertThat(block.path("reported").asText())
        .isEqualTo(vector.scheme().equals("sglang-hicache") ? digest : reported);
    assertThat(block.has("digest_hex")).isTrue();
    if (digest != null) {
      assertThat(block.path("digest_hex").asText()).isEqualTo(digest);
    }
    JsonNode local = vector.node().path("expected_local_u64").path(i);
    assertThat(block.has("local")).isEqualTo(vector.scheme().equals("dynamo"));
    assertThat(block.path("local").asText()).isEqualTo(local.asText());
  }

  private JsonNode hash(String scheme, ObjectNode params, String option, String tokens)
      throws IOException {
    Path file = folder.resolve("params.json");
    Files.writeString(file, params.toString());
    Run run =
        Run.of("hash", "--scheme", scheme, "--params", file.toString(), option, tokens, "--json");
    assertThat(run.err()).isEmpty();
    assertThat(run.exitCode()).isZero();
    return run.json();
  }

  static Stream<Arguments> schemesAndTheirDigests() {
    return HashSchemes.names().stream()
        .map(
            scheme ->
                Arguments.of(
                    scheme,
                    switch (scheme) {
                      case "dynamo", "llmd" -> 0;
                      case "atom" -> 16;
                      case "vllm-xxhash", "vllm-xxhash-cbor" -> 32;
                      default -> 64;
                    }));
  }

  @ParameterizedTest
  @MethodSource("schemesAndTheirDigests")
  void digestsAreNullWhereThereAreNone(String scheme, int digits) throws IOException {
    ObjectNode params = Json.object().put("block_size", 2).put("seed", "0").put("model", "m");
    JsonNode block = hash(scheme, params, "--tokens", "1,2,3").path("blocks").path(0);
    if (digits == 0) {
      assertThat(block.path("digest_hex").isNull()).isTrue();
    } else {
      assertThat(block.path("digest_hex").asText()).hasSize(digits);
    }
  }

  @Test
  void theBlockSizeOfTheCommandLineWins() throws IOException {
    Path params = folder.resolve("params.json");
    Files.writeString(
        params, "{\"block_size\": 16, \"dcp_world_size\": 2, \"hash_block_tokens\": 32}");
    String[] eight = "1 2 3 4 5 6 7 8".split(" ");
    Run run =
        Run.of(
            "hash",
            "--scheme",
            "atom",
            "--params",
            params.toString(),
            "--block-size",
            "2",
            "--tokens",
            String.join(",", eight),
            "--json");
    assertThat(run.json().path("blocks")).hasSize(2); // two ranks, two tokens each
    Files.writeString(params, "{\"page_size\": 64}");
    for (String scheme : List.of("sglang-event", "sglang-hicache", "vllm-sha256")) {
      Run sized =
          Run.of(
              "hash",
              "--scheme",
              scheme,
              "--params",
              params.toString(),
              "--block-size",
              "4",
              "--tokens",
              String.join(",", eight),
              "--json");
      assertThat(sized.json().path("blocks")).as(scheme).hasSize(2);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"--tokens=", "--tokens-file=FILE"})
  void anEmptyTokenListHasNoBlocks(String option) throws IOException {
    Path file = folder.resolve("tokens");
    Files.writeString(file, "\n");
    for (String scheme : HashSchemes.names()) {
      Path params = folder.resolve("params.json");
      Files.writeString(params, "{\"block_size\": 16, \"seed\": \"0\", \"model\": \"m\"}");
      Run run =
          Run.of(
              "hash",
              "--scheme",
              scheme,
              "--params",
              params.toString(),
              option.replace("FILE", file.toString()),
              "--json");
      assertThat(run.exitCode()).as(run.err()).isZero();
      assertThat(run.json().path("blocks").isArray()).isTrue();
      assertThat(run.json().path("blocks")).isEmpty();
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "sglang-event | 1,4294967296 | wide_tokens",
        "sglang-hicache | 4294967296 | wide_tokens",
        "dynamo | 1,2,4294967296 | the model's own tokenizer",
        "atom | 9223372036854775808 | wider than 64 bits",
        "vllm-sha256 | -1 | the model's own tokenizer",
        "atom | 1,x | 'x' is not a token id"
      })
  void sayWhatToDoAboutIds(String scheme, String tokens, String remedy) {
    Run run = Run.of("hash", "--scheme", scheme, "--block-size", "1", "--tokens", tokens, "--json");
    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.out()).isEmpty();
    assertThat(run.err().lines()).hasSize(1);
    assertThat(run.err()).contains(remedy);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "1 2\n3,4",
        "[1, 2, 3, 4]",
        "{\"ids\": [1, 2, 3, 4], \"text\": \"x\"}",
        "{\"token_ids\": [1, 2, 3, 4]}"
      })
  void readsTokenFilesInTheFormsThatCommandsWrite(String content) throws IOException {
    Path file = folder.resolve("tokens");
    Files.writeString(file, content);
    Run read = Run.of("hash", "--scheme", "sglang-event", "--tokens-file", file.toString());
    Run typed = Run.of("hash", "--scheme", "sglang-event", "--tokens", "1,2,3,4");
    assertThat(read).isEqualTo(typed);
    assertThat(typed.out().lines()).hasSize(5);
  }

  @Test
  void wrongInputIsOneLineAndTwo() throws IOException {
    Path broken = folder.resolve("broken.json");
    Files.writeString(broken, "{\"seed\": ");
    Path list = folder.resolve("list.json");
    Files.writeString(list, "[1]");
    Path form = folder.resolve("form.json");
    Files.writeString(form, "{\"block_size\": \"16\"}");
    Path document = folder.resolve("document.json");
    Files.writeString(document, "{\"numbers\": [1]}");
    assertRefused("give --tokens", "--scheme", "atom");
    assertRefused("vllm-sha256-cbor", "--scheme", "md5", "--tokens", "1");
    assertRefused("PYTHONHASHSEED", "--scheme", "vllm-xxhash", "--tokens", "1");
    assertRefused("can't be read", "--scheme", "atom", "--tokens-file", folder + "/none");
    assertRefused("token_ids", "--scheme", "atom", "--tokens-file", document.toString());
    for (Path file : List.of(broken, list, form)) {
      Run run =
          Run.of(
              "hash", "--scheme", "atom", "--params", file.toString(), "--tokens", "1", "--json");
      assertThat(run.exitCode()).as(file.toString()).isEqualTo(2);
      assertThat(run.err().lines()).hasSize(1);
    }
    assertRefused("--tokens", "--scheme", "atom", "--tokens", "1", "--tokens-file", "f");
  }

  private static void assertRefused(String word, String... options) {
    List<String> args = new ArrayList<>(List.of("hash"));
    args.addAll(List.of(options));
    Run run = Run.of(args.toArray(String[]::new));
    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err().lines()).hasSize(1);
    assertThat(run.err()).contains(word);
    assertThat(run.out()).isEmpty();
  }

  @Test
  void namesParametersThatNobodyReads() throws IOException {
    Path params = folder.resolve("params.json");
    Files.writeString(params, "{\"blok_size\": 4}");
    Run run =
        Run.of(
            "hash", "--scheme", "atom", "--params", params.toString(), "--tokens", "1", "--json");
    assertThat(run.exitCode()).isZero();
    assertThat(run.err()).contains("blok_size");
    assertThat(run.json().path("blocks")).isEmpty();
  }

  @Test
  void listsTheSchemes() {
    assertThat(Run.of("hash", "--scheme", "list").out().lines())
        .containsExactlyElementsOf(HashSchemes.names());
    assertThat(Run.of("hash", "--scheme", "list", "--json").json().path("schemes"))
        .hasSize(HashSchemes.names().size());
  }
}

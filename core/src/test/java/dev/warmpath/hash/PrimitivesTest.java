package dev.warmpath.hash;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The building blocks of the schemes against the primitives' vectors. */
class PrimitivesTest {

  private static final HexFormat HEX = HexFormat.of();

  static Stream<JsonNode> named(String prefix) {
    List<JsonNode> nodes = new ArrayList<>();
    for (JsonNode node : Vectors.nodes("primitives")) {
      if (node.path("name").textValue().startsWith(prefix)) {
        nodes.add(node);
      }
    }
    assertThat(nodes).as(prefix).isNotEmpty();
    return nodes.stream();
  }

  static Stream<JsonNode> cborInts() {
    return named("cbor_int_");
  }

  @ParameterizedTest
  @MethodSource("cborInts")
  void writesCborInts(JsonNode node) {
    String value = node.path("value").textValue();
    CborEncoder cbor = new CborEncoder(false);
    if (value.startsWith("-")) {
      cbor.putInt(Long.parseLong(value));
    } else {
      cbor.putUnsigned(Long.parseUnsignedLong(value));
    }
    assertThat(hex(cbor)).isEqualTo(node.path("cbor_hex").textValue());
    long number = Long.parseUnsignedLong(value.replace("-", ""));
    if (!value.startsWith("-") && number >= 0 && number <= HashScheme.UNSIGNED_INT_MAX) {
      cbor.length = 0;
      cbor.putTokens(new int[] {(int) number}, 0, 1);
      assertThat(hex(cbor)).isEqualTo("81" + node.path("cbor_hex").textValue());
    }
  }

  @Test
  void writesCborTexts() {
    CborEncoder cbor = new CborEncoder(false);
    cbor.putNone();
    assertThat(hex(cbor)).isEqualTo("f6");
    cbor.encodeText("");
    assertThat(hex(cbor)).isEqualTo("60");
    cbor.encodeText("a".repeat(23));
    assertThat(hex(cbor)).isEqualTo("77" + "61".repeat(23));
    cbor.encodeText("a".repeat(24));
    assertThat(hex(cbor)).isEqualTo("7818" + "61".repeat(24));
    cbor.encodeText("a".repeat(256));
    assertThat(hex(cbor)).isEqualTo("790100" + "61".repeat(256));
    cbor.encodeText("ä");
    assertThat(hex(cbor)).isEqualTo("62c3a4");
  }

  static Stream<JsonNode> pickleInts() {
    return named("pickle_int_");
  }

  @ParameterizedTest
  @MethodSource("pickleInts")
  void writesPickledInts(JsonNode node) {
    long value = Long.parseLong(node.path("value").textValue());
    String opcode = node.path("opcode_hex").textValue();
    if (value < 0) {
      PickleEncoder pickle = new PickleEncoder();
      byte[] keys = pickle.extraKeys(List.of(new ExtraKey.Placed("", value)));
      assertThat(HEX.formatHex(keys)).isEqualTo("8c0094" + opcode + "86948594");
      return;
    }
    PickleEncoder pickle = new PickleEncoder();
    pickle.encode(new byte[0], 0, new int[] {(int) value}, 0, 1, new byte[] {'N'});
    assertThat(hex(pickle)).endsWith("430094" + opcode + "85944e87942e");
    pickle.encodeWide(new byte[0], 0, new long[] {value}, 0, 1, new byte[] {'N'});
    assertThat(hex(pickle)).endsWith("430094" + opcode + "85944e87942e");
  }

  static Stream<JsonNode> seeds() {
    return named("none_hash_");
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void hashesSeeds(JsonNode node) {
    String seed = node.path("seed").textValue();
    CborEncoder cbor = new CborEncoder(false);
    cbor.encodeText(seed);
    assertThat(hex(cbor)).isEqualTo(node.path("cbor_hex").textValue());
    PickleEncoder pickle = new PickleEncoder();
    pickle.encodeText(seed);
    assertThat(hex(pickle)).isEqualTo(node.path("pickle_hex").textValue());
    for (String algorithm : List.of("sha256", "sha256_cbor", "xxhash", "xxhash_cbor")) {
      HashScheme scheme =
          HashSchemes.byName(
              "vllm-" + algorithm.replace('_', '-'), HashParams.builder().seed(seed).build());
      assertThat(HEX.formatHex(scheme.newHasher(null).link()))
          .as(algorithm)
          .isEqualTo(node.path(algorithm).textValue());
    }
  }

  static Stream<JsonNode> lengths() {
    return named("xx_len_");
  }

  @ParameterizedTest
  @MethodSource("lengths")
  void hashesBytes(JsonNode node) {
    int length = node.path("length").intValue();
    byte[] input = new byte[length + 3];
    for (int i = 0; i < length; i++) {
      input[i + 2] = (byte) (7 * i + 3);
    }
    byte[] exact = Arrays.copyOfRange(input, 2, 2 + length);
    assertThat(Long.toUnsignedString(XxHash.xxh64(input, 2, length)))
        .isEqualTo(node.path("xxh64_seed0").textValue());
    assertThat(Long.toUnsignedString(XxHash.xxh3().hashBytesToLong(exact)))
        .isEqualTo(node.path("xxh3_64_seed0").textValue());
    assertThat(Long.toUnsignedString(XxHash.xxh3(1337).hashBytesToLong(exact)))
        .isEqualTo(node.path("xxh3_64_seed1337").textValue());
    assertThat(HEX.formatHex(reverse(XxHash.xxh3Wide().hashBytesTo128Bits(exact).toByteArray())))
        .isEqualTo(node.path("xxh3_128_digest_hex").textValue());
    assertThat(Long.toUnsignedString(LlmdScheme.fnv64a(exact, length)))
        .isEqualTo(node.path("fnv64a").textValue());
  }

  private static byte[] reverse(byte[] bytes) {
    byte[] reversed = new byte[bytes.length];
    for (int i = 0; i < bytes.length; i++) {
      reversed[i] = bytes[bytes.length - 1 - i];
    }
    return reversed;
  }

  @Test
  void writesBlockPayloads() {
    JsonNode node = named("vllm_block_payload_example").findFirst().orElseThrow();
    byte[] parent = HEX.parseHex(node.path("parent_hex").textValue());
    int[] tokens = {0, 23, 24, 256, 65536, Integer.MIN_VALUE};
    List<ExtraKey> keys =
        List.of(
            new ExtraKey.Text("Alice"), new ExtraKey.Placed("img", -3), new ExtraKey.Text("salt"));
    CborEncoder cbor = new CborEncoder(false);
    cbor.encode(parent, parent.length, tokens, 0, tokens.length, cbor.extraKeys(keys));
    assertThat(hex(cbor)).isEqualTo(node.path("cbor_hex").textValue());
    PickleEncoder pickle = new PickleEncoder();
    pickle.encode(parent, parent.length, tokens, 0, tokens.length, pickle.extraKeys(keys));
    assertThat(hex(pickle)).isEqualTo(node.path("pickle_hex").textValue());
  }

  @Test
  void finishesSha256InPlace() {
    MessageDigest sha = Sha256.newDigest();
    sha.update("abc".getBytes(StandardCharsets.US_ASCII));
    byte[] target = new byte[34];
    Sha256.finish(sha, target, 1);
    assertThat(HEX.formatHex(target))
        .isEqualTo("00ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad00");
  }

  private static String hex(BlockEncoder encoder) {
    return HEX.formatHex(encoder.buffer, 0, encoder.length);
  }
}

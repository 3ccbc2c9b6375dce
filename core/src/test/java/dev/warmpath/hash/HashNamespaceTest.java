package dev.warmpath.hash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class HashNamespaceTest {

  private static final HashParams BASE =
      HashParams.builder().blockSize(16).seed("42").model("m").build();

  private static HashScheme scheme(String name, UnaryOperator<HashParams.Builder> change) {
    return HashSchemes.byName(name, change.apply(BASE.toBuilder()).build());
  }

  private static HashNamespace namespace(String name, UnaryOperator<HashParams.Builder> change) {
    return scheme(name, change).namespace();
  }

  @Test
  void everySchemeBlockSizeAndKeyIsANamespaceOfItsOwn() {
    List<UnaryOperator<HashParams.Builder>> changes =
        List.of(
            UnaryOperator.identity(),
            b -> b.blockSize(32),
            b -> b.cacheSalt("tenant"),
            b -> b.loraName("tenant"),
            b -> b.extraKey("tenant"));
    Set<HashNamespace> namespaces = new HashSet<>();
    Set<Long> fingerprints = new HashSet<>();
    for (String name : HashSchemes.names()) {
      for (UnaryOperator<HashParams.Builder> change : changes) {
        HashNamespace namespace = namespace(name, change);
        assertThat(namespaces.add(namespace)).as("%s", namespace).isTrue();
        assertThat(namespace(name, change)).isEqualTo(namespace);
        if (namespace.engine() != 0 || namespace.hashed() != 0 || namespace.unhashed() != 0) {
          fingerprints.add(namespace.fingerprint());
        }
      }
    }
    assertThat(namespaces).hasSize(10 * changes.size());
    assertThat(fingerprints).hasSizeGreaterThan(3);
  }

  @Test
  void engineConfigurationIsPartOfIt() {
    assertThat(namespace("vllm-sha256", b -> b.seed("0")))
        .isNotEqualTo(namespace("vllm-sha256", b -> b));
    assertThat(
            namespace("vllm-sha256", b -> b.multimodalKeyStyle(MultimodalKeyStyle.BARE))
                .published())
        .isNotEqualTo(namespace("vllm-sha256", b -> b).published());
    assertThat(namespace("sglang-event", b -> b.eagle(true)))
        .isNotEqualTo(namespace("sglang-event", b -> b));
    assertThat(namespace("sglang-hicache", b -> b.namespaced(false)))
        .isNotEqualTo(namespace("sglang-hicache", b -> b));
    // A seed spelled out as its digest is the same engine.
    assertThat(
            namespace(
                "vllm-sha256-cbor",
                b ->
                    b.seed(null)
                        .noneHash(
                            "9fa6eb003f14425eb9c8e6baacfbcaab26257357b829c7bfa74ffcc4f31c1780")))
        .isEqualTo(namespace("vllm-sha256-cbor", b -> b));
  }

  @Test
  void publishedHashesAreComparableWithWhatTheyCover() {
    HashNamespace engine = namespace("vllm-sha256", b -> b);
    HashNamespace salted = namespace("vllm-sha256", b -> b.cacheSalt("a"));
    HashNamespace other = namespace("vllm-sha256", b -> b.cacheSalt("b"));
    assertThat(salted.published()).isEqualTo(engine);
    assertThat(engine.comparableWith(salted)).isTrue();
    assertThat(salted.comparableWith(engine)).isTrue();
    assertThat(salted.comparableWith(other)).isFalse();
  }

  @Test
  void keysThatTheEngineDoesNotHashKeepTenantsApart() {
    for (UnaryOperator<HashParams.Builder> key :
        List.<UnaryOperator<HashParams.Builder>>of(
            b -> b.cacheSalt("a"), b -> b.loraName("a"), b -> b.extraKey("a"))) {
      HashNamespace keyed = namespace("atom", key);
      assertThat(keyed.published()).isEqualTo(keyed);
      assertThat(keyed.comparableWith(namespace("atom", b -> b))).isFalse();
    }
    HashNamespace adapter = namespace("sglang-event", b -> b.loraName("a").cacheSalt("s"));
    assertThat(adapter.comparableWith(namespace("sglang-event", b -> b))).isFalse();
    assertThat(adapter.comparableWith(namespace("sglang-event", b -> b.loraName("a")))).isTrue();
  }

  @Test
  void comparingAcrossNamespacesThrows() {
    int[] tokens = IntStream.range(0, 32).toArray();
    BlockHashes one = scheme("sglang-event", b -> b).newChain().append(tokens).hashes();
    BlockHashes same = scheme("sglang-event", b -> b).newChain().append(tokens).hashes();
    BlockHashes other = scheme("sglang-hicache", b -> b).newChain().append(tokens).hashes();
    assertThat(one.bits(0)).isEqualTo(other.bits(0));
    assertThat(one.commonPrefix(same)).isEqualTo(2);
    assertThat(one.get(0).sameBlock(same.get(0))).isTrue();
    assertThat(one.get(0).sameBlock(same.get(1))).isFalse();
    assertThat(one.get(0)).isNotEqualTo(other.get(0)).isEqualTo(same.get(0));
    assertThat(one.in(same.namespace())).isSameAs(one);
    assertThatThrownBy(() -> one.commonPrefix(other))
        .isInstanceOf(NamespaceMismatchException.class)
        .hasMessageContaining("sglang-event/16")
        .hasMessageContaining("sglang-hicache/16");
    assertThatThrownBy(() -> one.get(0).sameBlock(other.get(0)))
        .isInstanceOf(NamespaceMismatchException.class);
    assertThatThrownBy(() -> one.in(other.namespace()))
        .isInstanceOf(NamespaceMismatchException.class);
  }

  @Test
  void textsDoNotShow() {
    HashScheme salted =
        scheme("vllm-sha256", b -> b.cacheSalt("hush").loraName("hush-adapter").extraKey("hush"));
    BlockChain chain = salted.newChain().append(new int[20]);
    for (Object shown :
        List.of(
            salted,
            salted.namespace(),
            chain,
            chain.hashes(),
            chain.hashes().get(0),
            chain.state())) {
      assertThat(shown.toString()).contains("vllm-sha256/16").doesNotContain("hush");
    }
  }

  @Test
  void contentHashesOfTenantsDiffer() {
    int[] tokens = IntStream.range(0, 32).toArray();
    HashScheme plain = HashSchemes.content(BASE);
    HashScheme salted = HashSchemes.content(BASE.toBuilder().cacheSalt("a").build());
    HashScheme otherModel = HashSchemes.content(BASE.toBuilder().model("n").build());
    assertThat(plain.namespace().comparableWith(otherModel.namespace())).isFalse();
    long hash = plain.newChain().append(tokens).hashes().bits(0);
    assertThat(salted.newChain().append(tokens).hashes().bits(0)).isNotEqualTo(hash);
    assertThat(otherModel.newChain().append(tokens).hashes().bits(0)).isNotEqualTo(hash);
  }
}

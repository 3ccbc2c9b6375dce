package dev.warmpath.prompt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.hash.BlockHashes;
import dev.warmpath.hash.HashParams;
import dev.warmpath.hash.HashSchemes;
import dev.warmpath.hash.Retention;
import dev.warmpath.worker.EngineKind;
import dev.warmpath.worker.Topology;
import dev.warmpath.worker.Worker;
import dev.warmpath.worker.WorkerRegistry;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class EngineAdapterTest {
  private static final HashParams NO_KEYS = HashParams.builder().build();
  private static final int[] TOKENS = IntStream.range(100, 180).toArray();

  private static Worker worker(String options) {
    WorkerRegistry registry = new WorkerRegistry();
    registry.add(dev.warmpath.worker.WorkerSpec.parse("http://w:1" + options));
    Topology topology = registry.current();
    return topology.workers().iterator().next();
  }

  private static EngineHashing hashing(String options) {
    Worker worker = worker(options);
    return EngineAdapters.of(worker).hashing(worker);
  }

  @ParameterizedTest
  @CsvSource({
    ";engine=sglang, sglang, X-Data-Parallel-Rank, rid",
    ";engine=sglang;hash=fake-sglang, fake-sglang, X-Data-Parallel-Rank, rid",
    ";engine=vllm, vllm, X-data-parallel-rank, X-Request-Id",
    ";engine=atom, atom, data_parallel_rank,",
    "'', unknown, ,"
  })
  void thereIsOneForEachEngine(String options, String name, String rank, String id) {
    EngineAdapter adapter = EngineAdapters.of(worker(options));
    assertThat(adapter.name()).isEqualTo(name);
    assertThat(adapter.fields().rank()).isEqualTo(rank);
    assertThat(adapter.fields().requestId()).isEqualTo(id);
    assertThat(EngineAdapters.all()).contains(adapter);
  }

  @ParameterizedTest
  @CsvSource({
    ";engine=sglang;block=1, sglang-event, 1",
    ";engine=sglang;block=64;eagle=true, sglang-event, 64",
    ";engine=sglang;block=8;hash=fake-sglang, fake-sglang, 8",
    ";engine=vllm;hash=vllm-sha256, vllm-sha256, 16",
    ";engine=vllm;block=32;hash=vllm-xxhash-cbor;hash-seed=0, vllm-xxhash-cbor, 32",
    ";engine=vllm;block=16;dcp=4;hash=vllm-sha256, vllm-sha256, 64",
    ";engine=atom;block=16, atom, 16",
    ";engine=atom;block=16;dcp=2, atom, 32"
  })
  void knowsTheSchemeFromConfiguration(String options, String scheme, int blockTokens) {
    EngineHashing hashing = hashing(options);
    assertThat(hashing.known()).isTrue();
    assertThat(hashing.scheme()).isEqualTo(scheme);
    assertThat(hashing.scheme(NO_KEYS).blockTokens()).isEqualTo(blockTokens);
    assertThat(hashing.unknownReason()).isNull();
  }

  @ParameterizedTest
  @CsvSource({
    "'', engine is not known",
    ";engine=sglang, page size",
    ";engine=atom, block size",
    ";engine=vllm, neither configured nor confirmed",
    ";engine=vllm;hash=vllm-xxhash, PYTHONHASHSEED",
    ";engine=vllm;hash=md5, no hash scheme md5"
  })
  void saysWhatIsMissing(String options, String reason) {
    EngineHashing hashing = hashing(options);
    assertThat(hashing.known()).isFalse();
    assertThat(hashing.unknownReason()).contains(reason);
    assertThatThrownBy(() -> hashing.scheme(NO_KEYS))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining(reason);
  }

  @Test
  void aRequestsKeysEnterTheHashes() {
    EngineHashing hashing = hashing(";engine=vllm;hash=vllm-sha256-cbor");
    HashParams salted = HashParams.builder().cacheSalt("s").build();
    assertThat(hashing.scheme(salted).namespace())
        .isEqualTo(
            HashSchemes.byName(
                    "vllm-sha256-cbor", HashParams.builder().blockSize(16).cacheSalt("s").build())
                .namespace());
  }

  @Test
  void storesHaveKeysOfTheirOwn() {
    Worker sglang = worker(";engine=sglang;block=16");
    EngineAdapter adapter = EngineAdapters.of(sglang);
    EngineHashing storage = adapter.storageHashing(sglang);
    assertThat(storage.scheme()).isEqualTo("sglang-hicache");
    BlockHashes hashes =
        storage.scheme(NO_KEYS).newChain(Retention.DIGESTS).append(TOKENS).hashes();
    assertThat(adapter.storageKey(hashes, 1)).isEqualTo(hashes.reported(1)).hasSize(64);
    Worker atom = worker(";engine=atom;block=16");
    EngineAdapter numbers = EngineAdapters.of(atom);
    BlockHashes plain =
        numbers.storageHashing(atom).scheme(NO_KEYS).newChain().append(TOKENS).hashes();
    assertThat(Long.parseUnsignedLong(numbers.storageKey(plain, 0), 16)).isEqualTo(plain.bits(0));
  }

  @ParameterizedTest
  @CsvSource({
    "VLLM, vllm-sha256, ,",
    "VLLM, vllm-sha256-cbor, 42,",
    "VLLM, vllm-xxhash, 0,",
    "VLLM, vllm-xxhash-cbor, mine, mine",
    "SGLANG, sglang-event, ,",
    "SGLANG, fake-sglang, ,",
    "ATOM, atom, ,"
  })
  void confirmsASchemeByABlockThatTheWorkerToldOf(
      EngineKind engine, String scheme, String seed, String configured) {
    BlockHashes told =
        HashSchemes.byName(scheme, HashParams.builder().blockSize(16).seed(seed).build())
            .newChain()
            .append(TOKENS)
            .hashes();
    long[] reported = new long[told.size()];
    told.copyBits(0, reported.length, reported, 0);
    EngineHashing found =
        EngineHashing.confirm(
            engine, new EngineHashing.StoredBlocks(TOKENS, 16, reported, NO_KEYS), configured);
    assertThat(found.scheme()).isEqualTo(scheme);
    assertThat(found.scheme(NO_KEYS).newChain().append(TOKENS).hashes().bits(0))
        .isEqualTo(reported[0]);

    reported[reported.length - 1]++;
    EngineHashing none =
        EngineHashing.confirm(
            engine, new EngineHashing.StoredBlocks(TOKENS, 16, reported, NO_KEYS), configured);
    assertThat(none.known()).isFalse();
    assertThat(none.unknownReason()).contains(engine.label());
  }

  @Test
  void refusesWhatCantBeMeant() {
    for (String option : Set.of(";dcp=0", ";dcp=x", ";eagle=maybe", ";mm-keys=none")) {
      assertThatThrownBy(() -> worker(option))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("http://w:1");
    }
  }
}

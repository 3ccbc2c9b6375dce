package dev.warmpath.prompt;

import dev.warmpath.hash.BlockHashes;
import dev.warmpath.hash.HashParams;
import dev.warmpath.hash.HashScheme;
import dev.warmpath.hash.HashSchemes;
import dev.warmpath.worker.EngineKind;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What is known of the way in which one worker hashes its KV blocks. Either the scheme with all
 * that its hashes depend on besides a request, or why that is not known: then nothing of it is
 * compared with hashes of this client's making. Immutable.
 */
public final class EngineHashing {
  /** Seeds that engines are run with most: unset, and the two that deployments set. */
  private static final List<@Nullable String> COMMON_SEEDS = seeds();

  private final @Nullable String scheme;
  private final HashParams params;
  private final @Nullable String unknown;

  private EngineHashing(@Nullable String scheme, HashParams params, @Nullable String unknown) {
    this.scheme = scheme;
    this.params = params;
    this.unknown = unknown;
  }

  private static List<@Nullable String> seeds() {
    List<@Nullable String> seeds = new ArrayList<>();
    seeds.add(null);
    seeds.add("0");
    seeds.add("42");
    return seeds;
  }

  /**
   * A scheme with the engine's parameters.
   *
   * @return unknown where the scheme refuses them, with what it says
   */
  static EngineHashing known(String scheme, HashParams params) {
    try {
      HashSchemes.byName(scheme, params);
    } catch (IllegalArgumentException e) {
      return unknown(String.valueOf(e.getMessage()));
    }
    return new EngineHashing(scheme, params, null);
  }

  static EngineHashing unknown(String reason) {
    return new EngineHashing(null, HashParams.builder().build(), reason);
  }

  /** Whether the worker's hashes can be computed. */
  public boolean known() {
    return scheme != null;
  }

  /** The scheme's name, or null where it is not known. */
  public @Nullable String scheme() {
    return scheme;
  }

  /** Why it is not known, or null where it is. */
  public @Nullable String unknownReason() {
    return unknown;
  }

  /**
   * The scheme for one request.
   *
   * @param keys the request's, see {@link Prompt#hashKeys}
   * @throws IllegalStateException where the worker's hashing is not known
   */
  public HashScheme scheme(HashParams keys) {
    String name = scheme;
    if (name == null) {
      throw new IllegalStateException("how the worker hashes blocks is not known: " + unknown);
    }
    return HashSchemes.byName(name, keys.withEngine(params));
  }

  /**
   * Blocks that a worker told of, from the first of a prompt on.
   *
   * @param tokens the tokens of all blocks, one block after another
   * @param blockTokens the tokens of a block
   * @param reported the reported hash of each block, as 64 bits
   * @param keys LoRA adapter and salt, where the worker told of them
   */
  public record StoredBlocks(int[] tokens, int blockTokens, long[] reported, HashParams keys) {}

  /**
   * Finds out how a worker hashes by computing the hashes of blocks that it told of itself: of all
   * schemes of its engine, with the seeds that are common and the one that is configured, the one
   * that gives the same.
   *
   * @param engine the worker's engine
   * @param seed a seed to try besides, or null
   * @return the hashing, or unknown where none gives the worker's hashes
   */
  public static EngineHashing confirm(
      EngineKind engine, StoredBlocks blocks, @Nullable String seed) {
    List<@Nullable String> seeds = new ArrayList<>(COMMON_SEEDS);
    seeds.add(seed);
    for (String scheme : schemes(engine)) {
      for (String each : scheme.startsWith("vllm") ? seeds : seeds.subList(0, 1)) {
        HashParams params = HashParams.builder().blockSize(blocks.blockTokens()).seed(each).build();
        EngineHashing hashing = known(scheme, params);
        if (hashing.known() && hashing.gives(blocks)) {
          return hashing;
        }
      }
    }
    return unknown("no scheme of " + engine.label() + " gives the hashes that the worker told of");
  }

  private static List<String> schemes(EngineKind engine) {
    return switch (engine) {
      case SGLANG -> List.of("sglang-event", "fake-sglang");
      case VLLM -> List.of("vllm-sha256", "vllm-sha256-cbor", "vllm-xxhash-cbor", "vllm-xxhash");
      case ATOM -> List.of("atom");
      case UNKNOWN -> List.of();
    };
  }

  private boolean gives(StoredBlocks blocks) {
    if (blocks.reported().length == 0) {
      return false;
    }
    BlockHashes made = scheme(blocks.keys()).newChain().append(blocks.tokens()).hashes();
    if (made.size() < blocks.reported().length) {
      return false;
    }
    for (int i = 0; i < blocks.reported().length; i++) {
      if (made.bits(i) != blocks.reported()[i]) {
        return false;
      }
    }
    return true;
  }

  @Override
  public String toString() {
    return scheme == null ? "unknown: " + unknown : scheme;
  }
}

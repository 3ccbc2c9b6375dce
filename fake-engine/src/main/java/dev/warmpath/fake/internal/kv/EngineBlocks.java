package dev.warmpath.fake.internal.kv;

import dev.warmpath.fake.scheduler.EngineEffect.BlocksStored;
import dev.warmpath.hash.BlockChain;
import dev.warmpath.hash.BlockHashes;
import dev.warmpath.hash.HashParams;
import dev.warmpath.hash.HashScheme;
import dev.warmpath.hash.HashSchemes;
import dev.warmpath.hash.ReportedForm;
import dev.warmpath.hash.Retention;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The engine's hashes of the blocks that the simulator knows by numbers of its own: each block's is
 * chained from its parent's over the block's tokens. Blocks that are gone are remembered for a
 * while, as a lower tier may still have them. One thread at a time.
 */
final class EngineBlocks {
  /** Schemes are cheap to make; the cache only spares the common ones. */
  private static final int KEPT_SCHEMES = 256;

  private final String scheme;
  private final HashParams params;
  private final int blockTokens;
  private final Function<Long, RequestKeys> keysOfRoot;
  private final Map<Long, EngineBlock> resident = new LinkedHashMap<>();
  private final Map<Long, EngineBlock> gone;
  private final Map<RequestKeys, HashScheme> schemes = lru(KEPT_SCHEMES);

  /**
   * Starts with no blocks.
   *
   * @param keysOfRoot the keys of the request whose first block has a number
   * @param remembered blocks that are remembered after they are gone
   */
  EngineBlocks(
      String scheme,
      HashParams params,
      int blockTokens,
      int remembered,
      Function<Long, RequestKeys> keysOfRoot) {
    this.scheme = scheme;
    this.params = params;
    this.blockTokens = blockTokens;
    this.keysOfRoot = keysOfRoot;
    this.gone = lru(remembered);
  }

  private static <K, V> Map<K, V> lru(int capacity) {
    return new LinkedHashMap<>(16, 0.75f, true) {
      private static final long serialVersionUID = 1L;

      @Override
      protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
        return size() > capacity;
      }
    };
  }

  ReportedForm form() {
    return scheme(RequestKeys.NONE).reportedForm();
  }

  private HashScheme scheme(RequestKeys keys) {
    return schemes.computeIfAbsent(
        keys,
        of -> {
          HashParams.Builder builder = params.toBuilder();
          of.apply(builder);
          return HashSchemes.byName(scheme, builder.build());
        });
  }

  /**
   * Takes in blocks that became resident.
   *
   * @return them in order; empty if a parent is not known, from which nothing can be chained
   */
  List<EngineBlock> stored(BlocksStored stored) {
    if (stored.tokens().length == 0) {
      return known(stored.blockHashes());
    }
    EngineBlock parent = stored.root() ? null : find(stored.parentHash());
    if (!stored.root() && parent == null) {
      return List.of();
    }
    RequestKeys keys = parent == null ? keysOfRoot.apply(stored.blockHashes()[0]) : parent.keys();
    long position = parent == null ? 0 : parent.position() + blockTokens;
    HashScheme of = scheme(keys);
    BlockChain chain =
        parent == null
            ? of.newChain(Retention.DIGESTS)
            : of.resume(link(of, parent), position, Retention.DIGESTS);
    BlockHashes hashes = chain.append(stored.tokens()).hashes();
    List<EngineBlock> blocks = new ArrayList<>(hashes.size());
    for (int i = 0; i < stored.blockHashes().length; i++) {
      int[] tokens = Arrays.copyOfRange(stored.tokens(), i * blockTokens, (i + 1) * blockTokens);
      EngineBlock block =
          new EngineBlock(
                  hashes.bits(i),
                  digest(hashes, i),
                  parent,
                  keys,
                  position + (long) i * blockTokens,
                  tokens)
              .severed();
      resident.put(stored.blockHashes()[i], block);
      blocks.add(block);
      parent = block;
    }
    return blocks;
  }

  private List<EngineBlock> known(long[] numbers) {
    List<EngineBlock> blocks = new ArrayList<>();
    for (long number : numbers) {
      EngineBlock block = find(number);
      if (block != null) {
        blocks.add(block);
      }
    }
    return blocks;
  }

  /** A block of the accelerator or one that was there not long ago. */
  @Nullable EngineBlock find(long number) {
    EngineBlock block = resident.get(number);
    return block != null ? block : gone.get(number);
  }

  /** Takes note that a block left the accelerator. */
  @Nullable EngineBlock removed(long number) {
    EngineBlock block = resident.remove(number);
    if (block != null) {
      gone.put(number, block);
    }
    return block;
  }

  void clear() {
    resident.clear();
    gone.clear();
  }

  private static byte[] digest(BlockHashes hashes, int block) {
    String hex = hashes.digestHex(block);
    return hex == null
        ? ByteBuffer.allocate(Long.BYTES).putLong(hashes.bits(block)).array()
        : HexFormat.of().parseHex(hex);
  }

  /** What the next block chains on: the digest, of which the fake chain takes eight bytes. */
  private static byte[] link(HashScheme scheme, EngineBlock parent) {
    return scheme.name().equals("fake-sglang")
        ? Arrays.copyOf(parent.digest(), Long.BYTES)
        : parent.digest();
  }
}

package dev.warmpath.hash;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The values of {@link HashParams}, which says what they mean. They change only while a builder
 * owns them.
 */
final class ParamValues implements Cloneable {

  @Nullable Integer blockSize;
  @Nullable Integer contextParallel;
  @Nullable Integer hashBlockTokens;
  @Nullable String seed;
  @Nullable String noneHash;
  @Nullable Long xxh3Seed;
  @Nullable String model;
  @Nullable String algorithm;
  @Nullable MultimodalKeyStyle multimodalKeyStyle;
  boolean eagle;
  boolean namespaced = true;
  boolean legacy;
  boolean partialTail;
  boolean wideTokens;
  @Nullable String loraNameMix;
  @Nullable String loraName;
  @Nullable String cacheSalt;
  @Nullable String extraKey;
  @Nullable String parent;
  @Nullable Long firstTokenIndex;
  List<BlockExtra> extras = List.of();
  Map<Integer, List<String>> blockKeys = Map.of();
  List<String> unknownKeys = List.of();

  ParamValues copy() {
    try {
      return (ParamValues) clone(); // lists and maps are never changed in place
    } catch (CloneNotSupportedException e) {
      throw new AssertionError(e);
    }
  }

  int blockTokens(int fallback) {
    return blockSize == null ? fallback : blockSize;
  }

  int requiredBlockTokens(String scheme) {
    if (blockSize == null) {
      throw new IllegalArgumentException(scheme + " needs the block size");
    }
    return blockSize;
  }

  /** The tokens that one hash covers when every rank of a decode context holds a block of it. */
  int contextParallelBlockTokens(int fallback) {
    if (hashBlockTokens == null) {
      int ranks = contextParallel == null ? 1 : contextParallel;
      return Math.multiplyExact(blockTokens(fallback), ranks);
    }
    if (blockSize != null
        && contextParallel != null
        && (long) blockSize * contextParallel != hashBlockTokens) {
      throw new IllegalArgumentException(
          "hash_block_tokens is not the block size times the ranks of the decode context");
    }
    return hashBlockTokens;
  }

  /** Adds to a chain that is still empty everything that single blocks cover. */
  void addExtras(BlockChain chain) {
    extras.forEach(chain::add);
    boolean numbers = chain.scheme() instanceof DynamoScheme;
    blockKeys.forEach(
        (block, keys) -> {
          long offset = chain.tokens() + (long) block * chain.scheme().blockTokens();
          for (String key : keys) {
            String identifier =
                numbers ? DynamoScheme.identifier(Bytes.unsigned("an image hash", key)) : key;
            chain.add(new MultimodalItem(identifier, offset, 1));
          }
        });
  }
}

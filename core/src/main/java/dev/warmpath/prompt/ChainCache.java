package dev.warmpath.prompt;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.warmpath.hash.BlockChain;
import dev.warmpath.hash.ChainState;
import dev.warmpath.hash.HashScheme;
import java.util.List;

/**
 * Remembers where block hashing stood at the ends of segments, so that a conversation that grew
 * hashes only its new blocks. Places are found by a 128-bit hash of everything before them and not
 * compared further: a wrong one could misdirect a request, and never changes what a model reads.
 *
 * <p>Bounded in bytes. Safe for any number of threads.
 */
final class ChainCache {
  private static final int ENTRY_BYTES = 300;

  /**
   * A place in a prompt.
   *
   * @param high the upper half of the hash of what comes before
   * @param low the lower half
   * @param scheme the fingerprint of the scheme's namespace
   */
  private record Place(long high, long low, long scheme) {
    @Override
    public int hashCode() {
      return Long.hashCode(low ^ scheme);
    }
  }

  private record Entry(ChainState state, int ownBlocks) {}

  private final Cache<Place, Entry> cache;

  ChainCache(long budgetBytes) {
    this.cache =
        Caffeine.newBuilder()
            .maximumWeight(budgetBytes)
            .weigher(
                (Place place, Entry entry) ->
                    ENTRY_BYTES
                        + Integer.BYTES * entry.state().scheme().blockTokens()
                        + Long.BYTES * entry.ownBlocks())
            .executor(Runnable::run)
            .build();
  }

  /** Hashes a text's tokens, from the last place that is known on. */
  ChainState chain(HashScheme scheme, SegmentCache.Encoded text) {
    List<int[]> parts = text.segments().parts();
    long fingerprint = scheme.namespace().fingerprint();
    int next = parts.size();
    ChainState known = null;
    while (next > 0) {
      if (text.added()[next - 1]) {
        Entry entry =
            cache.getIfPresent(new Place(text.high()[next - 1], text.low()[next - 1], fingerprint));
        if (entry != null) {
          known = entry.state();
          break;
        }
      }
      next--;
    }
    BlockChain chain = known == null ? scheme.newChain() : known.fork();
    int remembered = chain.blocks();
    for (; next < parts.size(); next++) {
      chain.append(parts.get(next));
      if (text.added()[next] && chain.blocks() > remembered) {
        cache.put(
            new Place(text.high()[next], text.low()[next], fingerprint),
            new Entry(chain.state(), chain.blocks() - remembered));
        remembered = chain.blocks();
      }
    }
    return chain.state();
  }

  /** Bytes that entries take, by estimate. */
  long bytes() {
    return cache.policy().eviction().map(e -> e.weightedSize().orElse(0)).orElse(0L);
  }
}

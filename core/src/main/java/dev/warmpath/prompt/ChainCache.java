package dev.warmpath.prompt;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.warmpath.hash.BlockChain;
import dev.warmpath.hash.ChainState;
import dev.warmpath.hash.HashNamespace;
import dev.warmpath.hash.HashScheme;
import dev.warmpath.hash.Retention;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Remembers where block hashing stood at the ends of segments, so that a conversation that grew
 * hashes only its new blocks, by the client's own scheme and by engines'. Places are found by a
 * 128-bit hash of everything before them and not compared further: a wrong one could misdirect a
 * request, and never changes what a model reads. They belong to one tokenizer and one namespace, so
 * that neither another model's tokens nor another tenant's salt is gone on from.
 *
 * <p>Bounded in bytes. Safe for any number of threads.
 */
final class ChainCache {
  private static final int ENTRY_BYTES = 320;

  /** What the first entry of a chain keeps besides: the scheme with its keys. */
  private static final int SCHEME_BYTES = 400;

  /**
   * A place in a prompt.
   *
   * @param high the upper half of the hash of what comes before
   * @param low the lower half
   * @param tokenizer the number of the tokenizer whose tokens they are
   * @param namespace the scheme's
   */
  private record Place(long high, long low, int tokenizer, HashNamespace namespace) {
    @Override
    public int hashCode() {
      return (Long.hashCode(low) * 31 + tokenizer) * 31 + namespace.hashCode();
    }
  }

  private record Entry(ChainState state, int ownBytes) {}

  private final Cache<Place, Entry> cache;
  private final LongAdder chains = new LongAdder();
  private final LongAdder continued = new LongAdder();

  ChainCache(long budgetBytes) {
    this.cache =
        Caffeine.newBuilder()
            .maximumWeight(budgetBytes)
            .weigher(
                (Place place, Entry entry) ->
                    ENTRY_BYTES
                        + Integer.BYTES * entry.state().scheme().blockTokens()
                        + entry.ownBytes())
            .executor(Runnable::run)
            .build();
  }

  /** Hashes a text's tokens, from the last place that is known on, with digests where there are. */
  ChainState chain(HashScheme scheme, SegmentCache.Encoded text) {
    List<int[]> parts = text.segments().parts();
    int next = parts.size();
    ChainState known = null;
    while (next > 0 && known == null) {
      known = known(scheme.namespace(), text, next - 1);
      next -= known == null ? 1 : 0;
    }
    chains.increment();
    if (known != null) {
      continued.increment();
    }
    BlockChain chain = known == null ? open(scheme) : known.fork();
    int remembered = chain.blocks();
    int more = known == null ? SCHEME_BYTES : 0;
    for (; next < parts.size(); next++) {
      chain.append(parts.get(next));
      if (text.added()[next] && chain.blocks() > remembered) {
        int ownBytes = more + (chain.blocks() - remembered) * blockBytes(scheme);
        cache.put(
            place(chain.scheme().namespace(), text, next), new Entry(chain.state(), ownBytes));
        remembered = chain.blocks();
        more = 0;
      }
    }
    return chain.state();
  }

  private @Nullable ChainState known(
      HashNamespace namespace, SegmentCache.Encoded text, int segment) {
    if (!text.added()[segment]) {
      return null;
    }
    Entry entry = cache.getIfPresent(place(namespace, text, segment));
    return entry == null ? null : entry.state();
  }

  private static Place place(HashNamespace namespace, SegmentCache.Encoded text, int segment) {
    return new Place(text.high()[segment], text.low()[segment], text.tokenizer(), namespace);
  }

  private static BlockChain open(HashScheme scheme) {
    return scheme.newChain(scheme.digestBytes() > 0 ? Retention.DIGESTS : Retention.REPORTED);
  }

  private static int blockBytes(HashScheme scheme) {
    int digest = scheme.digestBytes();
    return Long.BYTES * (scheme.hasLocalHashes() ? 2 : 1) + (digest > Long.BYTES ? digest : 0);
  }

  /** The share of chains that went on from a place; 1 before the first. */
  double hitRate() {
    long all = chains.sum();
    return all == 0 ? 1 : (double) continued.sum() / all;
  }

  /** Bytes that entries take, by estimate. */
  long bytes() {
    return cache.policy().eviction().map(e -> e.weightedSize().orElse(0)).orElse(0L);
  }
}

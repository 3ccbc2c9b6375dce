package dev.warmpath.fake.internal.surface;

import dev.warmpath.fake.internal.kv.RequestKeys;
import java.util.List;
import java.util.Set;

/**
 * An inference request after parsing, the same for every engine and endpoint.
 *
 * @param model the model name to answer with
 * @param id the id to answer with
 * @param itemIds the ids by which each sequence can be aborted, prompts times n
 * @param prompts token ids of each prompt
 * @param n answers to each prompt
 * @param maxTokens tokens to generate, or -1 for an answer of natural length, or 0 for none
 * @param stops texts that end an answer
 * @param stopTokens tokens that end an answer
 * @param stream whether to answer with events
 * @param includeUsage whether a stream ends with a usage chunk
 * @param continuousUsage whether every chunk carries usage
 * @param rank the data-parallel rank
 * @param cacheNamespace separates prefix caches
 * @param cacheKeys what that comes from
 * @param seed changes the answer
 * @param created seconds since the epoch
 */
record Call(
    String model,
    String id,
    List<String> itemIds,
    List<int[]> prompts,
    int n,
    int maxTokens,
    List<String> stops,
    Set<Integer> stopTokens,
    boolean stream,
    boolean includeUsage,
    boolean continuousUsage,
    int rank,
    long cacheNamespace,
    RequestKeys cacheKeys,
    long seed,
    long created) {

  int items() {
    return prompts.size() * n;
  }

  int promptTokens() {
    int sum = 0;
    for (int[] prompt : prompts) {
      sum += prompt.length;
    }
    return sum;
  }
}

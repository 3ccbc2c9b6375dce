package dev.warmpath.grpc.internal;

import dev.warmpath.api.Usage;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The common rule of smg's two services: a stream's tokens come in chunks, and what completes it
 * repeats the last of them, while an answer that is not streamed comes as its completion alone
 * (smg-grpc-servicer 0.8.0).
 */
abstract class ChunkedReader<R> implements WireReader<R> {
  private final Set<Integer> chunked = new HashSet<>();
  private int promptTokens = -1;
  private int cachedTokens;

  /** A part of a stream. */
  final void chunk(
      int index, List<Integer> ids, List<Delta.Logprob> logprobs, Consumer<Delta> deltas) {
    chunked.add(index);
    deltas.accept(new Delta(index, ids, null, logprobs, null));
  }

  /** The end of an answer. */
  final void complete(
      int index,
      List<Integer> ids,
      List<Delta.Logprob> logprobs,
      String reason,
      @Nullable Object matched,
      Consumer<Delta> deltas)
      throws EngineErrorException {
    if (reason.equals("error")) {
      throw new EngineErrorException(500, "the engine failed while it generated");
    }
    boolean known = chunked.contains(index);
    deltas.accept(
        new Delta(
            index,
            known ? List.of() : ids,
            null,
            known ? List.of() : logprobs,
            new Delta.End(reason, matched)));
  }

  /** The counts of any message; of several answers to one prompt the largest count. */
  final void counted(int prompt, int cached) {
    promptTokens = Math.max(promptTokens, prompt);
    cachedTokens = Math.max(cachedTokens, cached);
  }

  @Override
  public Usage promptUsage() {
    return promptTokens < 1
        ? new Usage(null, null, null)
        : new Usage(promptTokens, cachedTokens, null);
  }

  /**
   * Puts log probabilities together.
   *
   * @param tops the alternatives at each position, as either service's message holds them
   */
  static <T> List<Delta.Logprob> logprobs(
      List<Float> values,
      List<Integer> ids,
      List<T> tops,
      Function<T, List<Integer>> topIds,
      Function<T, List<Float>> topValues) {
    List<Delta.Logprob> logprobs = new ArrayList<>(values.size());
    for (int i = 0; i < Math.min(values.size(), ids.size()); i++) {
      boolean more = i < tops.size();
      logprobs.add(
          new Delta.Logprob(
              ids.get(i),
              values.get(i),
              more ? topIds.apply(tops.get(i)) : List.of(),
              more ? topValues.apply(tops.get(i)) : List.of()));
    }
    return logprobs;
  }
}

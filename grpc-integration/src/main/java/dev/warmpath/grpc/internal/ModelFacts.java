package dev.warmpath.grpc.internal;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What requests to a worker need to know of its model.
 *
 * @param contextLength the longest context in tokens, or null where the engine does not say
 * @param eosTokenIds the tokens that end an answer
 * @param defaults what is meant by parameters that a request leaves out
 */
public record ModelFacts(
    @Nullable Integer contextLength, Set<Integer> eosTokenIds, SamplingDefaults defaults) {

  /** Nothing is known. */
  public static final ModelFacts UNKNOWN = new ModelFacts(null, Set.of(), SamplingDefaults.NEUTRAL);
}

package dev.warmpath.grpc.internal;

import dev.warmpath.transport.OutboundRequest;
import dev.warmpath.transport.PromptTokens;
import org.jspecify.annotations.Nullable;

/**
 * A service with messages of its own, in which a request is said field by field: what it has no
 * words for is refused, before a worker is chosen and of what is sent at last, which may differ.
 */
abstract class GeneratingService implements EngineService {
  @Override
  public final void check(
      String path, byte[] body, @Nullable PromptTokens tokens, @Nullable String noTokens)
      throws InexpressibleException {
    Generation unused = checked(path, body, tokens, noTokens);
  }

  @Override
  public final WireCall<?, ?> call(
      OutboundRequest request, String rid, ModelFacts facts, long createdSeconds)
      throws InexpressibleException {
    Generation generation = checked(request.path(), request.body(), request.tokens(), null);
    return call(generation, request, rid, facts, createdSeconds);
  }

  private Generation checked(
      String path, byte[] body, @Nullable PromptTokens tokens, @Nullable String noTokens)
      throws InexpressibleException {
    Generation generation = Generation.read(path, body);
    if (needsTokens(generation)) {
      PromptTokens unused = Refusals.tokens(tokens, noTokens);
    }
    refuse(generation);
    return generation;
  }

  /** Whether the service takes no text in the prompt's place. */
  boolean needsTokens(Generation generation) {
    return true;
  }

  /** Refuses what it has no words for. */
  abstract void refuse(Generation generation) throws InexpressibleException;

  /** Makes the call of what was not refused. */
  abstract WireCall<?, ?> call(
      Generation generation,
      OutboundRequest request,
      String rid,
      ModelFacts facts,
      long createdSeconds)
      throws InexpressibleException;
}

package dev.warmpath.pd;

import dev.warmpath.api.Headers;
import dev.warmpath.api.RouterRequest;
import java.util.HashSet;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What the connectors of vLLM and ATOM have in common: prefill is a request for one token that is
 * answered whole, and both legs say what is transferred in {@code kv_transfer_params}.
 */
abstract class OpenAiLegs implements PdProtocol {
  static final String PARAMS = "kv_transfer_params";

  /** Prefill's limits and stops take the place of the caller's. */
  private static final Set<String> NOT_PREFILLS =
      Set.of(
          PARAMS,
          "stream",
          "stream_options",
          "max_tokens",
          "max_completion_tokens",
          "min_tokens",
          "min_completion_tokens",
          "rid",
          "data_parallel_rank");

  private static final Set<String> NOT_DECODES = Set.of(PARAMS, "rid", "data_parallel_rank");

  private final String name;
  private final PdShape shape;

  OpenAiLegs(String name, PdShape shape) {
    this.name = name;
    this.shape = shape;
  }

  @Override
  public final String name() {
    return name;
  }

  @Override
  public final PdShape shape() {
    return shape;
  }

  @Override
  public boolean serves(String path) {
    return path.equals(RouterRequest.CHAT_COMPLETIONS) || path.equals(RouterRequest.COMPLETIONS);
  }

  /** Further fields of prefill's body that the protocol sets, or leaves out. */
  abstract Set<String> replaced();

  /** What prefill is told of the transfer, as JSON; null for nothing. */
  abstract @Nullable String prefillParams(PdPair pair, AttemptIds ids);

  /** What decode is told of the transfer, as JSON; null for nothing. */
  abstract byte @Nullable [] decodeParams(PdPair pair, AttemptIds ids, byte @Nullable [] handOff);

  /** Adds what names a rank to a leg. */
  abstract Headers ranked(int rank, Headers headers, JsonFields.Added added);

  /** Adds what the protocol wants of prefill's sampling. */
  void sampling(JsonFields.Added added) {}

  @Override
  public final LegRequest prefill(PdPair pair, AttemptIds ids, Original original) {
    JsonFields body = original.body();
    JsonFields.Added added = new JsonFields.Added();
    String params = prefillParams(pair, ids);
    if (params != null) {
      added.raw(PARAMS, params);
    }
    added.raw("stream", "false").number("max_tokens", 1);
    if (body.has("max_completion_tokens")) {
      added.number("max_completion_tokens", 1);
    }
    sampling(added);
    Headers headers = ranked(pair.prefillRank(), original.identified(ids.requestId()), added);
    Set<String> without = new HashSet<>(NOT_PREFILLS);
    without.addAll(replaced());
    return new LegRequest(headers, body.edit(without, added), false, null);
  }

  @Override
  public final LegRequest decode(
      PdPair pair, AttemptIds ids, Original original, byte @Nullable [] handOff) {
    JsonFields.Added added = new JsonFields.Added();
    byte[] params = pair.direct() ? null : decodeParams(pair, ids, handOff);
    if (params != null) {
      added.raw(PARAMS, params);
    }
    Headers headers = ranked(pair.decodeRank(), original.identified(ids.requestId()), added);
    return new LegRequest(
        headers, original.body().edit(NOT_DECODES, added), original.stream(), null);
  }

  /** The traits of the prefill worker, where there is one. */
  static PdTraits prefillOf(PdPair pair) {
    return Objects.requireNonNull(pair.prefillTraits());
  }
}

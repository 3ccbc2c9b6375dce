package dev.warmpath.pd;

import dev.warmpath.api.Headers;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * ATOM: prefill to its end; decode gets prefill's parameters, to which three are added that tell
 * how prefill is laid out. Without parameters the request fails, and KV that no decode asks for is
 * kept, by what can be read of the engine for ever: so a cancelled prefill is let to its end and
 * its KV released.
 */
final class AtomRelay extends OpenAiLegs {
  AtomRelay() {
    super("atom", PdShape.SEQUENTIAL);
  }

  @Override
  public boolean finishesPrefill() {
    return true;
  }

  @Override
  Set<String> replaced() {
    return Set.of();
  }

  @Override
  String prefillParams(PdPair pair, AttemptIds ids) {
    return VllmLegs.side(false).object();
  }

  @Override
  byte @Nullable [] decodeParams(PdPair pair, AttemptIds ids, byte @Nullable [] handOff) {
    if (handOff == null) {
      return null;
    }
    PdTraits prefill = prefillOf(pair);
    JsonFields given = Objects.requireNonNull(JsonFields.find(handOff));
    JsonFields.Added added = new JsonFields.Added();
    added.number("remote_dp_size", prefill.ranks());
    Integer configured = prefill.number("tp");
    String reported = given.text("tp_size");
    added.raw(
        "remote_tp_size",
        configured != null ? Integer.toString(configured) : reported != null ? reported : "1");
    String rank = given.text("dp_rank");
    added.raw(
        "remote_dp_rank", rank != null ? rank : Integer.toString(Math.max(0, pair.prefillRank())));
    return given.edit(Set.of("remote_dp_size", "remote_tp_size", "remote_dp_rank"), added);
  }

  @Override
  Headers ranked(int rank, Headers headers, JsonFields.Added added) {
    if (rank >= 0) {
      added.number("data_parallel_rank", rank);
    }
    return headers;
  }
}

package dev.warmpath.pd;

import dev.warmpath.api.RouterRequest;
import dev.warmpath.policy.Candidate;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * SGLang: both legs at once, which meet in a room of the prefill worker's bootstrap server. The
 * bodies differ in the fields of data-parallel ranks only; the engine itself keeps prefill to one
 * token.
 */
final class SglangBootstrap implements PdProtocol {
  private static final Set<String> OURS =
      Set.of(
          "bootstrap_host",
          "bootstrap_port",
          "bootstrap_room",
          "rid",
          "routed_dp_rank",
          "data_parallel_rank",
          "disagg_prefill_dp_rank");

  @Override
  public String name() {
    return "sglang";
  }

  @Override
  public PdShape shape() {
    return PdShape.CONCURRENT;
  }

  @Override
  public boolean serves(String path) {
    return path.equals(RouterRequest.CHAT_COMPLETIONS)
        || path.equals(RouterRequest.COMPLETIONS)
        || path.equals(Original.GENERATE);
  }

  @Override
  public long maxRoom(PdPair pair) {
    return overGrpc(pair.prefill()) || overGrpc(pair.decode())
        ? RoomSource.INT32_MAX
        : RoomSource.HTTP_MAX;
  }

  private static boolean overGrpc(@Nullable Candidate leg) {
    return leg != null && leg.target().worker().id().scheme().startsWith("grpc");
  }

  @Override
  public boolean aborts() {
    return true;
  }

  @Override
  public LegRequest prefill(PdPair pair, AttemptIds ids, Original original) {
    JsonFields.Added added = meeting(pair, ids);
    if (pair.prefillRank() >= 0) {
      added.number("routed_dp_rank", pair.prefillRank());
    }
    return request(added, ids, original);
  }

  @Override
  public LegRequest decode(
      PdPair pair, AttemptIds ids, Original original, byte @Nullable [] handOff) {
    JsonFields.Added added = meeting(pair, ids);
    if (pair.decodeRank() >= 0) {
      added.number("routed_dp_rank", pair.decodeRank());
    }
    if (pair.prefillRank() >= 0) {
      added.number("disagg_prefill_dp_rank", pair.prefillRank());
    }
    return request(added, ids, original);
  }

  private static JsonFields.Added meeting(PdPair pair, AttemptIds ids) {
    PdTraits prefill = java.util.Objects.requireNonNull(pair.prefillTraits());
    Integer port = prefill.number("bootstrap-port");
    return new JsonFields.Added()
        .text("bootstrap_host", prefill.label("bootstrap-host", prefill.host()))
        .raw("bootstrap_port", port == null ? "null" : Integer.toString(port))
        .number("bootstrap_room", ids.room())
        .text("rid", ids.rid());
  }

  private static LegRequest request(JsonFields.Added added, AttemptIds ids, Original original) {
    return new LegRequest(
        original.headers(), original.body().edit(OURS, added), original.stream(), ids.rid());
  }
}

package dev.warmpath.fake.internal.surface;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.fake.internal.http.HttpRequest;
import java.util.List;

/**
 * ATOM's hand-over: prefill's answer says where its blocks are and which token came first; the
 * router adds how prefill is laid out, and decode asks prefill to write.
 */
final class AtomConnector extends TransferParams {
  private static final List<String> ADDED =
      List.of("remote_dp_size", "remote_tp_size", "remote_dp_rank");

  @Override
  Admission prefill(EngineSurface surface, HttpRequest request, JsonNode params, Call call) {
    long sequence = surface.life.nextSequenceId();
    String id = Long.toString(sequence);
    return SourceAdmission.offering(
        surface,
        id,
        transferSubject(id),
        item -> {
          var answer = offered(surface, item, call.rank());
          answer.putArray("remote_swa_block_ids");
          answer.putArray("draft_token_ids");
          return answer
              .put("remote_port", surface.life.sidePort())
              .put("remote_handshake_port", surface.life.sidePort())
              .put("dp_rank", call.rank())
              .put("remote_pp_size", 1)
              .put("transfer_id", sequence)
              .put("first_token_id", item.text.tokens()[0])
              .put("local_slot_index", 0)
              .put("prefix_cache_hit_tokens", item.cachedTokens());
        });
  }

  @Override
  Admission decode(EngineSurface surface, HttpRequest request, JsonNode params) {
    ADDED.forEach(field -> required(surface, params, field));
    String id = required(surface, params, "transfer_id");
    return DestinationAdmission.claiming(
        surface,
        address(surface, params, "remote_host", "remote_handshake_port"),
        id,
        transferSubject(id),
        params);
  }
}

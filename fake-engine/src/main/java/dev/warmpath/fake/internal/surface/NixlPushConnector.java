package dev.warmpath.fake.internal.surface;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.fake.internal.http.HttpRequest;

/**
 * vLLM's NixlPushConnector: decode registers its blocks with prefill under the transfer's id, and
 * prefill pushes into them.
 */
final class NixlPushConnector extends TransferParams {
  @Override
  Admission prefill(EngineSurface surface, HttpRequest request, JsonNode params, Call call) {
    String id = required(surface, params, "transfer_id");
    return SourceAdmission.meeting(surface, id, transferSubject(id));
  }

  @Override
  Admission decode(EngineSurface surface, HttpRequest request, JsonNode params) {
    String id = required(surface, params, "transfer_id");
    required(surface, params, "remote_request_id");
    required(surface, params, "tp_size");
    return DestinationAdmission.meeting(
        surface,
        address(surface, params, "remote_host", "remote_port"),
        id,
        transferSubject(id),
        required(surface, params, "remote_engine_id"));
  }
}

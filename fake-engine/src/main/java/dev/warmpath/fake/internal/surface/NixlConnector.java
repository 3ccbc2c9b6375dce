package dev.warmpath.fake.internal.surface;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.fake.internal.http.HttpRequest;

/**
 * vLLM's NixlConnector: prefill answers with where its blocks are and holds them under a lease;
 * decode fetches them.
 */
final class NixlConnector extends TransferParams {
  @Override
  Admission prefill(EngineSurface surface, HttpRequest request, JsonNode params, Call call) {
    String name = call.itemIds().get(0) + "-" + surface.life.randomHex();
    return SourceAdmission.offering(
        surface,
        name,
        subject(name),
        item ->
            offered(surface, item, call.rank())
                .put("remote_request_id", name)
                .put("remote_port", surface.life.sidePort())
                .put("remote_num_tokens", item.promptTokens));
  }

  @Override
  Admission decode(EngineSurface surface, HttpRequest request, JsonNode params) {
    String name = required(surface, params, "remote_request_id");
    return DestinationAdmission.claiming(
        surface,
        address(surface, params, "remote_host", "remote_port"),
        name,
        subject(name),
        params);
  }

  private static String subject(String name) {
    return "request_id=" + name;
  }
}

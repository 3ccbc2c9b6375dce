package dev.warmpath.fake.internal.surface;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.fake.internal.http.HttpRequest;
import java.net.URI;

/**
 * vLLM's MooncakeConnector: decode asks prefill's bootstrap server for the transfer of the router's
 * id from one of the engines there.
 */
final class MooncakeConnector extends TransferParams {
  @Override
  Admission prefill(EngineSurface surface, HttpRequest request, JsonNode params, Call call) {
    String id = required(surface, params, "transfer_id");
    String engine = surface.life.desk().engineId(call.rank());
    return SourceAdmission.meeting(surface, key(id, engine), transferSubject(id));
  }

  @Override
  Admission decode(EngineSurface surface, HttpRequest request, JsonNode params) {
    String id = required(surface, params, "transfer_id");
    String engine = required(surface, params, "remote_engine_id");
    String address = required(surface, params, "remote_bootstrap_addr");
    URI uri;
    try {
      uri = URI.create(address);
    } catch (IllegalArgumentException e) {
      throw surface.error(400, "remote_bootstrap_addr is no address");
    }
    if (uri.getHost() == null || uri.getPort() < 0) {
      throw surface.error(400, "remote_bootstrap_addr is no address");
    }
    return DestinationAdmission.meeting(
        surface,
        new SideChannel.Address(SglangRooms.withoutBrackets(uri.getHost()), uri.getPort()),
        key(id, engine),
        transferSubject(id),
        engine);
  }

  /** Each data-parallel rank is an engine, and knows its own transfers only. */
  private static String key(String id, String engine) {
    return id + "@" + engine;
  }
}

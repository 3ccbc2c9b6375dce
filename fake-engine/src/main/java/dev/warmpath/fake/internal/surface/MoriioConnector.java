package dev.warmpath.fake.internal.surface;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.fake.internal.http.HttpRequest;
import org.jspecify.annotations.Nullable;

/**
 * vLLM's MoRIIOConnector. In its write mode decode notifies prefill of its blocks and prefill
 * writes them; in its read mode decode reads what prefill's answer names. Each side takes the
 * other's address from the request id, or else from the parameters.
 */
final class MoriioConnector extends TransferParams {
  private final boolean read;

  MoriioConnector(boolean read) {
    this.read = read;
  }

  @Override
  Admission prefill(EngineSurface surface, HttpRequest request, JsonNode params, Call call) {
    String id = required(surface, params, "transfer_id");
    if (!read) {
      PairedId pair = PairedId.of(request.header("x-request-id"));
      SideChannel.Address decode = peer(surface, params, pair == null ? null : pair.decode());
      return SourceAdmission.meeting(surface, key(id, decode.port()), transferSubject(id));
    }
    return SourceAdmission.offering(
        surface,
        id,
        transferSubject(id),
        item ->
            offered(surface, item, call.rank())
                .put("transfer_id", id)
                .put("remote_handshake_port", surface.life.sidePort())
                .put("remote_notify_port", surface.life.sidePort())
                .put("remote_dp_size", surface.settings.dpSize()));
  }

  @Override
  Admission decode(EngineSurface surface, HttpRequest request, JsonNode params) {
    String id = required(surface, params, "transfer_id");
    if (read) {
      required(surface, params, "remote_engine_id");
      required(surface, params, "remote_block_ids");
      return DestinationAdmission.claiming(
          surface,
          address(surface, params, "remote_host", "remote_handshake_port"),
          id,
          transferSubject(id),
          params);
    }
    PairedId pair = PairedId.of(request.header("x-request-id"));
    return DestinationAdmission.meeting(
        surface,
        peer(surface, params, pair == null ? null : pair.prefill()),
        key(id, surface.life.sidePort()),
        transferSubject(id),
        null);
  }

  private static SideChannel.Address peer(
      EngineSurface surface, JsonNode params, @Nullable String named) {
    SideChannel.Address address = named == null ? null : PairedId.handshake(named);
    return address != null
        ? address
        : address(surface, params, "remote_host", "remote_handshake_port");
  }

  /** Prefill writes to the decode worker that it was told of, and to no other. */
  private static String key(String id, int decodePort) {
    return id + "@" + decodePort;
  }
}

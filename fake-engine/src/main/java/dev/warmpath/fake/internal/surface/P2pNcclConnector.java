package dev.warmpath.fake.internal.surface;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.fake.internal.http.HttpRequest;
import dev.warmpath.worker.WorkerRole;

/**
 * vLLM's P2pNcclConnector: the request id says it all. Prefill sends to the decode worker that the
 * id names; decode waits for what bears the id. (The engine's buffer is on decode's side, the
 * imitation's on prefill's.)
 */
final class P2pNcclConnector implements KvConnector {
  @Override
  public Admission admission(EngineSurface surface, HttpRequest request, JsonNode body, Call call) {
    String id = request.header("x-request-id");
    PairedId pair = PairedId.of(id);
    SideChannel.Address prefill = pair == null ? null : PairedId.hostPort(pair.prefill());
    SideChannel.Address decode = pair == null ? null : PairedId.hostPort(pair.decode());
    if (id == null || prefill == null || decode == null) {
      throw surface.error(
          500, "Request id " + id + " does not contain hostname and port of the other side");
    }
    String subject = "request_id=" + id;
    if (surface.settings.role() == WorkerRole.PREFILL) {
      return SourceAdmission.meeting(surface, key(id, decode.port()), subject);
    }
    return DestinationAdmission.meeting(
        surface, prefill, key(id, surface.life.sidePort()), subject, null);
  }

  private static String key(String id, int decodePort) {
    return id + "@" + decodePort;
  }
}

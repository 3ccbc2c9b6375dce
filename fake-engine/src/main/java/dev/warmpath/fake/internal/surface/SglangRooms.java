package dev.warmpath.fake.internal.surface;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.fake.internal.http.HttpRequest;
import dev.warmpath.worker.WorkerRole;

/** SGLang's way: both workers get the request, and meet in a room that the router named. */
final class SglangRooms implements KvConnector {
  @Override
  public Admission admission(EngineSurface surface, HttpRequest request, JsonNode body, Call call) {
    JsonNode number = scalar(surface, body, "bootstrap_room");
    if (!number.isIntegralNumber() || !number.canConvertToLong() || number.asLong() < 0) {
      throw surface.error(400, "Disaggregated request received without bootstrap room id");
    }
    String room = Long.toString(number.asLong());
    String subject = "bootstrap_room=" + room;
    if (surface.settings.role() == WorkerRole.PREFILL) {
      return SourceAdmission.meeting(surface, room, subject);
    }
    // Without a port the engine takes its own for prefill's.
    int port = scalar(surface, body, "bootstrap_port").asInt(surface.life.bootstrapPort());
    String host = scalar(surface, body, "bootstrap_host").asText("");
    return DestinationAdmission.meeting(
        surface, new SideChannel.Address(withoutBrackets(host), port), room, subject, null);
  }

  static String withoutBrackets(String host) {
    return host.startsWith("[") && host.endsWith("]") ? host.substring(1, host.length() - 1) : host;
  }

  /** A value, alone or as the only one of a list. */
  static JsonNode scalar(EngineSurface surface, JsonNode body, String field) {
    JsonNode value = body.path(field);
    if (!value.isArray()) {
      return value;
    }
    if (value.size() != 1) {
      throw surface.error(400, field + " must be one value: a fake worker hands over one sequence");
    }
    return value.path(0);
  }
}

package dev.warmpath.fake.internal.surface;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.fake.internal.http.HttpRequest;
import org.jspecify.annotations.Nullable;

/**
 * Connectors whose requests carry {@code kv_transfer_params}: prefill's ask to keep the KV for a
 * remote decode, decode's to take it from a remote prefill, and others ask for nothing.
 */
abstract class TransferParams implements KvConnector {
  /** A field that only this imitation has, to see that a router relays what it does not know. */
  private static final String SEAL = "fake_seal";

  @Override
  public final @Nullable Admission admission(
      EngineSurface surface, HttpRequest request, JsonNode body, Call call) {
    JsonNode params = body.path("kv_transfer_params");
    if (params.path("do_remote_decode").asBoolean(false)) {
      return prefill(surface, request, params, call);
    }
    if (params.path("do_remote_prefill").asBoolean(false)) {
      return decode(surface, request, params);
    }
    return null;
  }

  abstract Admission prefill(
      EngineSurface surface, HttpRequest request, JsonNode params, Call call);

  abstract Admission decode(EngineSurface surface, HttpRequest request, JsonNode params);

  /** A field that the engine looks up without asking whether it is there. */
  static String required(EngineSurface surface, JsonNode params, String field) {
    JsonNode value = params.path(field);
    if (value.isMissingNode() || value.isNull()) {
      throw surface.error(500, "KeyError: '" + field + "'");
    }
    return value.asText();
  }

  static SideChannel.Address address(
      EngineSurface surface, JsonNode params, String hostField, String portField) {
    String host = required(surface, params, hostField);
    JsonNode port = params.path(portField);
    if (!port.canConvertToInt() || port.asInt() < 1) {
      throw surface.error(500, "KeyError: '" + portField + "'");
    }
    return new SideChannel.Address(SglangRooms.withoutBrackets(host), port.asInt());
  }

  static String transferSubject(String id) {
    return "transfer_id=" + id;
  }

  /** What every answer says: who holds which blocks. */
  static ObjectNode offered(EngineSurface surface, Generation.Item item, int rank) {
    ObjectNode params = Json.object().put("do_remote_prefill", true).put("do_remote_decode", false);
    var blocks = params.putArray("remote_block_ids").addArray();
    int size = surface.settings.core().blockSize();
    for (int block = 0; block < (item.promptTokens + size - 1) / size; block++) {
      blocks.add(block + 1);
    }
    return params
        .put("remote_engine_id", surface.life.desk().engineId(rank))
        .put("remote_host", surface.settings.host())
        .put("tp_size", 1)
        .put(SEAL, surface.life.randomHex());
  }
}

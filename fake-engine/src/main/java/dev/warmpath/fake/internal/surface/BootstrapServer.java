package dev.warmpath.fake.internal.surface;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.fake.handoff.TransferProtocol;
import dev.warmpath.fake.internal.http.HttpExchange;
import dev.warmpath.worker.WorkerRole;
import java.util.Map;

/**
 * What a side channel tells whoever asks it over HTTP: SGLang's bootstrap server its layout, once
 * its ranks are registered, and Mooncake's the engines behind it.
 */
final class BootstrapServer {
  private BootstrapServer() {}

  static void handle(Life life, HttpExchange exchange) {
    TransferProtocol protocol = life.terms().protocol();
    String path = exchange.request().path();
    boolean prefill = life.settings().role() == WorkerRole.PREFILL;
    if (prefill && protocol == TransferProtocol.SGLANG && path.equals("/health")) {
      EngineSurface.plain(exchange, 200, "OK");
    } else if (prefill && protocol == TransferProtocol.SGLANG && path.equals("/route")) {
      EngineSurface.json(exchange, route(life));
    } else if (prefill && protocol == TransferProtocol.MOONCAKE && path.equals("/query")) {
      EngineSurface.json(exchange, engines(life));
    } else {
      exchange.respond(404, Map.of(), EngineSurface.NOTHING);
    }
  }

  private static ObjectNode route(Life life) {
    return Json.object()
        .put("attn_tp_size", 1)
        .put("attn_cp_size", 1)
        .put("dp_size", life.settings().dpSize())
        .put("pp_size", 1)
        .put("page_size", life.settings().core().blockSize())
        .put("kv_cache_dtype", "auto")
        .put("follow_bootstrap_room", true);
  }

  private static ObjectNode engines(Life life) {
    ObjectNode engines = Json.object();
    for (int rank = 0; rank < life.settings().dpSize(); rank++) {
      engines.putObject(Integer.toString(rank)).put("engine_id", life.desk().engineId(rank));
    }
    return engines;
  }
}

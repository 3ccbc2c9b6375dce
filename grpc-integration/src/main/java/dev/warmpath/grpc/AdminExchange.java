package dev.warmpath.grpc;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.grpc.internal.EngineService;
import dev.warmpath.grpc.internal.EngineServices;
import dev.warmpath.grpc.internal.ErrorBody;
import dev.warmpath.transport.Exchange;
import dev.warmpath.transport.ExchangeResponse;
import dev.warmpath.transport.OutboundRequest;
import dev.warmpath.transport.TransportException;
import dev.warmpath.worker.ServedModel;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** What the router asks of workers beside generation, by the HTTP paths it knows it under. */
final class AdminExchange implements Exchange {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final OutboundRequest request;
  private final Endpoint endpoint;
  private volatile boolean cancelled;

  AdminExchange(OutboundRequest request, Endpoint endpoint) {
    this.request = request;
    this.endpoint = endpoint;
  }

  /** Whether a path is one of them. */
  static boolean serves(String path) {
    return switch (plain(path)) {
      case "/abort_request", "/flush_cache", "/v1/models", "/health" -> true;
      default -> false;
    };
  }

  private static String plain(String path) {
    int query = path.indexOf('?');
    return query < 0 ? path : path.substring(0, query);
  }

  @Override
  public ExchangeResponse execute() throws TransportException {
    if (cancelled) {
      throw GrpcExchange.cancellation();
    }
    Duration timeout = request.timeouts().firstToken();
    EngineServices.Found found = endpoint.found(request.target().worker(), timeout);
    EngineService service = found.service();
    return switch (plain(request.path())) {
      case "/abort_request" -> {
        service.abort(endpoint.calls(request.target().worker(), timeout), rid());
        yield answer(200, "{\"success\":true}");
      }
      case "/flush_cache" ->
          service.flush(endpoint.calls(request.target().worker(), timeout))
              ? answer(200, "{\"success\":true}")
              : new WholeResponse(400, ErrorBody.of(400, "the engine is busy"));
      case "/health" ->
          service.health(endpoint.calls(request.target().worker(), timeout)).healthy()
              ? answer(200, "{}")
              : new WholeResponse(503, ErrorBody.of(503, "not healthy"));
      default -> answer(200, models(found));
    };
  }

  private static ExchangeResponse answer(int status, String json) {
    return new WholeResponse(status, json.getBytes(StandardCharsets.UTF_8));
  }

  private String rid() throws TransportException {
    try {
      JsonNode body = JSON.readTree(request.body());
      return body.path("rid").asText();
    } catch (IOException e) {
      throw GrpcExchange.cancellation();
    }
  }

  private static String models(EngineServices.Found found) {
    var list = JSON.createObjectNode().put("object", "list");
    var data = list.putArray("data");
    for (ServedModel model : found.report().capabilities().models()) {
      var entry =
          data.addObject()
              .put("id", model.id())
              .put("object", "model")
              .put("owned_by", found.service().engine().label());
      Integer length = model.maxModelLen();
      if (length != null) {
        entry.put("max_model_len", length);
      }
    }
    return list.toString();
  }

  /** A call that has begun is let through: each is small and ends by its deadline. */
  @Override
  public void cancel() {
    cancelled = true;
  }
}

package dev.warmpath.grpc.internal;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.protobuf.ByteString;
import dev.warmpath.api.Headers;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.proto.sglang.runtime.AbortRequest;
import dev.warmpath.proto.sglang.runtime.ContinueGenerationRequest;
import dev.warmpath.proto.sglang.runtime.FlushCacheRequest;
import dev.warmpath.proto.sglang.runtime.GetLoadRequest;
import dev.warmpath.proto.sglang.runtime.GetServerInfoRequest;
import dev.warmpath.proto.sglang.runtime.GetServerInfoResponse;
import dev.warmpath.proto.sglang.runtime.HealthCheckRequest;
import dev.warmpath.proto.sglang.runtime.ListModelsRequest;
import dev.warmpath.proto.sglang.runtime.ModelCard;
import dev.warmpath.proto.sglang.runtime.OpenAIRequest;
import dev.warmpath.proto.sglang.runtime.OpenAIResponse;
import dev.warmpath.proto.sglang.runtime.OpenAIStreamChunk;
import dev.warmpath.proto.sglang.runtime.PauseGenerationRequest;
import dev.warmpath.proto.sglang.runtime.SglangServiceGrpc;
import dev.warmpath.proto.sglang.runtime.StartProfileRequest;
import dev.warmpath.proto.sglang.runtime.StopProfileRequest;
import dev.warmpath.transport.AdminCommand;
import dev.warmpath.transport.AdminReply;
import dev.warmpath.transport.AdminReply.Outcome;
import dev.warmpath.transport.HealthReport;
import dev.warmpath.transport.LoadReport;
import dev.warmpath.transport.OutboundRequest;
import dev.warmpath.transport.PromptTokens;
import dev.warmpath.transport.RankLoad;
import dev.warmpath.transport.TransportException;
import dev.warmpath.worker.EngineKind;
import dev.warmpath.worker.ServedModel;
import dev.warmpath.worker.Worker;
import dev.warmpath.worker.WorkerCapabilities;
import dev.warmpath.worker.WorkerRole;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * SGLang's own Rust server, which takes OpenAI bodies as they are and answers in OpenAI's JSON: no
 * tokenizer is needed here. A dropped call aborts its request (SGLang main, July 2026).
 */
final class SglangRuntime implements EngineService {
  private static final List<String> TRACE_HEADERS =
      List.of("traceparent", "tracestate", "baggage", "x-request-id");

  @Override
  public String name() {
    return "sglang";
  }

  @Override
  public EngineKind engine() {
    return EngineKind.SGLANG;
  }

  @Override
  public boolean named(String serviceName) {
    return serviceName.equals(SglangServiceGrpc.SERVICE_NAME);
  }

  @Override
  public void check(
      String path, byte[] body, @Nullable PromptTokens tokens, @Nullable String noTokens)
      throws InexpressibleException {
    boolean known = streamed(plain(path)) != null || unary(plain(path)) != null;
    if (!known) {
      throw new InexpressibleException(
          "its gRPC service has no call for " + plain(path) + ": use an HTTP worker");
    }
  }

  private static String plain(String path) {
    int query = path.indexOf('?');
    return query < 0 ? path : path.substring(0, query);
  }

  private static @Nullable MethodDescriptor<OpenAIRequest, OpenAIStreamChunk> streamed(
      String path) {
    return switch (path) {
      case RouterRequest.CHAT_COMPLETIONS -> SglangServiceGrpc.getChatCompleteMethod();
      case RouterRequest.COMPLETIONS -> SglangServiceGrpc.getCompleteMethod();
      default -> null;
    };
  }

  private static @Nullable MethodDescriptor<OpenAIRequest, OpenAIResponse> unary(String path) {
    return switch (path) {
      case RouterRequest.EMBEDDINGS -> SglangServiceGrpc.getOpenAIEmbedMethod();
      case "/v1/classify" -> SglangServiceGrpc.getOpenAIClassifyMethod();
      case "/v1/score" -> SglangServiceGrpc.getScoreMethod();
      case "/v1/rerank" -> SglangServiceGrpc.getRerankMethod();
      default -> null;
    };
  }

  @Override
  public WireCall<?, ?> call(
      OutboundRequest request, String rid, ModelFacts facts, long createdSeconds)
      throws InexpressibleException {
    check(request.path(), request.body(), request.tokens(), null);
    OpenAIRequest.Builder message = OpenAIRequest.newBuilder().setJsonBody(body(request));
    Headers headers = request.headers();
    for (String name : TRACE_HEADERS) {
      String value = headers.get(name);
      if (value != null) {
        message.putTraceHeaders(name, value);
      }
    }
    String path = plain(request.path());
    MethodDescriptor<OpenAIRequest, OpenAIStreamChunk> streamed = streamed(path);
    if (streamed != null) {
      return new WireCall<>(
          streamed, message.build(), new Metadata(), new PassedStream(request.stream()));
    }
    MethodDescriptor<OpenAIRequest, OpenAIResponse> unary = unary(path);
    if (unary == null) {
      throw new IllegalStateException("checked before");
    }
    return new WireCall<>(unary, message.build(), new Metadata(), new PassedAnswer());
  }

  /** The rank is a field of the body here: there are no HTTP headers. */
  private static ByteString body(OutboundRequest request) throws InexpressibleException {
    if (request.target().rank().isEmpty()) {
      return ByteString.copyFrom(request.body());
    }
    try {
      if (BodyFields.JSON.readTree(request.body()) instanceof ObjectNode body) {
        body.put("routed_dp_rank", request.target().rank().getAsInt());
        return ByteString.copyFrom(BodyFields.JSON.writeValueAsBytes(body));
      }
    } catch (IOException e) {
      throw new InexpressibleException("the body is not valid JSON");
    }
    throw new InexpressibleException("the body is no JSON object");
  }

  @Override
  public @Nullable ServiceReport probe(ControlCalls calls, Worker worker)
      throws TransportException {
    GetServerInfoResponse server =
        calls.callIfThere(
            SglangServiceGrpc.getGetServerInfoMethod(), GetServerInfoRequest.getDefaultInstance());
    if (server == null) {
      return null;
    }
    JsonNode info = json(server.getJsonInfo());
    List<ServedModel> models = new ArrayList<>();
    for (ModelCard card :
        calls
            .call(SglangServiceGrpc.getListModelsMethod(), ListModelsRequest.getDefaultInstance())
            .getModelsList()) {
      models.add(
          new ServedModel(
              card.getId(),
              Probed.text(card.getRoot()),
              card.hasParent() ? card.getParent() : null,
              Probed.positive(card.getMaxModelLen())));
    }
    WorkerRole role =
        switch (info.path("disaggregation_mode").asText()) {
          case "prefill" -> WorkerRole.PREFILL;
          case "decode" -> WorkerRole.DECODE;
          case "" -> null;
          default -> WorkerRole.REGULAR;
        };
    Integer capacity = Probed.positive(info.path("max_total_num_tokens").asDouble());
    JsonNode report = info.get("enable_cache_report");
    return new ServiceReport(
        new WorkerCapabilities(
            EngineKind.SGLANG,
            Probed.text(info.path("version").asText()),
            role,
            models,
            Probed.positive(info.path("dp_size").asDouble()),
            Probed.positive(info.path("page_size").asDouble()),
            capacity == null ? null : Long.valueOf(capacity),
            Probed.positive(info.path("max_running_requests").asDouble()),
            (report != null && report.isBoolean()) ? Boolean.valueOf(report.asBoolean()) : null),
        null,
        ModelFacts.UNKNOWN);
  }

  private static JsonNode json(String text) throws TransportException {
    try {
      JsonNode json = BodyFields.JSON.readTree(text);
      return json == null ? BodyFields.JSON.missingNode() : json;
    } catch (IOException e) {
      throw Statuses.notUnderstood("json_info is not valid JSON");
    }
  }

  @Override
  public HealthReport health(ControlCalls calls) throws TransportException {
    boolean healthy =
        calls
            .call(SglangServiceGrpc.getHealthCheckMethod(), HealthCheckRequest.getDefaultInstance())
            .getHealthy();
    return new HealthReport(healthy, Probed.healthy(healthy));
  }

  /** As {@code /get_load}: {@code num_reqs} counts running and waiting requests. */
  @Override
  public LoadReport load(ControlCalls calls, Worker worker) throws TransportException {
    JsonNode loads =
        json(
            calls
                .call(SglangServiceGrpc.getGetLoadMethod(), GetLoadRequest.getDefaultInstance())
                .getJsonInfo());
    if (!loads.isArray()) {
      throw Statuses.notUnderstood("GetLoad lists no loads");
    }
    List<RankLoad> ranks = new ArrayList<>();
    for (JsonNode load : loads) {
      double waiting = number(load, "num_waiting_reqs");
      ranks.add(
          new RankLoad(
              loads.size() > 1 ? load.path("dp_rank").asInt(-1) : -1,
              number(load, "num_reqs") - waiting,
              waiting,
              Double.NaN,
              Double.NaN,
              Double.NaN,
              Double.NaN,
              Double.NaN,
              Double.NaN,
              number(load, "num_pending_tokens")));
    }
    return new LoadReport(ranks, "GetLoad", null, Double.NaN);
  }

  private static double number(JsonNode node, String field) {
    return node.path(field).isNumber() ? node.path(field).asDouble() : Double.NaN;
  }

  @Override
  public void abort(ControlCalls calls, String rid) throws TransportException {
    var unused =
        calls.call(
            SglangServiceGrpc.getAbortMethod(), AbortRequest.newBuilder().setRid(rid).build());
  }

  @Override
  public boolean flush(ControlCalls calls) throws TransportException {
    return calls
        .call(SglangServiceGrpc.getFlushCacheMethod(), FlushCacheRequest.getDefaultInstance())
        .getSuccess();
  }

  @Override
  public @Nullable AdminReply admin(ControlCalls calls, AdminCommand command)
      throws TransportException {
    if (command instanceof AdminCommand.AbortAll) {
      boolean done =
          calls
              .call(
                  SglangServiceGrpc.getAbortMethod(),
                  AbortRequest.newBuilder().setAbortAll(true).build())
              .getSuccess();
      return AdminReply.of(done ? Outcome.DONE : Outcome.FAILED, "");
    }
    if (command instanceof AdminCommand.Pause pause) {
      String refusal = pause.mode().refusedBy(EngineKind.SGLANG);
      if (refusal != null) {
        return AdminReply.of(Outcome.UNSUPPORTED, refusal);
      }
      String mode = pause.mode().sglangName();
      PauseGenerationRequest request = PauseGenerationRequest.newBuilder().setMode(mode).build();
      return AdminReply.of(
          Outcome.DONE,
          calls.call(SglangServiceGrpc.getPauseGenerationMethod(), request).getMessage());
    }
    if (command instanceof AdminCommand.Resume) {
      return AdminReply.of(
          Outcome.DONE,
          calls
              .call(
                  SglangServiceGrpc.getContinueGenerationMethod(),
                  ContinueGenerationRequest.getDefaultInstance())
              .getMessage());
    }
    if (command instanceof AdminCommand.StartProfile) {
      return AdminReply.of(
          Outcome.DONE,
          calls
              .call(
                  SglangServiceGrpc.getStartProfileMethod(),
                  StartProfileRequest.getDefaultInstance())
              .getMessage());
    }
    if (command instanceof AdminCommand.StopProfile) {
      return AdminReply.of(
          Outcome.DONE,
          calls
              .call(
                  SglangServiceGrpc.getStopProfileMethod(), StopProfileRequest.getDefaultInstance())
              .getMessage());
    }
    return null;
  }
}

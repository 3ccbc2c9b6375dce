package dev.warmpath.okhttp.internal;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.api.Headers;
import dev.warmpath.prompt.EngineAdapters;
import dev.warmpath.transport.AdminCommand;
import dev.warmpath.transport.AdminReply;
import dev.warmpath.transport.AdminReply.Outcome;
import dev.warmpath.transport.CacheLevel;
import dev.warmpath.transport.Exchange;
import dev.warmpath.transport.ExchangeResponse;
import dev.warmpath.transport.OutboundRequest;
import dev.warmpath.transport.Timeouts;
import dev.warmpath.transport.TransportException;
import dev.warmpath.worker.EngineKind;
import dev.warmpath.worker.Worker;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.function.Function;

/**
 * The admin calls of SGLang ({@code http_server.py}), vLLM ({@code entrypoints/serve/dev}, there in
 * development mode only) and ATOM ({@code api_server.py}, which has next to none).
 */
public final class HttpAdmin {
  private static final int MAX_DETAIL = 200;
  private static final ObjectMapper JSON = new ObjectMapper();

  private final Function<OutboundRequest, Exchange> exchanges;

  /**
   * @param exchanges opens an exchange, with the worker's admin key where it has one
   */
  public HttpAdmin(Function<OutboundRequest, Exchange> exchanges) {
    this.exchanges = exchanges;
  }

  /** Has a worker do something, or says why it can't. */
  public AdminReply run(Worker worker, AdminCommand command, Duration timeout) {
    try {
      return switch (worker.engine()) {
        case SGLANG -> sglang(worker, command, timeout);
        case VLLM -> vllm(worker, command, timeout);
        case ATOM -> atom(worker, command, timeout);
        case UNKNOWN ->
            AdminReply.of(
                Outcome.UNREACHABLE,
                "it is not known which engine it is: it has not answered yet, or set ;engine=");
      };
    } catch (TransportException e) {
      return AdminReply.of(e);
    }
  }

  private AdminReply sglang(Worker worker, AdminCommand command, Duration timeout)
      throws TransportException {
    if (command instanceof AdminCommand.Flush flush) {
      return flush.level() == CacheLevel.L3
          ? sglangStore(worker, timeout)
          : sglangCache(worker, timeout);
    }
    if (command instanceof AdminCommand.Abort abort) {
      for (String id : abort.ids()) {
        Answer answer = post(worker, "/abort_request", EngineAdapters.abortBody(id), timeout);
        if (answer.status() != 200) {
          return answer.refusal(worker, "/abort_request");
        }
      }
      return AdminReply.of(
          Outcome.ACCEPTED, "SGLang does not say whether it knew " + abort.ids().size() + " ids");
    }
    if (command instanceof AdminCommand.AbortAll) {
      String body = "{\"rid\":\"\",\"abort_all\":true}";
      return post(worker, "/abort_request", json(body), timeout).done(worker, "/abort_request", "");
    }
    if (command instanceof AdminCommand.Pause pause) {
      String refusal = pause.mode().refusedBy(EngineKind.SGLANG);
      if (refusal != null) {
        return AdminReply.of(Outcome.UNSUPPORTED, refusal);
      }
      String mode = pause.mode().sglangName();
      return post(worker, "/pause_generation", json("{\"mode\":\"" + mode + "\"}"), timeout)
          .done(worker, "/pause_generation", "");
    }
    if (command instanceof AdminCommand.Resume) {
      return post(worker, "/continue_generation", json("{}"), timeout)
          .done(worker, "/continue_generation", "");
    }
    return profile(worker, command, timeout);
  }

  private AdminReply sglangCache(Worker worker, Duration timeout) throws TransportException {
    Answer answer = post(worker, "/flush_cache", new byte[0], timeout);
    if (answer.status() == 400) {
      return AdminReply.of(
          Outcome.BUSY,
          "SGLang empties its cache only when nothing runs or waits: " + answer.detail());
    }
    AdminReply reply = answer.done(worker, "/flush_cache", "device and host are emptied together");
    return reply.outcome().success() ? reply.emptying(CacheLevel.L1, CacheLevel.L2) : reply;
  }

  private AdminReply sglangStore(Worker worker, Duration timeout) throws TransportException {
    Answer answer = post(worker, "/hicache/storage-backend/clear", new byte[0], timeout);
    if (answer.status() == 404 || answer.status() == 405) {
      answer = post(worker, "/clear_hicache_storage_backend", new byte[0], timeout);
    }
    if (answer.status() == 400) {
      return AdminReply.of(Outcome.FAILED, "its hierarchical cache refuses: " + answer.detail());
    }
    AdminReply reply = answer.done(worker, "call to clear its store", "");
    return reply.outcome().success() ? reply.emptying(CacheLevel.L3) : reply;
  }

  private AdminReply vllm(Worker worker, AdminCommand command, Duration timeout)
      throws TransportException {
    if (command instanceof AdminCommand.Flush flush) {
      if (flush.level() == CacheLevel.L2) {
        return AdminReply.of(Outcome.UNSUPPORTED, "vLLM has no call for its host cache alone");
      }
      boolean external = flush.level() == CacheLevel.L3;
      Answer answer =
          post(
              worker,
              "/reset_prefix_cache?reset_running_requests=false&reset_external=" + external,
              new byte[0],
              timeout);
      if (answer.status() != 200) {
        return dev(answer, worker, "/reset_prefix_cache");
      }
      AdminReply taken =
          AdminReply.of(
              Outcome.ACCEPTED,
              external
                  ? "device and store; vLLM says the same whether or not they could be emptied"
                  : "vLLM says the same whether or not it could be emptied");
      return external
          ? taken.emptying(CacheLevel.L1, CacheLevel.L3)
          : taken.emptying(CacheLevel.L1);
    }
    if (command instanceof AdminCommand.Abort abort) {
      ObjectNode body = JSON.createObjectNode();
      ArrayNode ids = body.putArray("request_ids");
      for (String id : abort.ids()) {
        // Its own names of what was sent with the id.
        ids.add(id).add("chatcmpl-" + id).add("cmpl-" + id + "-0");
      }
      return vllmAbort(worker, json(body.toString()), timeout);
    }
    if (command instanceof AdminCommand.AbortAll) {
      return vllmAbort(worker, json("{\"request_ids\":[]}"), timeout);
    }
    if (command instanceof AdminCommand.Pause pause) {
      String refusal = pause.mode().refusedBy(EngineKind.VLLM);
      if (refusal != null) {
        return AdminReply.of(Outcome.UNSUPPORTED, refusal);
      }
      String mode =
          switch (pause.mode()) {
            case ABORT -> "abort";
            case WAIT -> "wait";
            default -> "keep";
          };
      Answer answer =
          post(worker, "/pause?mode=" + mode + "&clear_cache=false", new byte[0], timeout);
      return dev(answer, worker, "/pause");
    }
    if (command instanceof AdminCommand.Resume) {
      return dev(post(worker, "/resume", new byte[0], timeout), worker, "/resume");
    }
    return profile(worker, command, timeout);
  }

  private AdminReply vllmAbort(Worker worker, byte[] body, Duration timeout)
      throws TransportException {
    Answer answer = post(worker, "/abort_requests", body, timeout);
    if (answer.status() != 200) {
      return dev(answer, worker, "/abort_requests");
    }
    JsonNode aborted = answer.field("aborted");
    return AdminReply.of(
        Outcome.DONE, aborted.isInt() ? aborted.asInt() + " requests were ended" : "");
  }

  private static AdminReply dev(Answer answer, Worker worker, String path) {
    return answer.status() == 404
        ? AdminReply.of(
            Outcome.NEEDS_DEV_MODE, "vLLM has " + path + " with VLLM_SERVER_DEV_MODE=1 only")
        : answer.done(worker, path, "");
  }

  private AdminReply atom(Worker worker, AdminCommand command, Duration timeout)
      throws TransportException {
    if (command instanceof AdminCommand.StartProfile
        || command instanceof AdminCommand.StopProfile) {
      return profile(worker, command, timeout);
    }
    boolean ends =
        command instanceof AdminCommand.Abort || command instanceof AdminCommand.AbortAll;
    return AdminReply.of(
        Outcome.UNSUPPORTED,
        ends
            ? "ATOM ends a request only when its connection is closed: cancel it where it was sent"
            : "ATOM has no such call");
  }

  private AdminReply profile(Worker worker, AdminCommand command, Duration timeout)
      throws TransportException {
    String path = command instanceof AdminCommand.StartProfile ? "/start_profile" : "/stop_profile";
    Answer answer = post(worker, path, new byte[0], timeout);
    return answer.status() == 404
        ? AdminReply.of(
            Outcome.UNSUPPORTED, "it was started without a profiler (vLLM: --profiler-config)")
        : answer.done(worker, path, "");
  }

  private static byte[] json(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private Answer post(Worker worker, String path, byte[] body, Duration timeout)
      throws TransportException {
    OutboundRequest request =
        new OutboundRequest(
            worker.ranks().get(0),
            "POST",
            path,
            body.length == 0 ? Headers.EMPTY : Headers.of("Content-Type", "application/json"),
            body,
            false,
            true,
            null,
            new Timeouts(timeout, timeout, timeout, timeout));
    try (ExchangeResponse response = exchanges.apply(request).execute()) {
      return new Answer(
          response.status(), new String(response.readBody(), StandardCharsets.UTF_8).strip());
    }
  }

  private record Answer(int status, String body) {
    String detail() {
      String line = body.replaceAll("\\s+", " ");
      return line.length() > MAX_DETAIL ? line.substring(0, MAX_DETAIL) : line;
    }

    JsonNode field(String name) {
      try {
        return JSON.readTree(body.isEmpty() ? "{}" : body).path(name);
      } catch (JsonProcessingException e) {
        return JSON.createObjectNode().path(name);
      }
    }

    /** That it was done, where the status says so. */
    AdminReply done(Worker worker, String path, String detail) {
      return status == 200 ? AdminReply.of(Outcome.DONE, detail) : refusal(worker, path);
    }

    AdminReply refusal(Worker worker, String path) {
      return switch (status) {
        case 401, 403 ->
            AdminReply.of(
                Outcome.NEEDS_ADMIN_KEY,
                worker.spec().adminKey() == null
                    ? "the worker wants its admin key: configure admin_key"
                    : "the worker refuses the admin key");
        case 404, 405, 501 -> AdminReply.of(Outcome.UNSUPPORTED, "its version has no " + path);
        default -> AdminReply.of(Outcome.FAILED, path + " answers " + status + ": " + detail());
      };
    }
  }
}

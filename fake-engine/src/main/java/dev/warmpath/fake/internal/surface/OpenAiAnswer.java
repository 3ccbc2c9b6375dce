package dev.warmpath.fake.internal.surface;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.fake.wire.CacheReport;
import dev.warmpath.worker.EngineKind;
import org.jspecify.annotations.Nullable;

/**
 * {@code /v1/chat/completions} and {@code /v1/completions}.
 *
 * <p>The engines differ in details that clients stumble over. SGLang ends a chat choice with a
 * chunk of its own, vLLM puts the finish reason on the last delta. ATOM says {@code stop} at the
 * end of every chat stream, sends a second finish chunk in completions, and always sends usage.
 */
final class OpenAiAnswer implements Answer {
  private final EngineKind kind;
  private final boolean chat;
  private final @Nullable OpenAiLogprobs logprobs;
  private final String prefix;

  /**
   * Creates an answer.
   *
   * @param logprobs what is told of tokens, or null for nothing
   */
  OpenAiAnswer(EngineKind kind, boolean chat, Call call, @Nullable OpenAiLogprobs logprobs) {
    this.kind = kind;
    this.logprobs = logprobs;
    this.chat = chat;
    this.prefix =
        "{\"id\":"
            + Json.quote(call.id())
            + ",\"object\":\""
            + (chat ? "chat.completion.chunk" : "text_completion")
            + "\",\"created\":"
            + call.created()
            + ",\"model\":"
            + Json.quote(call.model())
            + ",\"choices\":[";
  }

  @Override
  public void delta(
      EventSink sink,
      Generation generation,
      Generation.Item item,
      boolean first,
      @Nullable String finish) {
    if (chat && first) {
      sink.data(chunk(generation, item, "\"role\":\"assistant\",\"content\":\"\"", null, null));
    }
    boolean finishApart = chat && kind != EngineKind.VLLM;
    String delta = (chat ? "\"content\":\"" : "") + Json.escape(item.delta()) + (chat ? "\"" : "");
    if (item.deltaTokens() > 0 || !finishApart) {
      int to = item.generated();
      ObjectNode scores = logprobs == null ? null : logprobs.of(item, to - item.deltaTokens(), to);
      sink.data(chunk(generation, item, delta, scores, finishApart ? null : finish));
    }
    if (finish != null && finishApart) {
      sink.data(chunk(generation, item, "", null, kind == EngineKind.ATOM ? "stop" : finish));
    }
  }

  private String chunk(
      Generation generation,
      Generation.Item item,
      String delta,
      @Nullable ObjectNode scores,
      @Nullable String finish) {
    StringBuilder json = new StringBuilder(prefix.length() + 160);
    json.append(prefix).append("{\"index\":").append(item.index);
    if (chat) {
      json.append(",\"delta\":{").append(delta).append('}');
    } else {
      json.append(",\"text\":\"").append(delta).append('"');
    }
    json.append(",\"logprobs\":").append(scores == null ? "null" : Json.string(scores));
    json.append(",\"finish_reason\":");
    if (finish == null) {
      json.append("null");
    } else {
      json.append('"').append(finish).append('"');
    }
    if (kind == EngineKind.SGLANG) {
      json.append(",\"matched_stop\":null");
    } else if (kind == EngineKind.VLLM && finish != null) {
      json.append(",\"stop_reason\":null");
    }
    json.append("}]");
    if (generation.call().continuousUsage()) {
      json.append(",\"usage\":").append(Json.string(usage(generation)));
    } else if (kind == EngineKind.SGLANG) {
      json.append(",\"usage\":null");
    }
    return json.append('}').toString();
  }

  @Override
  public void endStream(EventSink sink, Generation generation) {
    if (kind == EngineKind.ATOM && !chat) {
      for (Generation.Item item : generation.items()) {
        sink.data(chunk(generation, item, "", null, "stop"));
      }
    }
    if (generation.call().includeUsage() || kind == EngineKind.ATOM) {
      sink.data(prefix + "],\"usage\":" + Json.string(usage(generation)) + "}");
    }
    sink.done();
  }

  @Override
  public ObjectNode body(Generation generation) {
    Call call = generation.call();
    ObjectNode body = Json.object();
    body.put("id", call.id());
    body.put("object", chat ? "chat.completion" : "text_completion");
    body.put("created", call.created());
    body.put("model", call.model());
    ArrayNode choices = body.putArray("choices");
    for (Generation.Item item : generation.items()) {
      choices.add(choice(item));
    }
    ObjectNode usage = usage(generation);
    if (kind == EngineKind.ATOM) {
      usage.put("ttft_s", rounded(generation.secondsToFirstToken()));
      usage.put("tpot_s", rounded(generation.secondsPerLaterToken()));
      usage.put("latency_s", rounded(generation.secondsInAll()));
    }
    body.set("usage", usage);
    if (kind == EngineKind.SGLANG) {
      body.putObject("metadata").put("weight_version", "default");
    } else if (kind == EngineKind.VLLM) {
      body.putNull("kv_transfer_params");
    }
    return body;
  }

  private static double rounded(double seconds) {
    return Math.round(seconds * 1e4) / 1e4;
  }

  private ObjectNode choice(Generation.Item item) {
    ObjectNode choice = Json.object();
    choice.put("index", item.index);
    if (chat) {
      ObjectNode message = choice.putObject("message");
      message.put("role", "assistant");
      message.put("content", item.all());
      if (kind == EngineKind.SGLANG) {
        message.putNull("reasoning_content");
        message.putNull("tool_calls");
      } else if (kind == EngineKind.VLLM) {
        message.putNull("refusal");
        message.putNull("reasoning");
        message.putArray("tool_calls");
      }
    } else {
      choice.put("text", item.all());
    }
    if (kind != EngineKind.ATOM) {
      choice.set("logprobs", logprobs == null ? null : logprobs.of(item, 0, item.generated()));
    }
    choice.put("finish_reason", item.finish());
    if (kind == EngineKind.SGLANG) {
      choice.putNull("matched_stop");
    } else if (kind == EngineKind.VLLM) {
      choice.putNull("stop_reason");
    }
    return choice;
  }

  private ObjectNode usage(Generation generation) {
    int prompt = generation.call().promptTokens();
    int completion = generation.completionTokens();
    ObjectNode usage = Json.object();
    usage.put("prompt_tokens", prompt);
    usage.put("total_tokens", prompt + completion);
    usage.put("completion_tokens", completion);
    if (kind == EngineKind.ATOM) {
      if (chat) {
        usage.putObject("prompt_tokens_details").put("cached_tokens", generation.cachedTokens());
      }
      return usage;
    }
    if (reportsCache(generation)) {
      usage.putObject("prompt_tokens_details").put("cached_tokens", generation.cachedTokens());
    } else {
      usage.putNull("prompt_tokens_details");
    }
    if (kind == EngineKind.SGLANG) {
      usage.put("reasoning_tokens", 0);
    }
    return usage;
  }

  static boolean reportsCache(Generation generation) {
    CacheReport report = generation.settings().cacheReport();
    return report == CacheReport.ALWAYS
        || (report == CacheReport.NON_ZERO && generation.cachedTokens() > 0);
  }
}

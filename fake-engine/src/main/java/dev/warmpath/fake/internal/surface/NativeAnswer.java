package dev.warmpath.fake.internal.surface;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.fake.text.PlannedText;
import org.jspecify.annotations.Nullable;

/** SGLang's own {@code /generate}; its stream chunks are cumulative. */
final class NativeAnswer implements Answer {
  /** The token that ends an answer of natural length. */
  static final int END_OF_TEXT = 2;

  private final boolean list;
  private final NativeLogprobs logprobs;

  /**
   * Creates an answer.
   *
   * @param list whether the call had several sequences and gets an array
   */
  NativeAnswer(boolean list, NativeLogprobs logprobs) {
    this.list = list;
    this.logprobs = logprobs;
  }

  @Override
  public void delta(
      EventSink sink,
      Generation generation,
      Generation.Item item,
      boolean first,
      @Nullable String finish) {
    ObjectNode chunk = one(generation, item);
    if (list) {
      chunk.put("index", item.index);
    }
    sink.data(Json.string(chunk));
  }

  @Override
  public void endStream(EventSink sink, Generation generation) {
    sink.done();
  }

  @Override
  public JsonNode body(Generation generation) {
    if (!list) {
      return one(generation, generation.items().get(0));
    }
    ArrayNode all = Json.MAPPER.createArrayNode();
    generation.items().forEach(item -> all.add(one(generation, item)));
    return all;
  }

  private ObjectNode one(Generation generation, Generation.Item item) {
    ObjectNode body = Json.object().put("text", item.all());
    ArrayNode ids = body.putArray("output_ids");
    for (int i = 0; i < item.generated(); i++) {
      ids.add(item.text.tokens()[i]);
    }
    ObjectNode meta = metaInfo(generation, item);
    logprobs.addTo(meta, item, item.index / generation.call().n());
    body.set("meta_info", meta);
    return body;
  }

  static ObjectNode metaInfo(Generation generation, Generation.Item item) {
    ObjectNode meta = Json.object().put("id", item.id());
    if (item.finish().isEmpty()) {
      meta.putNull("finish_reason");
    } else {
      ObjectNode reason = meta.putObject("finish_reason").put("type", item.finish());
      switch (item.finish()) {
        case "length" -> reason.put("length", item.generated());
        case "abort" -> reason.put("message", "Abort before prefill or during decode");
        default -> matched(reason, item.text);
      }
    }
    meta.put("prompt_tokens", item.promptTokens);
    meta.put("weight_version", "default");
    meta.put("completion_tokens", item.generated());
    meta.put("cached_tokens", item.cachedTokens());
    meta.put("e2e_latency", generation.secondsInAll());
    return meta;
  }

  private static void matched(ObjectNode reason, PlannedText text) {
    if (text.matchedStop() != null) {
      reason.put("matched", text.matchedStop());
    } else {
      reason.put("matched", text.matchedToken() == null ? END_OF_TEXT : text.matchedToken());
    }
  }
}

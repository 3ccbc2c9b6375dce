package dev.warmpath.fake.internal.surface;

import com.fasterxml.jackson.databind.node.ObjectNode;
import org.jspecify.annotations.Nullable;

/** OpenAI's {@code /v1/responses}, with one message of text as output. */
final class ResponsesAnswer implements Answer {
  private final Call call;
  private final String itemId;
  private int sequence;

  ResponsesAnswer(Call call) {
    this.call = call;
    this.itemId = "msg_" + call.id().substring(call.id().indexOf('_') + 1);
  }

  @Override
  public void delta(
      EventSink sink,
      Generation generation,
      Generation.Item item,
      boolean first,
      @Nullable String finish) {
    if (first) {
      response(sink, generation, "response.created", "in_progress", null);
      response(sink, generation, "response.in_progress", "in_progress", null);
      ObjectNode added = event("response.output_item.added").put("output_index", 0);
      added.set("item", message("in_progress", null));
      send(sink, added);
      ObjectNode part = part("response.content_part.added");
      part.set("part", text(""));
      send(sink, part);
    }
    if (item.deltaTokens() > 0) {
      send(sink, part("response.output_text.delta").put("delta", item.delta()));
    }
  }

  @Override
  public void endStream(EventSink sink, Generation generation) {
    String text = generation.items().get(0).all();
    send(sink, part("response.output_text.done").put("text", text));
    ObjectNode part = part("response.content_part.done");
    part.set("part", text(text));
    send(sink, part);
    ObjectNode done = event("response.output_item.done").put("output_index", 0);
    done.set("item", message("completed", text));
    send(sink, done);
    response(sink, generation, "response.completed", "completed", text);
    sink.end();
  }

  private ObjectNode event(String type) {
    return Json.object().put("type", type).put("sequence_number", sequence++);
  }

  private ObjectNode part(String type) {
    return event(type).put("item_id", itemId).put("output_index", 0).put("content_index", 0);
  }

  private void response(
      EventSink sink, Generation generation, String type, String status, @Nullable String text) {
    ObjectNode event = event(type);
    event.set("response", response(generation, status, text));
    send(sink, event);
  }

  private static void send(EventSink sink, ObjectNode event) {
    sink.event(event.get("type").asText(), Json.string(event));
  }

  private static ObjectNode text(String text) {
    ObjectNode part = Json.object().put("type", "output_text").put("text", text);
    part.putArray("annotations");
    return part;
  }

  private ObjectNode message(String status, @Nullable String text) {
    ObjectNode message =
        Json.object()
            .put("type", "message")
            .put("id", itemId)
            .put("role", "assistant")
            .put("status", status);
    var content = message.putArray("content");
    if (text != null) {
      content.add(text(text));
    }
    return message;
  }

  private ObjectNode response(Generation generation, String status, @Nullable String text) {
    ObjectNode body =
        Json.object()
            .put("id", call.id())
            .put("object", "response")
            .put("created_at", call.created())
            .put("status", status)
            .put("model", call.model())
            .put("parallel_tool_calls", true)
            .put("tool_choice", "auto");
    body.putArray("tools");
    body.putNull("error");
    var output = body.putArray("output");
    if (text == null) {
      body.putNull("usage");
      return body;
    }
    output.add(message("completed", text));
    ObjectNode usage = body.putObject("usage");
    int prompt = call.promptTokens();
    int completion = generation.completionTokens();
    usage.put("input_tokens", prompt);
    usage
        .putObject("input_tokens_details")
        .put(
            "cached_tokens", OpenAiAnswer.reportsCache(generation) ? generation.cachedTokens() : 0);
    usage.put("output_tokens", completion);
    usage.putObject("output_tokens_details").put("reasoning_tokens", 0);
    usage.put("total_tokens", prompt + completion);
    return body;
  }

  @Override
  public ObjectNode body(Generation generation) {
    return response(generation, "completed", generation.items().get(0).all());
  }
}

package dev.warmpath.grpc.internal;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.warmpath.transport.PromptTokens;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Writes log probabilities: {@code content} with one object per token for chats, four parallel
 * lists for text completions.
 */
final class LogprobWriter {
  private final Generation generation;
  private final @Nullable PromptTokens tokens;

  /** Characters of each choice's text before the step that is written. */
  private final Map<Integer, Integer> offsets = new HashMap<>();

  LogprobWriter(Generation generation, @Nullable PromptTokens tokens) {
    this.generation = generation;
    this.tokens = tokens;
  }

  /** The field {@code logprobs} of a choice, null where none were asked for. */
  void write(JsonGenerator json, int index, String text, List<Delta.Logprob> logprobs)
      throws IOException {
    int offset = offsets.getOrDefault(index, 0);
    offsets.put(index, offset + text.length());
    if (generation.topLogprobs() < 0 || logprobs.isEmpty()) {
      json.writeNullField("logprobs");
    } else if (generation.chat()) {
      json.writeObjectFieldStart("logprobs");
      json.writeArrayFieldStart("content");
      for (Delta.Logprob logprob : logprobs) {
        chatToken(json, logprob);
      }
      json.writeEndArray();
      json.writeEndObject();
    } else {
      json.writeObjectFieldStart("logprobs");
      lists(json, logprobs, offset);
      json.writeEndObject();
    }
  }

  private void chatToken(JsonGenerator json, Delta.Logprob logprob) throws IOException {
    json.writeStartObject();
    token(json, logprob.id(), logprob.value());
    json.writeArrayFieldStart("top_logprobs");
    for (int i = 0; i < tops(logprob); i++) {
      json.writeStartObject();
      token(json, logprob.topIds().get(i), logprob.topValues().get(i));
      json.writeEndObject();
    }
    json.writeEndArray();
    json.writeEndObject();
  }

  private void token(JsonGenerator json, int id, float value) throws IOException {
    String text = text(id);
    json.writeStringField("token", text);
    json.writeNumberField("logprob", value);
    json.writeArrayFieldStart("bytes");
    for (byte each : text.getBytes(StandardCharsets.UTF_8)) {
      json.writeNumber(each & 0xff);
    }
    json.writeEndArray();
  }

  private void lists(JsonGenerator json, List<Delta.Logprob> logprobs, int offset)
      throws IOException {
    json.writeArrayFieldStart("tokens");
    for (Delta.Logprob logprob : logprobs) {
      json.writeString(text(logprob.id()));
    }
    json.writeEndArray();
    json.writeArrayFieldStart("token_logprobs");
    for (Delta.Logprob logprob : logprobs) {
      json.writeNumber(logprob.value());
    }
    json.writeEndArray();
    json.writeArrayFieldStart("top_logprobs");
    for (Delta.Logprob logprob : logprobs) {
      json.writeStartObject();
      for (int i = 0; i < tops(logprob); i++) {
        json.writeNumberField(text(logprob.topIds().get(i)), logprob.topValues().get(i));
      }
      json.writeEndObject();
    }
    json.writeEndArray();
    json.writeArrayFieldStart("text_offset");
    int at = offset;
    for (Delta.Logprob logprob : logprobs) {
      json.writeNumber(at);
      at += text(logprob.id()).length();
    }
    json.writeEndArray();
  }

  private int tops(Delta.Logprob logprob) {
    return Math.min(generation.topLogprobs(), logprob.topIds().size());
  }

  private String text(int id) {
    return tokens == null ? "" : tokens.text(id);
  }
}

package dev.warmpath.grpc.internal;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.warmpath.api.StreamEvent;
import dev.warmpath.api.Usage;
import dev.warmpath.transport.PromptTokens;
import dev.warmpath.worker.EngineKind;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Writes answers as the engines' HTTP servers do: {@code chat.completion}, {@code text_completion}
 * and their chunks, with what names the stop in the engine's own field ({@code matched_stop},
 * {@code stop_reason}).
 */
final class OpenAiWriter {
  private final Generation generation;
  private final LogprobWriter logprobs;
  private final EngineKind engine;
  private final String id;
  private final long created;

  OpenAiWriter(
      Generation generation,
      @Nullable PromptTokens tokens,
      EngineKind engine,
      String rid,
      long createdSeconds) {
    this.generation = generation;
    this.logprobs = new LogprobWriter(generation, tokens);
    this.engine = engine;
    this.id = (generation.chat() ? "chatcmpl-" : "cmpl-") + rid;
    this.created = createdSeconds;
  }

  /** A finished choice. */
  record Choice(int index, String text, List<Delta.Logprob> logprobs, Delta.@Nullable End end) {}

  /** Writes something. */
  interface Part {
    void write(JsonGenerator json) throws IOException;
  }

  /** The events of one step of one choice; none where nothing became certain. */
  void events(int index, boolean first, ChoiceText.Step step, Consumer<StreamEvent> events) {
    if (first && generation.chat()) {
      events.accept(
          chunk(
              json -> {
                json.writeNumberField("index", index);
                json.writeObjectFieldStart("delta");
                json.writeStringField("role", "assistant");
                json.writeStringField("content", "");
                json.writeEndObject();
                json.writeNullField("logprobs");
                json.writeNullField("finish_reason");
              }));
    }
    if (!step.text().isEmpty() || !step.logprobs().isEmpty() || step.end() != null) {
      events.accept(chunk(json -> stepChoice(json, index, step)));
    }
  }

  private void stepChoice(JsonGenerator json, int index, ChoiceText.Step step) throws IOException {
    json.writeNumberField("index", index);
    if (generation.chat()) {
      json.writeObjectFieldStart("delta");
      if (!step.text().isEmpty() || step.end() == null) {
        json.writeStringField("content", step.text());
      }
      json.writeEndObject();
    } else {
      json.writeStringField("text", step.text());
    }
    logprobs.write(json, index, step.text(), step.logprobs());
    end(json, step.end());
  }

  private void end(JsonGenerator json, Delta.@Nullable End end) throws IOException {
    json.writeStringField("finish_reason", end == null ? null : end.reason());
    if (end != null) {
      json.writeFieldName(engine == EngineKind.VLLM ? "stop_reason" : "matched_stop");
      if (end.matched() instanceof Integer token) {
        json.writeNumber(token);
      } else {
        json.writeString((String) end.matched());
      }
    }
  }

  private StreamEvent chunk(Part choice) {
    return new StreamEvent(
        null,
        document(
            generation.chat() ? "chat.completion.chunk" : "text_completion",
            json -> {
              json.writeStartObject();
              choice.write(json);
              json.writeEndObject();
            },
            json -> {}));
  }

  /** The last event of a stream that is to tell its token counts. */
  StreamEvent usageEvent(Usage usage) {
    return new StreamEvent(
        null,
        document(
            generation.chat() ? "chat.completion.chunk" : "text_completion",
            json -> {},
            json -> usage(json, usage)));
  }

  /**
   * A whole answer.
   *
   * @param kvTransferParams JSON that goes into the answer as it is, or null
   */
  byte[] body(List<Choice> choices, Usage usage, @Nullable String kvTransferParams) {
    return document(
            generation.chat() ? "chat.completion" : "text_completion",
            json -> {
              for (Choice choice : choices) {
                json.writeStartObject();
                whole(json, choice);
                json.writeEndObject();
              }
            },
            json -> {
              usage(json, usage);
              if (kvTransferParams != null) {
                json.writeFieldName("kv_transfer_params");
                json.writeRawValue(kvTransferParams);
              }
            })
        .getBytes(StandardCharsets.UTF_8);
  }

  private void whole(JsonGenerator json, Choice choice) throws IOException {
    json.writeNumberField("index", choice.index());
    if (generation.chat()) {
      json.writeObjectFieldStart("message");
      json.writeStringField("role", "assistant");
      json.writeStringField("content", choice.text());
      json.writeEndObject();
    } else {
      json.writeStringField("text", choice.text());
    }
    logprobs.write(json, choice.index(), choice.text(), choice.logprobs());
    end(json, choice.end());
  }

  private static void usage(JsonGenerator json, Usage usage) throws IOException {
    Integer prompt = usage.promptTokens();
    Integer completion = usage.completionTokens();
    int promptTokens = prompt == null ? 0 : prompt;
    int completionTokens = completion == null ? 0 : completion;
    json.writeObjectFieldStart("usage");
    if (prompt != null) {
      json.writeNumberField("prompt_tokens", promptTokens);
    }
    json.writeNumberField("completion_tokens", completionTokens);
    json.writeNumberField("total_tokens", promptTokens + completionTokens);
    Integer cached = usage.cachedTokens();
    if (cached != null) {
      json.writeObjectFieldStart("prompt_tokens_details");
      json.writeNumberField("cached_tokens", cached);
      json.writeEndObject();
    }
    json.writeEndObject();
  }

  private String document(String object, Part choices, Part rest) {
    StringWriter out = new StringWriter(256);
    try (JsonGenerator json = BodyFields.JSON.getFactory().createGenerator(out)) {
      json.writeStartObject();
      json.writeStringField("id", id);
      json.writeStringField("object", object);
      json.writeNumberField("created", created);
      json.writeStringField("model", generation.model());
      json.writeArrayFieldStart("choices");
      choices.write(json);
      json.writeEndArray();
      rest.write(json);
      json.writeEndObject();
    } catch (IOException e) {
      throw new UncheckedIOException(e); // a StringWriter throws none
    }
    return out.toString();
  }
}

package dev.warmpath.fake.load;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;

/**
 * The chat of one session: makes each turn's body of its blocks and takes in the answers, which
 * stand where the trace has blocks of answers. One thread at a time.
 */
final class ChatBody {
  private static final JsonFactory JSON = new JsonFactory();
  private static final ObjectMapper TREE = new ObjectMapper();

  private final TraceSession session;
  private final String system;

  /** User and assistant messages by turns. */
  private final List<String> said = new ArrayList<>();

  private int turn;
  private boolean withSystem;

  ChatBody(TraceSession session) {
    this.session = session;
    TraceRequest first = session.turns().get(0);
    this.system = text(first, 0, systemTokens(first));
  }

  /** At least one token is left to the user. */
  private int systemTokens(TraceRequest request) {
    return Math.min(session.systemTokens(), request.inputTokens() - 1);
  }

  byte[] next(LoadSettings settings) {
    TraceRequest request = session.turns().get(turn);
    int from = turn == 0 ? systemTokens(request) : 0;
    if (turn == 0 && settings.documentsApart()) {
      from = Math.min(from + session.documentTokens(), request.inputTokens() - 1);
    }
    boolean goesOn = turn > 0 && request.continues(session.turns().get(turn - 1));
    if (goesOn) {
      TraceRequest before = session.turns().get(turn - 1);
      from = before.inputTokens() + before.outputTokens();
    } else {
      said.clear();
      withSystem = turn == 0 && !system.isEmpty();
    }
    said.add(text(request, from, request.inputTokens()));
    turn++;
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (JsonGenerator json = JSON.createGenerator(out)) {
      json.writeStartObject();
      json.writeStringField("model", settings.model());
      json.writeArrayFieldStart("messages");
      if (withSystem) {
        message(json, "system", system);
      }
      for (int i = 0; i < said.size(); i++) {
        message(json, i % 2 == 0 ? "user" : "assistant", said.get(i));
      }
      json.writeEndArray();
      int output = Math.min(request.outputTokens(), settings.maxOutputTokens());
      json.writeNumberField("max_tokens", Math.max(1, output));
      json.writeBooleanField("ignore_eos", true);
      if (settings.stream()) {
        json.writeBooleanField("stream", true);
        json.writeObjectFieldStart("stream_options");
        json.writeBooleanField("include_usage", true);
        json.writeEndObject();
      }
      json.writeEndObject();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return out.toByteArray();
  }

  /** The text of the tokens from..to-1 of a prompt: equal where block ids are. */
  static String text(TraceRequest request, int from, int to) {
    StringBuilder text = new StringBuilder(Math.max(0, to - from) * Texts.TOKEN_BYTES);
    int block = request.hashBlockTokens();
    for (int at = from; at < to; ) {
      int end = Math.min(to, (at / block + 1) * block);
      Texts.append(text, request.hashIds()[at / block], at % block, end - at);
      at = end;
    }
    return text.toString();
  }

  private static void message(JsonGenerator json, String role, String content) throws IOException {
    json.writeStartObject();
    json.writeStringField("role", role);
    json.writeStringField("content", content);
    json.writeEndObject();
  }

  /** The assistant's answer becomes part of the history. */
  void answered(String text) {
    said.add(text);
  }

  /**
   * The answer's text in a whole response, or in one event of a stream; empty where there is none.
   */
  static String text(String json, String part) {
    try {
      JsonNode content = TREE.readTree(json).path("choices").path(0).path(part).path("content");
      return content.isTextual() ? content.asText() : "";
    } catch (IOException e) {
      return "";
    }
  }
}

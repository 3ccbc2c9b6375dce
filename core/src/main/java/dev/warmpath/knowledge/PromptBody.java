package dev.warmpath.knowledge;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonFactoryBuilder;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.io.JsonStringEncoder;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * An OpenAI body, and where in its bytes knowledge can be put: every other byte stays as the caller
 * wrote it. Immutable.
 */
final class PromptBody {
  private static final JsonFactory FACTORY =
      new JsonFactoryBuilder()
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxStringLength(Integer.MAX_VALUE)
                  .maxNumberLength(10_000)
                  .build())
          .build();

  private static final ObjectMapper MAPPER = new ObjectMapper(FACTORY);

  /** Between a piece of text and the next. */
  static final String GAP = "\n\n";

  private final byte[] body;
  private final @Nullable String model;
  private final int messages;
  private final boolean noMessages;
  private final @Nullable Content system;
  private final @Nullable Content question;
  private final @Nullable Content prompt;

  /**
   * A message's content, or a prompt.
   *
   * @param start where its value begins: a quote or a bracket
   * @param end behind its last byte
   */
  private record Content(int start, int end) {}

  private PromptBody(byte[] body, Reading reading) {
    this.body = body;
    this.model = reading.model;
    this.messages = reading.messages;
    this.noMessages = reading.count == 0;
    this.system = reading.system;
    this.question = reading.question;
    this.prompt = reading.prompt;
  }

  /** Collects what a body's one pass finds. */
  private static final class Reading {
    private final JsonParser parser;
    private @Nullable String model;
    private int messages = -1;
    private int count;
    private @Nullable Content system;
    private @Nullable Content question;
    private @Nullable Content prompt;

    Reading(JsonParser parser) {
      this.parser = parser;
    }

    boolean read() throws IOException {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        return false;
      }
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        String name = parser.currentName();
        JsonToken value = parser.nextToken();
        if (name.equals("messages") && value == JsonToken.START_ARRAY) {
          messages();
        } else if (name.equals("model") && value == JsonToken.VALUE_STRING) {
          model = parser.getText();
        } else if (name.equals("prompt")) {
          prompt = value == JsonToken.VALUE_STRING ? content() : null;
        }
        parser.skipChildren();
      }
      return true;
    }

    private void messages() throws IOException {
      messages = start() + 1;
      count = 0;
      system = null;
      question = null;
      for (JsonToken at = parser.nextToken(); at != JsonToken.END_ARRAY; at = parser.nextToken()) {
        if (at == null) {
          throw new IOException("the array has no end");
        }
        if (at == JsonToken.START_OBJECT) {
          message();
        } else {
          parser.skipChildren();
        }
        count++;
      }
    }

    private void message() throws IOException {
      String role = "";
      Content content = null;
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        String name = parser.currentName();
        JsonToken value = parser.nextToken();
        if (name.equals("role") && value == JsonToken.VALUE_STRING) {
          role = parser.getText();
        } else if (name.equals("content")) {
          boolean fits = value == JsonToken.VALUE_STRING || value == JsonToken.START_ARRAY;
          content = fits ? content() : null;
        }
        parser.skipChildren();
      }
      if (count == 0 && (role.equals("system") || role.equals("developer"))) {
        system = content;
      }
      if (role.equals("user")) {
        question = content;
      }
    }

    private Content content() throws IOException {
      int start = start();
      parser.skipChildren();
      parser.finishToken();
      return new Content(start, (int) parser.currentLocation().getByteOffset());
    }

    private int start() {
      return (int) parser.currentTokenLocation().getByteOffset();
    }
  }

  /** Reads a body; null where it isn't a JSON object. */
  static @Nullable PromptBody read(byte[] body) {
    try (JsonParser parser = FACTORY.createParser(body)) {
      Reading reading = new Reading(parser);
      return reading.read() ? new PromptBody(body, reading) : null;
    } catch (JacksonException e) {
      return null;
    } catch (IOException e) {
      return null;
    }
  }

  /** The model that is asked for; null where none is named. */
  @Nullable String model() {
    return model;
  }

  /** Whether it is a chat, whose prompt an engine makes with its template. */
  boolean chat() {
    return messages >= 0;
  }

  /** Whether there is a place for knowledge. */
  boolean takesKnowledge() {
    return chat() || prompt != null;
  }

  /** The last thing the user says; empty where that isn't text. */
  String questionText() {
    Content its = chat() ? question : prompt;
    if (its == null) {
      return "";
    }
    try {
      JsonNode node = MAPPER.readTree(Arrays.copyOfRange(body, its.start(), its.end()));
      if (node.isTextual()) {
        return node.textValue();
      }
      StringBuilder text = new StringBuilder();
      for (JsonNode part : node) {
        if (part.path("text").isTextual()) {
          text.append(text.length() > 0 ? "\n" : "").append(part.path("text").textValue());
        }
      }
      return text.toString();
    } catch (IOException e) {
      return "";
    }
  }

  /** Whether there is a message that can take text at that position without a new one. */
  InjectionPosition possible(InjectionPosition wanted) {
    return wanted == InjectionPosition.BEFORE_QUESTION && question == null
        ? InjectionPosition.AFTER_SYSTEM
        : wanted;
  }

  /** The body with text at a position. A prompt that isn't a chat takes it at its front. */
  byte[] with(String text, InjectionPosition position) {
    Content its = prompt;
    if (!chat() && its != null) {
      return atFront(its, text);
    }
    if (position == InjectionPosition.BEFORE_QUESTION && question != null) {
      return atFront(question, text);
    }
    Content first = system;
    if (first == null) {
      return spliced(
          messages,
          "{\"role\":\"system\",\"content\":" + quoted(text) + "}" + (noMessages ? "" : ","));
    }
    return position == InjectionPosition.BEFORE_SYSTEM ? atFront(first, text) : atBack(first, text);
  }

  private byte[] atFront(Content content, String text) {
    int inside = content.start() + 1;
    return body[content.start()] == '"'
        ? spliced(inside, escaped(text + GAP))
        : spliced(inside, part(text) + (empty(content) ? "" : ","));
  }

  private byte[] atBack(Content content, String text) {
    int inside = content.end() - 1;
    return body[content.start()] == '"'
        ? spliced(inside, escaped(GAP + text))
        : spliced(inside, (empty(content) ? "" : ",") + part(text));
  }

  private boolean empty(Content array) {
    for (int i = array.start() + 1; i < array.end() - 1; i++) {
      if (body[i] > ' ' || body[i] < 0) {
        return false;
      }
    }
    return true;
  }

  private byte[] spliced(int at, String json) {
    byte[] added = json.getBytes(StandardCharsets.UTF_8);
    ByteArrayOutputStream out = new ByteArrayOutputStream(body.length + added.length);
    out.write(body, 0, at);
    out.write(added, 0, added.length);
    out.write(body, at, body.length - at);
    return out.toByteArray();
  }

  private static String part(String text) {
    return "{\"type\":\"text\",\"text\":" + quoted(text) + "}";
  }

  private static String quoted(String text) {
    return '"' + escaped(text) + '"';
  }

  private static String escaped(String text) {
    return new String(JsonStringEncoder.getInstance().quoteAsString(text));
  }
}

package dev.warmpath.prompt;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonFactoryBuilder;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.util.ByteArrayBuilder;
import dev.warmpath.api.InvalidRequestException;
import dev.warmpath.api.RouterRequest;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Reads a request's body once, by streaming, into a {@link Prompt}. Understands the bodies of chat
 * completions, completions, embeddings and responses; any other path is opaque. Thread safe.
 *
 * <p>The bytes are: the tools, then each message as role, text and whatever else it holds, then a
 * prompt or input, in one canonical form, whatever the order of fields in the body. Token ids count
 * as four bytes each, little endian.
 */
public final class PromptReader {
  private static final int FIELD = 0x1f;
  private static final int RECORD = 0x1e;

  private final JsonFactory json =
      new JsonFactoryBuilder()
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxStringLength(Integer.MAX_VALUE)
                  .maxNumberLength(10_000)
                  .build())
          .build();

  /**
   * Reads {@code request}'s body.
   *
   * @throws InvalidRequestException when the path calls for a JSON object and the body is none;
   *     says where
   */
  public Prompt read(RouterRequest request) {
    if (!understood(request.path()) || request.body().length == 0) {
      return new Prompt(null, false, "", new byte[0], 0, Exactness.OPAQUE, null, false);
    }
    Body body = new Body();
    try (JsonParser parser = json.createParser(request.body())) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        throw new InvalidRequestException(
            "the body of " + request.path() + " is not a JSON object", null);
      }
      body.read(parser);
      if (parser.nextToken() != null) {
        throw new InvalidRequestException(
            "the body of " + request.path() + " goes on after its JSON object", null);
      }
    } catch (com.fasterxml.jackson.core.JacksonException e) {
      var at = e.getLocation();
      throw new InvalidRequestException(
          "the body of "
              + request.path()
              + " is not valid JSON"
              + (at == null
                  ? ""
                  : " (line " + at.getLineNr() + ", column " + at.getColumnNr() + ")"),
          null);
    } catch (IOException e) {
      throw new InvalidRequestException("the body of " + request.path() + " can't be read", null);
    }
    return body.toPrompt();
  }

  private static boolean understood(String path) {
    int query = path.indexOf('?');
    return switch (query < 0 ? path : path.substring(0, query)) {
      case RouterRequest.CHAT_COMPLETIONS,
          RouterRequest.COMPLETIONS,
          RouterRequest.EMBEDDINGS,
          RouterRequest.RESPONSES ->
          true;
      default -> false;
    };
  }

  /** UTF-8 text and integers appended to a growing array. */
  private static final class Bytes {
    private final ByteArrayBuilder out = new ByteArrayBuilder(1_024);

    void text(String text) {
      // Lone surrogates become '?': the same for every client, and no engine accepts them.
      byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
      out.write(utf8, 0, utf8.length);
    }

    void mark(int value) {
      out.append(value);
    }

    void int32(int value) {
      out.append(value);
      out.append(value >>> 8);
      out.append(value >>> 16);
      out.append(value >>> 24);
    }

    int size() {
      return out.size();
    }

    byte[] toByteArray() {
      return out.toByteArray();
    }

    void copyTo(Bytes other) {
      byte[] all = toByteArray();
      other.out.write(all, 0, all.length);
    }
  }

  private static final class Body {
    private @Nullable String model;
    private boolean stream;
    private @Nullable String cacheSalt;
    private @Nullable String extraKey;
    private @Nullable String adapter;
    private @Nullable String requestId;
    private boolean batch;
    private final Bytes tools = new Bytes();
    private final Bytes text = new Bytes();

    void read(JsonParser parser) throws IOException {
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        String name = parser.currentName();
        parser.nextToken();
        switch (name) {
          case "model" -> model = textOrNull(parser);
          case "stream" -> stream = parser.currentToken() == JsonToken.VALUE_TRUE;
          case "cache_salt" -> cacheSalt = textOrNull(parser);
          case "extra_key" -> extraKey = textOrNull(parser);
          case "lora_path" -> adapter = textOrNull(parser);
          case "rid" -> {
            requestId = textOrNull(parser);
            batch |= requestId == null;
          }
          case "n" -> {
            batch |=
                parser.currentToken() != JsonToken.VALUE_NUMBER_INT
                    || !parser.getText().equals("1");
            parser.skipChildren();
          }
          case "tools", "functions" -> copyValue(parser, tools);
          case "messages" -> messages(parser);
          case "instructions" -> {
            copyValue(parser, tools);
            tools.mark(RECORD);
          }
          case "prompt", "input" -> input(parser);
          default -> parser.skipChildren();
        }
      }
    }

    private static @Nullable String textOrNull(JsonParser parser) throws IOException {
      if (parser.currentToken() == JsonToken.VALUE_STRING) {
        return parser.getText();
      }
      parser.skipChildren();
      return null;
    }

    private void messages(JsonParser parser) throws IOException {
      if (parser.currentToken() != JsonToken.START_ARRAY) {
        copyValue(parser, text);
        return;
      }
      while (parser.nextToken() != JsonToken.END_ARRAY) {
        if (parser.currentToken() == JsonToken.START_OBJECT) {
          message(parser);
        } else {
          copyValue(parser, text);
        }
        text.mark(RECORD);
      }
    }

    private void message(JsonParser parser) throws IOException {
      String role = "";
      Bytes content = new Bytes();
      Bytes rest = new Bytes();
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        String name = parser.currentName();
        parser.nextToken();
        switch (name) {
          case "role" -> {
            String given = textOrNull(parser);
            role = given == null ? "" : given;
          }
          case "content" -> content(parser, content);
          default -> {
            rest.text(name);
            rest.mark(FIELD);
            copyValue(parser, rest);
          }
        }
      }
      text.text(role);
      text.mark(FIELD);
      content.copyTo(text);
      if (rest.size() > 0) {
        text.mark(FIELD);
        rest.copyTo(text);
      }
    }

    /**
     * A string, or a list of parts: text parts read as the string they spell, others as their JSON.
     */
    private static void content(JsonParser parser, Bytes out) throws IOException {
      if (parser.currentToken() != JsonToken.START_ARRAY) {
        copyValue(parser, out);
        return;
      }
      while (parser.nextToken() != JsonToken.END_ARRAY) {
        if (parser.currentToken() == JsonToken.START_OBJECT) {
          part(parser, out);
        } else {
          copyValue(parser, out);
        }
      }
    }

    private static void part(JsonParser parser, Bytes out) throws IOException {
      Bytes rest = new Bytes();
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        String name = parser.currentName();
        parser.nextToken();
        if (name.equals("text")) {
          copyValue(parser, out);
        } else if (name.equals("type")) {
          String type = textOrNull(parser);
          if (type != null && !type.equals("text") && !type.equals("input_text")) {
            rest.text(type);
          }
        } else {
          rest.text(name);
          rest.mark(FIELD);
          copyValue(parser, rest);
        }
      }
      rest.copyTo(out);
    }

    /** A string, strings, token ids, lists of token ids, or (responses API) messages. */
    private void input(JsonParser parser) throws IOException {
      if (parser.currentToken() != JsonToken.START_ARRAY) {
        copyValue(parser, text);
        return;
      }
      while (parser.nextToken() != JsonToken.END_ARRAY) {
        switch (parser.currentToken()) {
          case VALUE_NUMBER_INT -> text.int32(tokenId(parser));
          case START_OBJECT -> {
            message(parser);
            text.mark(RECORD);
          }
          case START_ARRAY -> {
            batch = true;
            input(parser);
            text.mark(RECORD);
          }
          default -> {
            batch = true;
            copyValue(parser, text);
            text.mark(RECORD);
          }
        }
      }
    }

    private static int tokenId(JsonParser parser) throws IOException {
      // An id beyond 32 bits is the engine's to refuse; here it only has to be told apart from
      // others.
      return parser.getNumberType() == JsonParser.NumberType.INT
          ? parser.getIntValue()
          : parser.getText().hashCode();
    }

    /**
     * Strings as their text; everything else in a compact form that is the same for equal values.
     */
    private static void copyValue(JsonParser parser, Bytes out) throws IOException {
      int depth = 0;
      JsonToken token = parser.currentToken();
      while (true) {
        switch (token) {
          case START_OBJECT, START_ARRAY -> {
            depth++;
            out.mark(token == JsonToken.START_OBJECT ? '{' : '[');
          }
          case END_OBJECT, END_ARRAY -> {
            depth--;
            out.mark(token == JsonToken.END_OBJECT ? '}' : ']');
          }
          case FIELD_NAME -> {
            out.text(parser.currentName());
            out.mark(FIELD);
          }
          default -> {
            out.text(parser.getText());
            if (depth > 0) {
              out.mark(',');
            }
          }
        }
        if (depth == 0) {
          return;
        }
        token = parser.nextToken();
        if (token == null) {
          return;
        }
      }
    }

    Prompt toPrompt() {
      Bytes all = new Bytes();
      if (tools.size() > 0) {
        tools.copyTo(all);
        all.mark(RECORD);
      }
      text.copyTo(all);
      byte[] bytes = all.toByteArray();
      int tokens = (bytes.length + Prompt.BYTES_PER_TOKEN - 1) / Prompt.BYTES_PER_TOKEN;
      return new Prompt(
          model,
          stream,
          namespace(),
          bytes,
          tokens,
          bytes.length == 0 ? Exactness.OPAQUE : Exactness.ESTIMATED,
          requestId,
          !batch);
    }

    private String namespace() {
      String name = model == null ? "" : model;
      if (adapter == null && cacheSalt == null && extraKey == null) {
        return name;
      }
      StringBuilder full = new StringBuilder(name);
      for (String part : new @Nullable String[] {adapter, cacheSalt, extraKey}) {
        // Length-prefixed, so that no two different triples spell the same namespace.
        full.append('\0').append(part == null ? -1 : part.length()).append(':');
        full.append(part == null ? "" : part);
      }
      return full.toString();
    }
  }
}

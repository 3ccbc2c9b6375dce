package dev.warmpath.prompt;

import com.fasterxml.jackson.core.util.ByteArrayBuilder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A body's prompt as bytes to be compared with other prompts': the tools, then each message as
 * role, text and whatever else it holds, then a prompt or input, in one form whatever the order of
 * fields in the body. Token ids count as four bytes each, little endian.
 */
final class CanonicalText {
  private static final int FIELD = 0x1f;
  private static final int RECORD = 0x1e;

  private final ByteArrayBuilder out = new ByteArrayBuilder(1_024);

  private CanonicalText() {}

  static byte[] of(RequestBody body) {
    CanonicalText text = new CanonicalText();
    text.tools(body);
    if (body.has("messages")) {
      text.messages(body.get("messages"));
    }
    if (body.has("prompt")) {
      text.input(body.get("prompt"));
    }
    if (body.has("input")) {
      text.input(body.get("input"));
    }
    return text.out.toByteArray();
  }

  private void tools(RequestBody body) {
    int before = out.size();
    for (String name : List.of("tools", "functions")) {
      if (body.has(name)) {
        value(body.get(name));
      }
    }
    if (body.has("instructions")) {
      value(body.get("instructions"));
      out.append(RECORD);
    }
    if (out.size() > before) {
      out.append(RECORD);
    }
  }

  private void messages(@Nullable Object messages) {
    if (!(messages instanceof List<?> list)) {
      value(messages);
      return;
    }
    for (Object each : list) {
      if (each instanceof Map<?, ?> message) {
        message(message);
      } else {
        value(each);
      }
      out.append(RECORD);
    }
  }

  private void message(Map<?, ?> message) {
    text(message.get("role") instanceof String role ? role : "");
    out.append(FIELD);
    if (message.containsKey("content")) {
      content(message.get("content"));
    }
    boolean first = true;
    for (Map.Entry<?, ?> entry : message.entrySet()) {
      String name = String.valueOf(entry.getKey());
      if (name.equals("role") || name.equals("content")) {
        continue;
      }
      if (first) {
        out.append(FIELD);
        first = false;
      }
      text(name);
      out.append(FIELD);
      value(entry.getValue());
    }
  }

  /** A string, or a list of parts: text parts read as the string they spell, others as they are. */
  private void content(@Nullable Object content) {
    if (!(content instanceof List<?> parts)) {
      value(content);
      return;
    }
    for (Object part : parts) {
      if (part instanceof Map<?, ?> map) {
        part(map);
      } else {
        value(part);
      }
    }
  }

  private void part(Map<?, ?> part) {
    if (part.containsKey("text")) {
      value(part.get("text"));
    }
    for (Map.Entry<?, ?> entry : part.entrySet()) {
      String name = String.valueOf(entry.getKey());
      if (name.equals("type")) {
        if (entry.getValue() instanceof String type
            && !type.equals("text")
            && !type.equals("input_text")) {
          text(type);
        }
      } else if (!name.equals("text")) {
        text(name);
        out.append(FIELD);
        value(entry.getValue());
      }
    }
  }

  /** A string, strings, token ids, lists of token ids, or (responses API) messages. */
  private void input(@Nullable Object input) {
    if (!(input instanceof List<?> list)) {
      value(input);
      return;
    }
    for (Object each : list) {
      if (each instanceof Number number) {
        int32(number instanceof Integer id ? id : number.toString().hashCode());
        continue;
      }
      if (each instanceof Map<?, ?> message) {
        message(message);
      } else if (each instanceof List<?>) {
        input(each);
      } else {
        value(each);
      }
      out.append(RECORD);
    }
  }

  /** Strings as their text; everything else in a compact form that is the same for equal values. */
  private void value(@Nullable Object value) {
    if (value instanceof Map<?, ?> || value instanceof List<?>) {
      nested(value);
    } else {
      text(String.valueOf(value));
    }
  }

  private void nested(@Nullable Object value) {
    if (value instanceof Map<?, ?> map) {
      out.append('{');
      map.forEach(
          (name, each) -> {
            text(String.valueOf(name));
            out.append(FIELD);
            nested(each);
          });
      out.append('}');
    } else if (value instanceof List<?> list) {
      out.append('[');
      list.forEach(this::nested);
      out.append(']');
    } else {
      text(String.valueOf(value));
      out.append(',');
    }
  }

  private void text(String text) {
    // Lone surrogates become '?': the same for every client, and no engine accepts them.
    byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
    out.write(utf8, 0, utf8.length);
  }

  private void int32(int value) {
    out.append(value);
    out.append(value >>> 8);
    out.append(value >>> 16);
    out.append(value >>> 24);
  }
}

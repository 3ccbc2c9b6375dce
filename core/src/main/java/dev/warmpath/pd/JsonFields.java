package dev.warmpath.pd;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonFactoryBuilder;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Where the fields of a JSON object stand in its bytes, so that some can be taken out and others
 * put in while the rest stays byte for byte as it was. Immutable.
 */
final class JsonFields {
  static final JsonFactory FACTORY =
      new JsonFactoryBuilder()
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxStringLength(Integer.MAX_VALUE)
                  .maxNumberLength(10_000)
                  .build())
          .build();

  private record Field(String name, int start, int valueStart, int end) {}

  private final byte[] object;
  private final List<Field> fields;

  private JsonFields(byte[] object, List<Field> fields) {
    this.object = object;
    this.fields = fields;
  }

  /** Finds the fields, or null where the bytes are not one JSON object. */
  static @Nullable JsonFields find(byte[] object) {
    List<Field> fields = new ArrayList<>();
    try (JsonParser parser = FACTORY.createParser(object)) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        return null;
      }
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        int start = (int) parser.currentTokenLocation().getByteOffset();
        String name = parser.currentName();
        parser.nextToken();
        int valueStart = (int) parser.currentTokenLocation().getByteOffset();
        parser.skipChildren();
        parser.finishToken();
        int end = (int) parser.currentLocation().getByteOffset();
        // A number's end shows only by what follows it.
        while (end > valueStart && isSpace(object[end - 1])) {
          end--;
        }
        fields.add(new Field(name, start, valueStart, end));
      }
      return parser.nextToken() == null ? new JsonFields(object, fields) : null;
    } catch (JacksonException e) {
      return null;
    } catch (IOException e) {
      return null;
    }
  }

  private static boolean isSpace(byte b) {
    return b == ' ' || b == '\n' || b == '\r' || b == '\t';
  }

  boolean has(String name) {
    return field(name) != null;
  }

  private @Nullable Field field(String name) {
    Field found = null;
    for (Field field : fields) {
      if (field.name.equals(name)) {
        found = field; // of a name given twice the last counts
      }
    }
    return found;
  }

  /** A field's value as it stands, or null where there is none or it is JSON's null. */
  byte @Nullable [] raw(String name) {
    Field field = field(name);
    if (field == null || (object[field.valueStart] == 'n')) {
      return null;
    }
    return Arrays.copyOfRange(object, field.valueStart, field.end);
  }

  /** A field's value as text, as {@link #raw} gives it. */
  @Nullable String text(String name) {
    byte[] raw = raw(name);
    return raw == null ? null : new String(raw, StandardCharsets.UTF_8);
  }

  /** Where a field's value begins; -1 where there is none. */
  int valueStart(String name) {
    Field field = field(name);
    return field == null ? -1 : field.valueStart;
  }

  /**
   * The object with other fields in front.
   *
   * @param without names of fields to leave out
   * @param added what comes instead
   */
  byte[] edit(Set<String> without, Added added) {
    ByteArrayOutputStream out = new ByteArrayOutputStream(object.length + added.size() + 16);
    out.write('{');
    added.writeTo(out);
    boolean first = added.isEmpty();
    for (Field field : fields) {
      if (without.contains(field.name)) {
        continue;
      }
      if (!first) {
        out.write(',');
      }
      first = false;
      out.write(object, field.start, field.end - field.start);
    }
    out.write('}');
    return out.toByteArray();
  }

  /** Fields to put in. Not thread safe. */
  static final class Added {
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    /** Adds a field whose value is JSON already. */
    Added raw(String name, byte[] json) {
      if (bytes.size() > 0) {
        bytes.write(',');
      }
      bytes.writeBytes(('"' + name + "\":").getBytes(StandardCharsets.UTF_8));
      bytes.writeBytes(json);
      return this;
    }

    Added raw(String name, String json) {
      return raw(name, json.getBytes(StandardCharsets.UTF_8));
    }

    /** Adds a text. */
    Added text(String name, String text) {
      return raw(name, quoted(text));
    }

    Added number(String name, long number) {
      return raw(name, Long.toString(number));
    }

    boolean isEmpty() {
      return bytes.size() == 0;
    }

    int size() {
      return bytes.size();
    }

    /** The fields as an object of their own. */
    String object() {
      return "{" + bytes.toString(StandardCharsets.UTF_8) + "}";
    }

    void writeTo(ByteArrayOutputStream out) {
      out.writeBytes(bytes.toByteArray());
    }
  }

  /** A text as a JSON string. */
  static String quoted(String text) {
    return "\""
        + new String(
            com.fasterxml.jackson.core.io.JsonStringEncoder.getInstance().quoteAsString(text))
        + "\"";
  }
}

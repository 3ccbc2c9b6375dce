package dev.warmpath.pd;

import java.io.ByteArrayOutputStream;
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
  private record Field(String name, int start, int valueStart, int end) {}

  private final byte[] object;
  private final List<Field> fields;

  private JsonFields(byte[] object, List<Field> fields) {
    this.object = object;
    this.fields = fields;
  }

  /**
   * Finds the fields, or null where the bytes are not one JSON object. What values hold is walked
   * over, not read: whoever needs them reads them.
   */
  static @Nullable JsonFields find(byte[] object) {
    JsonScan scan = new JsonScan(object);
    List<Field> fields = new ArrayList<>();
    boolean whole =
        scan.object(
            (start, nameEnd, valueStart, end) ->
                fields.add(new Field(name(object, start, nameEnd), start, valueStart, end)));
    return whole ? new JsonFields(object, fields) : null;
  }

  private static String name(byte[] object, int start, int end) {
    for (int at = start; at < end; at++) {
      if (object[at] == '\\') {
        return JsonScan.unescaped(object, start, end);
      }
    }
    return new String(object, start + 1, end - start - 2, StandardCharsets.UTF_8);
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
    List<Field> kept = new ArrayList<>(fields.size());
    int size = 2 + added.size();
    for (Field field : fields) {
      if (!without.contains(field.name)) {
        kept.add(field);
        size += field.end - field.start + 1;
      }
    }
    if (added.isEmpty() && !kept.isEmpty()) {
      size--;
    }
    byte[] out = new byte[size];
    out[0] = '{';
    int at = 1 + added.writeTo(out, 1);
    for (Field field : kept) {
      if (at > 1) {
        out[at++] = ',';
      }
      int length = field.end - field.start;
      System.arraycopy(object, field.start, out, at, length);
      at += length;
    }
    out[at] = '}';
    return out;
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

    /** Writes the fields to a place, and tells how many bytes that took. */
    int writeTo(byte[] out, int at) {
      byte[] fields = bytes.toByteArray();
      System.arraycopy(fields, 0, out, at, fields.length);
      return fields.length;
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

package dev.warmpath.prompt;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonFactoryBuilder;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import java.io.IOException;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * JSON as plain values: {@code Map} in the document's order, {@code List}, {@code String}, {@code
 * Integer}, {@code Long} or {@code BigInteger}, {@code Double}, {@code Boolean} and null, as
 * Python's {@code json} reads it: of a name given twice the last value counts.
 */
final class JsonValues {
  /** Long texts are what bodies are made of; depth is bounded by Jackson's default. */
  static final JsonFactory FACTORY =
      new JsonFactoryBuilder()
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxStringLength(Integer.MAX_VALUE)
                  .maxNumberLength(10_000)
                  .build())
          .build();

  private JsonValues() {}

  /**
   * Reads a whole text.
   *
   * @throws IOException where it is not one JSON value
   */
  static @Nullable Object parse(String text) throws IOException {
    try (JsonParser parser = FACTORY.createParser(text)) {
      if (parser.nextToken() == null) {
        throw new IOException("there is nothing");
      }
      Object value = read(parser);
      if (parser.nextToken() != null) {
        throw new IOException("it goes on after its value");
      }
      return value;
    }
  }

  /** Whether all integers fit in 64 bits, signed or unsigned, and no float is infinite. */
  static boolean within64Bits(@Nullable Object value) {
    if (value instanceof Map<?, ?> map) {
      return map.values().stream().allMatch(JsonValues::within64Bits);
    }
    if (value instanceof List<?> list) {
      return list.stream().allMatch(JsonValues::within64Bits);
    }
    if (value instanceof BigInteger big) {
      return big.signum() > 0 && big.bitLength() <= Long.SIZE;
    }
    return !(value instanceof Double number) || Double.isFinite(number);
  }

  /** The value at whose first token the parser stands. */
  static @Nullable Object read(JsonParser parser) throws IOException {
    return switch (parser.currentToken()) {
      case START_OBJECT -> {
        Map<String, @Nullable Object> map = new LinkedHashMap<>();
        while (parser.nextToken() != JsonToken.END_OBJECT) {
          String name = parser.currentName();
          parser.nextToken();
          map.put(name, read(parser));
        }
        yield map;
      }
      case START_ARRAY -> {
        List<@Nullable Object> list = new ArrayList<>();
        while (parser.nextToken() != JsonToken.END_ARRAY) {
          list.add(read(parser));
        }
        yield list;
      }
      case VALUE_STRING -> parser.getText();
      case VALUE_NUMBER_INT -> parser.getNumberValue();
      case VALUE_NUMBER_FLOAT -> parser.getDoubleValue();
      case VALUE_TRUE -> true;
      case VALUE_FALSE -> false;
      default -> null;
    };
  }
}

package dev.warmpath.pd;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class JsonScanTest {
  private static final JsonFactory PARSERS = new JsonFactory();
  private static final String PIECES = "{}[]\",:\\ \n\tabfnrtu0019.eE+-trufalsn\u0001";

  /** What a parser finds: names with the bytes of their values; null where it finds an error. */
  private static @Nullable List<String> parsed(byte[] json) {
    List<String> fields = new ArrayList<>();
    try (JsonParser parser = PARSERS.createParser(json)) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        return null;
      }
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        String name = parser.currentName();
        parser.nextToken();
        int start = (int) parser.currentTokenLocation().getByteOffset();
        parser.skipChildren();
        parser.finishToken();
        int end = (int) parser.currentLocation().getByteOffset();
        // of a number the parser has read what comes after it
        fields.add(
            name + "=" + new String(json, start, end - start, StandardCharsets.UTF_8).strip());
      }
      return parser.nextToken() == null ? fields : null;
    } catch (IOException e) {
      return null;
    }
  }

  private static @Nullable List<String> scanned(byte[] json) {
    List<String> fields = new ArrayList<>();
    boolean whole =
        new JsonScan(json)
            .object(
                (start, nameEnd, valueStart, end) ->
                    fields.add(
                        JsonScan.unescaped(json, start, nameEnd)
                            + "="
                            + new String(
                                json, valueStart, end - valueStart, StandardCharsets.UTF_8)));
    return whole ? fields : null;
  }

  private static String value(Random random, int depth) {
    return switch (random.nextInt(depth > 3 ? 6 : 8)) {
      case 0 -> text(random);
      case 1 -> Integer.toString(random.nextInt());
      case 2 -> Double.toString(random.nextGaussian() * Math.pow(10, random.nextInt(30) - 15));
      case 3 -> "true";
      case 4 -> "null";
      case 5 -> random.nextBoolean() ? "-0" : "[]";
      case 6 -> {
        List<String> elements = new ArrayList<>();
        for (int i = random.nextInt(4); i > 0; i--) {
          elements.add(space(random) + value(random, depth + 1) + space(random));
        }
        yield "[" + String.join(",", elements) + "]";
      }
      default -> object(random, depth + 1);
    };
  }

  private static String object(Random random, int depth) {
    List<String> fields = new ArrayList<>();
    for (int i = random.nextInt(5); i > 0; i--) {
      fields.add(
          space(random)
              + text(random)
              + space(random)
              + ":"
              + space(random)
              + value(random, depth)
              + space(random));
    }
    return "{" + String.join(",", fields) + "}";
  }

  private static String space(Random random) {
    return random.nextInt(4) == 0 ? " \n\t\r".substring(random.nextInt(4)) : "";
  }

  private static String text(Random random) {
    StringBuilder text = new StringBuilder("\"");
    for (int i = random.nextInt(24); i > 0; i--) {
      switch (random.nextInt(12)) {
        case 0 -> text.append("\\\"");
        case 1 -> text.append("\\\\");
        case 2 -> text.append("\\u00e9\\n");
        case 3 -> text.append("\u00e9\u4e2d\ud83d\ude00");
        default -> text.append((char) ('a' + random.nextInt(26)));
      }
    }
    return text.append('"').toString();
  }

  @Test
  void fieldsStandWhereAParserFindsThem() {
    Random random = new Random(1);
    for (int i = 0; i < 2_000; i++) {
      byte[] json =
          (space(random) + object(random, 0) + space(random)).getBytes(StandardCharsets.UTF_8);
      assertThat(scanned(json))
          .as(new String(json, StandardCharsets.UTF_8))
          .isNotNull()
          .isEqualTo(parsed(json));
    }
  }

  @Test
  void whatIsNoJsonForAParserIsNone() {
    Random random = new Random(2);
    int broken = 0;
    for (int i = 0; i < 20_000; i++) {
      byte[] json = object(random, 0).getBytes(StandardCharsets.UTF_8);
      for (int change = random.nextInt(2); change >= 0; change--) {
        int at = random.nextInt(json.length);
        if (json[at] >= 0) { // a parser also minds broken UTF-8, which engines are left to
          json[at] = (byte) PIECES.charAt(random.nextInt(PIECES.length()));
        }
      }
      if (random.nextInt(4) == 0) {
        json =
            new String(json, StandardCharsets.UTF_8)
                .substring(0, 1)
                .getBytes(StandardCharsets.UTF_8);
      }
      List<String> expected = parsed(json);
      broken += expected == null ? 1 : 0;
      assertThat(scanned(json)).as(new String(json, StandardCharsets.UTF_8)).isEqualTo(expected);
    }
    assertThat(broken).isBetween(5_000, 19_000);
  }

  @Test
  void aTextOfAnyLengthEndsAtItsQuote() {
    for (int length = 0; length < 40; length++) {
      for (String last : List.of("x", "\\\"", "\\\\", "\u00e9", "\u4e2d")) {
        String text = "\"" + "\u00e9".repeat(length / 7) + "a".repeat(length) + last + "\"";
        byte[] json = ("{\"k\":" + text + ",\"after\":1}").getBytes(StandardCharsets.UTF_8);
        assertThat(scanned(json)).containsExactly("k=" + text, "after=1");
      }
    }
  }

  @Test
  void depthIsBounded() {
    String deep = "{\"k\":" + "[".repeat(100_000) + "]".repeat(100_000) + "}";
    assertThat(scanned(deep.getBytes(StandardCharsets.UTF_8))).isNull();
    String allowed = "{\"k\":" + "[".repeat(900) + "]".repeat(900) + "}";
    assertThat(scanned(allowed.getBytes(StandardCharsets.UTF_8))).hasSize(1);
  }
}

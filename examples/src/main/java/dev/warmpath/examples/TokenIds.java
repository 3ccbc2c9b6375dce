package dev.warmpath.examples;

import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Token ids as users give them: on the command line, or in a file. */
final class TokenIds {
  private static final Pattern SEPARATOR = Pattern.compile("[\\s,]+");

  /** Keys under which documents hold token ids, those of this command line among them. */
  private static final List<String> KEYS = List.of("ids", "token_ids", "tokens");

  private TokenIds() {}

  /**
   * Reads a list such as {@code 1,2,3}, which may be empty.
   *
   * @throws CommandFailure if something in it is not a whole number of at most 64 bits
   */
  static long[] parse(String list) {
    return Stream.of(SEPARATOR.split(unbracketed(list.strip()), -1))
        .filter(word -> !word.isEmpty())
        .mapToLong(word -> id(number(word)))
        .toArray();
  }

  private static String unbracketed(String list) {
    return list.startsWith("[") && list.endsWith("]") ? list.substring(1, list.length() - 1) : list;
  }

  private static BigInteger number(String word) {
    try {
      return new BigInteger(word);
    } catch (NumberFormatException e) {
      throw CommandFailure.usage("'" + word + "' is not a token id: give whole numbers, as 1,2,3");
    }
  }

  private static long id(BigInteger number) {
    if (number.bitLength() > 63) {
      throw CommandFailure.usage("token id " + number + " is wider than 64 bits");
    }
    return number.longValue();
  }

  /**
   * Reads a file: numbers between commas or white space, a JSON list, or a JSON object with a list
   * under {@code ids}, {@code token_ids} or {@code tokens}.
   */
  static long[] read(Path file) throws IOException {
    String text = InputFiles.text("token", file);
    if (!text.stripLeading().startsWith("{")) {
      return parse(text);
    }
    Map<?, ?> document = (Map<?, ?>) InputFiles.json("token", file);
    for (String key : KEYS) {
      if (document != null && document.get(key) instanceof List<?> ids) {
        return ids.stream().mapToLong(id -> id(number(String.valueOf(id)))).toArray();
      }
    }
    throw CommandFailure.usage(
        "token file '" + file + "' holds no list of token ids under any of " + KEYS);
  }
}

package dev.warmpath.knowledge;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Locale;

/**
 * Content-addressed ids of knowledge, as knowledge delivery nodes compute them (CacheRoute v0.1.9):
 * the lower-case hexadecimal SHA-256 of the normalised text's UTF-8 bytes. The same text therefore
 * has the same id on every node and in every client.
 */
public final class KnowledgeIds {

  private KnowledgeIds() {}

  /** The id of a text, whether it is normalised already or not. */
  public static String of(String text) {
    byte[] utf8 = normalise(text).getBytes(StandardCharsets.UTF_8);
    return HexFormat.of().formatHex(sha256().digest(utf8));
  }

  /**
   * The text as it is stored, measured and sent: line ends are LF, and white space at both ends is
   * gone. Nothing within the text changes.
   */
  public static String normalise(String text) {
    String lines = text.replace("\r\n", "\n").replace('\r', '\n');
    int from = 0;
    int to = lines.length();
    while (from < to && isSpace(lines.charAt(from))) {
      from++;
    }
    while (to > from && isSpace(lines.charAt(to - 1))) {
      to--;
    }
    return lines.substring(from, to);
  }

  /**
   * White space as Python's {@code str.strip} has it, which nodes normalise with; Java's differs.
   */
  private static boolean isSpace(char c) {
    return (c >= 0x09 && c <= 0x0d)
        || (c >= 0x1c && c <= 0x20)
        || c == 0x85
        || c == 0xa0
        || c == 0x1680
        || (c >= 0x2000 && c <= 0x200a)
        || c == 0x2028
        || c == 0x2029
        || c == 0x202f
        || c == 0x205f
        || c == 0x3000;
  }

  /** The form in which ids are compared: without surrounding white space, in lower case. */
  public static String canonical(String id) {
    return id.strip().toLowerCase(Locale.ROOT);
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }
}

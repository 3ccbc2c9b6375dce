package dev.warmpath.prompt;

import dev.warmpath.api.Usage;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Reads a response that went by as bytes, whole JSON or a stream of server-sent events: what it
 * reports and what was generated.
 */
public final class ResponseReader {
  private static final String DATA = "data:";

  private ResponseReader() {}

  /**
   * What a response tells.
   *
   * @param usage the token counts, or null where it reports none
   * @param answer the text that was generated, or null where it is not known
   */
  public record Told(@Nullable Usage usage, @Nullable String answer) {}

  /** Reads a response's body. Lenient: what can't be read tells nothing. */
  public static Told read(byte[] body) {
    UsageReader usages = new UsageReader();
    AnswerReader answer = new AnswerReader();
    if (body.length > 0 && body[0] == '{') {
      answer.body(body);
      return new Told(usages.read(body), answer.answer());
    }
    Usage usage = null;
    String text = new String(body, StandardCharsets.UTF_8);
    int at = 0;
    while (at < text.length()) {
      int end = text.indexOf('\n', at);
      end = end < 0 ? text.length() : end;
      if (text.startsWith(DATA, at)) {
        String data = text.substring(at + DATA.length(), end).strip();
        Usage reported = usages.readEvent(data);
        usage = reported == null ? usage : reported;
        answer.event(data);
      }
      at = end + 1;
    }
    return new Told(usage, answer.answer());
  }
}

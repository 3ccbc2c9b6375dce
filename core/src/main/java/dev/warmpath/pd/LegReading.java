package dev.warmpath.pd;

import dev.warmpath.api.FailurePhase;
import dev.warmpath.transport.TransportException;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads from answers and errors how a leg ended. */
final class LegReading {
  /** Both ways in which engines say that a generation was aborted. */
  private static final Pattern ABORTED =
      Pattern.compile("\"(?:finish_reason|type)\"\\s*:\\s*\"abort\"");

  private LegReading() {}

  /** Names what a transport threw. */
  static LegResult of(TransportException error) {
    String message = error.getMessage();
    String words = message == null ? error.kind().name() : message;
    boolean reached = error.phase() != FailurePhase.CONNECT;
    return switch (error.kind()) {
      case CONNECT -> LegResult.broken(LegOutcome.IO_ERROR, reached, words);
      case STALE_CONNECTION, RESET -> LegResult.broken(LegOutcome.IO_ERROR, true, words);
      case FIRST_TOKEN_TIMEOUT, IDLE_TIMEOUT ->
          LegResult.broken(LegOutcome.TIMED_OUT, reached, words);
      case DEADLINE -> LegResult.broken(LegOutcome.TIMED_OUT, reached, words).byDeadline();
      case CANCELLED -> LegResult.broken(LegOutcome.CANCELLED, reached, words);
      case PROTOCOL -> LegResult.broken(LegOutcome.PROTOCOL_ERROR, true, words);
      case STREAM_ERROR ->
          new LegResult(
              LegOutcome.PROTOCOL_ERROR,
              error.status(),
              true,
              PdEvidence.of(error.said() == null ? words : error.said()),
              null,
              false,
              false,
              words);
    };
  }

  /** What is wrong with a whole answer that came with success; null for nothing. */
  static @Nullable LegResult wrong(byte[] body) {
    String text = new String(body, StandardCharsets.UTF_8);
    if (text.contains("\"abort\"") && ABORTED.matcher(text).find()) {
      return LegResult.aborted();
    }
    String trimmed = text.strip();
    if (trimmed.isEmpty() || "}]".indexOf(trimmed.charAt(trimmed.length() - 1)) < 0) {
      return LegResult.broken(LegOutcome.PROTOCOL_ERROR, true, "the answer is not whole");
    }
    if (!text.contains("\"error\"")) {
      return null;
    }
    JsonFields fields = JsonFields.find(body);
    boolean error =
        fields != null
            && (fields.raw("error") != null || "\"error\"".equals(fields.text("object")));
    return error
        ? new LegResult(
            LegOutcome.PROTOCOL_ERROR,
            0,
            true,
            PdEvidence.of(text),
            null,
            false,
            false,
            "an error under status 200")
        : null;
  }

  /** Whether an event of a stream says that the generation was aborted. */
  static boolean aborted(String event) {
    return event.contains("\"abort\"") && ABORTED.matcher(event).find();
  }
}

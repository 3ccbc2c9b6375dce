package dev.warmpath.examples;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Instant;
import java.util.Locale;
import java.util.logging.ConsoleHandler;
import java.util.logging.FileHandler;
import java.util.logging.Formatter;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogManager;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

/**
 * The options of every command. The library logs through SLF4J; here its records end in {@code
 * java.util.logging}.
 */
final class LoggingOptions {
  @Option(
      names = "--log-level",
      scope = ScopeType.INHERIT,
      paramLabel = "LEVEL",
      defaultValue = "warn",
      description = "error, warn, info, debug or trace (default: ${DEFAULT-VALUE})")
  private String level = "warn";

  @Option(
      names = "--log-file",
      scope = ScopeType.INHERIT,
      paramLabel = "FILE",
      description = "where to log (default: stderr)")
  private @Nullable String file;

  @Option(
      names = "--log-format",
      scope = ScopeType.INHERIT,
      paramLabel = "FORMAT",
      defaultValue = "text",
      description = "text or json (default: ${DEFAULT-VALUE})")
  private String format = "text";

  @Option(
      names = "--tokenize-threads",
      scope = ScopeType.INHERIT,
      paramLabel = "N",
      description = "threads that tokenize for asynchronous calls (default: twice the processors)")
  private @Nullable Integer tokenizeThreads;

  /** Threads that tokenize for asynchronous calls, or null for the library's default. */
  @Nullable Integer tokenizeThreads() {
    return tokenizeThreads;
  }

  void apply() {
    Level parsed =
        switch (level.toLowerCase(Locale.ROOT)) {
          case "error" -> Level.SEVERE;
          case "warn" -> Level.WARNING;
          case "info" -> Level.INFO;
          case "debug" -> Level.FINE;
          case "trace" -> Level.FINEST;
          default ->
              throw CommandFailure.usage(
                  "unknown log level '" + level + "': use error, warn, info, debug or trace");
        };
    Formatter formatter =
        switch (format.toLowerCase(Locale.ROOT)) {
          case "text" -> new TextFormat();
          case "json" -> new JsonFormat();
          default ->
              throw CommandFailure.usage("unknown log format '" + format + "': use text or json");
        };
    LogManager.getLogManager().reset();
    Logger root = Logger.getLogger("");
    Handler handler;
    if (file == null) {
      handler = new ConsoleHandler();
    } else {
      try {
        handler = new FileHandler(file, true);
      } catch (IOException e) {
        throw CommandFailure.usage("log file '" + file + "' can't be written");
      }
    }
    handler.setFormatter(formatter);
    handler.setLevel(parsed);
    root.addHandler(handler);
    root.setLevel(parsed);
  }

  private static String stack(LogRecord record) {
    Throwable thrown = record.getThrown();
    if (thrown == null) {
      return "";
    }
    StringWriter out = new StringWriter();
    thrown.printStackTrace(new PrintWriter(out, true));
    return out.toString();
  }

  private static final class TextFormat extends Formatter {
    @Override
    public String format(LogRecord record) {
      return Instant.ofEpochMilli(record.getMillis())
          + " "
          + record.getLevel()
          + " "
          + record.getLoggerName()
          + ": "
          + formatMessage(record)
          + System.lineSeparator()
          + stack(record);
    }
  }

  private static final class JsonFormat extends Formatter {
    @Override
    public String format(LogRecord record) {
      return Json.line(
          Json.object()
              .put("time", Instant.ofEpochMilli(record.getMillis()).toString())
              .put("level", record.getLevel().getName())
              .put("logger", record.getLoggerName())
              .put("message", formatMessage(record))
              .put("error", stack(record)));
    }
  }
}

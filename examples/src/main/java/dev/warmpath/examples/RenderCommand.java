package dev.warmpath.examples;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.prompt.template.ChatTemplate;
import dev.warmpath.prompt.template.TemplateException;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.temporal.TemporalAccessor;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Renders a chat template with a context. */
@Command(
    name = "render",
    description = "Renders a chat template (Jinja2) with a JSON context, as transformers does.")
final class RenderCommand implements Callable<Integer> {
  @Spec
  @SuppressWarnings("NullAway.Init") // picocli sets it before the command runs
  private CommandSpec spec;

  @Option(
      names = "--template",
      paramLabel = "FILE",
      required = true,
      description = "the template's Jinja2 source")
  @SuppressWarnings("NullAway.Init") // picocli sets it before the command runs
  private Path template;

  @Option(
      names = "--context",
      paramLabel = "FILE",
      required = true,
      description = "the template's variables, a JSON object: messages, tools, ...")
  @SuppressWarnings("NullAway.Init") // picocli sets it before the command runs
  private Path context;

  @Option(
      names = "--now",
      paramLabel = "ISO",
      description = "what strftime_now shows, such as 2025-07-10T12:00:00 (default: the clock)")
  private @Nullable String now;

  @Option(names = "--json", description = "print one JSON document")
  private boolean json;

  @Override
  public Integer call() throws IOException {
    Clock clock = now == null ? Clock.system(ZoneId.systemDefault()) : fixed(now);
    String source = InputFiles.text("template", template);
    if (!(InputFiles.json("context", context) instanceof Map<?, ?> variables)) {
      throw CommandFailure.usage("context file '" + context + "' is not a JSON object");
    }
    @SuppressWarnings("unchecked") // the keys of JSON objects are texts
    Map<String, ?> named = (Map<String, ?>) variables;
    String text;
    try {
      text = ChatTemplate.compile(source).render(named, clock);
    } catch (TemplateException e) {
      return failed(e);
    }
    if (json) {
      spec.commandLine().getOut().println(Json.document(Json.object().put("text", text)));
    } else {
      // without a line end of its own: what is printed is the prompt
      spec.commandLine().getOut().print(text);
      spec.commandLine().getOut().flush();
    }
    return 0;
  }

  private int failed(TemplateException e) {
    if (!json) {
      throw CommandFailure.work(e.type() + ": " + e.getMessage());
    }
    ObjectNode document = Json.object();
    ObjectNode error = document.putObject("error").put("type", e.type()).put("message", e.reason());
    error.put("line", e.line() > 0 ? e.line() : null);
    spec.commandLine().getOut().println(Json.document(document));
    return 1;
  }

  /** A clock that stands still. A time without an offset is a local one, as in Python. */
  static Clock fixed(String iso) {
    try {
      TemporalAccessor time =
          iso.contains("T") || iso.contains("t")
              ? DateTimeFormatter.ISO_DATE_TIME.parseBest(
                  iso, ZonedDateTime::from, OffsetDateTime::from, LocalDateTime::from)
              : LocalDate.parse(iso).atStartOfDay();
      ZonedDateTime at =
          time instanceof LocalDateTime local
              ? local.atZone(ZoneOffset.UTC)
              : ZonedDateTime.from(time);
      return Clock.fixed(at.toInstant(), at.getZone());
    } catch (DateTimeException e) {
      throw CommandFailure.usage(
          "--now '" + iso + "' is no ISO date and time: use one such as 2025-07-10T12:00:00");
    }
  }
}

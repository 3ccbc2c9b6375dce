package dev.warmpath.examples;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.observe.LoadHistory;
import dev.warmpath.observe.LoadHistorySettings;
import dev.warmpath.observe.LoadSample;
import dev.warmpath.worker.WorkerId;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Shows the load history that clients have kept: as a table, as JSON, as a page with plots. */
@Command(
    name = "history",
    description = "Shows what clients knew of their workers' loads, from the file they keep it in.")
final class HistoryCommand implements Callable<Integer> {
  private static final Pattern TIME = Pattern.compile("(\\d{1,9})([smhd])");

  @Spec
  @SuppressWarnings("NullAway.Init") // picocli sets it before the command runs
  private CommandSpec spec;

  @Option(
      names = "--file",
      paramLabel = "FILE",
      description = "the history (default: what " + LoadHistorySettings.VARIABLE + " names)")
  private @Nullable Path file;

  @Option(names = "--worker", paramLabel = "URL", description = "one worker only")
  private @Nullable String worker;

  @Option(
      names = "--since",
      paramLabel = "TIME",
      description = "how far back, such as 90s, 30m, 24h, 7d (default: 24h)")
  private String since = "24h";

  @Option(
      names = "--last",
      paramLabel = "N",
      description = "the most rows of the table, the newest (default: 100)")
  private int last = 100;

  @Option(names = "--html", paramLabel = "FILE", description = "write a page with plots")
  private @Nullable Path html;

  @Option(names = "--json", description = "print one JSON document with every row")
  private boolean json;

  @Override
  public Integer call() throws IOException {
    Path from = file();
    List<LoadSample> rows =
        LoadHistory.read(
            from,
            worker == null ? null : WorkerId.parse(worker).value(),
            Instant.now().minus(time(since)));
    Path page = html;
    if (page != null) {
      Files.writeString(page, HistoryPage.of(rows, since));
    }
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      ObjectNode document = document(rows);
      document.put("report", page == null ? null : page.toString());
      out.println(Json.document(document));
      return 0;
    }
    if (rows.isEmpty()) {
      out.println("no rows in " + from + " within " + since);
    } else {
      out.println(table(rows).stripTrailing());
    }
    if (page != null) {
      out.println("plots: " + page);
    }
    return 0;
  }

  private Path file() {
    Path given = file;
    if (given != null) {
      return given;
    }
    return LoadHistorySettings.from(System.getenv())
        .orElseThrow(
            () ->
                CommandFailure.usage(
                    "which history? Give --file, or set " + LoadHistorySettings.VARIABLE))
        .file();
  }

  /**
   * Reads a length of time.
   *
   * @throws CommandFailure saying how to write one
   */
  static Duration time(String text) {
    Matcher matcher = TIME.matcher(text);
    if (!matcher.matches()) {
      throw CommandFailure.usage("'" + text + "' is no time: write one such as 90s, 30m, 24h, 7d");
    }
    long amount = Long.parseLong(matcher.group(1));
    return switch (matcher.group(2)) {
      case "s" -> Duration.ofSeconds(amount);
      case "m" -> Duration.ofMinutes(amount);
      case "h" -> Duration.ofHours(amount);
      default -> Duration.ofDays(amount);
    };
  }

  private static ObjectNode document(List<LoadSample> rows) {
    ObjectNode out = Json.object();
    ArrayNode all = out.putArray("rows");
    for (LoadSample row : rows) {
      ObjectNode one = all.addObject();
      one.put("at", row.at().toString());
      one.put("worker", row.worker());
      one.put("rank", row.rank());
      one.put("state", row.state());
      Json.put(one, "share", row.share());
      Json.put(one, "running", row.running());
      Json.put(one, "waiting", row.waiting());
      Json.put(one, "used_tokens", row.usedTokens());
      Json.put(one, "token_usage", row.usage());
      Json.put(one, "cache_hit_rate", row.hitRate());
      Json.put(one, "gen_tokens_per_s", row.tokensPerSecond());
      one.put("in_flight", row.inFlight());
      Json.put(one, "first_byte_ms", row.firstByteMillis());
      Json.put(one, "load_age_ms", row.ageMillis());
    }
    return out;
  }

  private String table(List<LoadSample> rows) {
    TextTable table =
        new TextTable(
            "at",
            "worker",
            "state",
            "running",
            "waiting",
            "usage",
            "hit rate",
            "tokens/s",
            "own",
            "first byte");
    for (LoadSample row : rows.subList(Math.max(0, rows.size() - last), rows.size())) {
      table.row(
          row.at().truncatedTo(ChronoUnit.SECONDS).toString(),
          HistoryPage.name(row),
          row.state(),
          number("%.0f", row.running()),
          number("%.0f", row.waiting()),
          number("%.3f", row.usage()),
          number("%.3f", row.hitRate()),
          number("%.0f", row.tokensPerSecond()),
          Integer.toString(row.inFlight()),
          number("%.0f ms", row.firstByteMillis()));
    }
    String more =
        rows.size() > last
            ? "the last " + last + " of " + rows.size() + " rows; --last shows more"
            : rows.size() + " rows";
    return table + more;
  }

  private static String number(String format, double value) {
    return Double.isNaN(value) ? "-" : Charts.format(format, value);
  }
}

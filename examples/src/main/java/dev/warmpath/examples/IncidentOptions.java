package dev.warmpath.examples;

import dev.warmpath.fake.lab.LabIncident;
import dev.warmpath.fake.study.StudyWorkload;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options of the fleet study for what happens to workers. */
final class IncidentOptions {
  private static final Pattern INCIDENT =
      Pattern.compile("(flush|restart|remove|add):([0-9]{1,4})@([0-9]+(?:\\.[0-9]+)?)");

  /** How long a restarted worker is away. */
  private static final double DOWN_MS = 10_000;

  @Option(
      names = "--restart-every",
      paramLabel = "S",
      description =
          "for --suite: restarts the workers one after the other, one every so many seconds of the"
              + " measured window, each down for 10 s with all it ran; this project's policies"
              + " only")
  private @Nullable Double restartEvery;

  @Option(
      names = "--incident",
      split = ",",
      paramLabel = "WHAT:WORKER@S",
      description =
          "for --suite: what happens to a worker, from 0 on, so many seconds after users came, such"
              + " as flush:3@150; restart (down for 10 s), remove or add, which lets it join then"
              + " if it comes first; this project's policies only")
  private List<String> incidents = List.of();

  /**
   * Whether anything happens; checks what is asked for.
   *
   * @param workers how many workers there are
   */
  boolean any(int workers) {
    Double every = restartEvery;
    if (every != null && !(every > 0)) {
      throw CommandFailure.usage("--restart-every takes seconds, more than 0");
    }
    incidents.forEach(text -> parse(text, workers));
    return every != null || !incidents.isEmpty();
  }

  /** What happens, in order. */
  List<LabIncident> of(StudyWorkload workload, int workers) {
    List<LabIncident> all = new ArrayList<>();
    Double every = restartEvery;
    if (every != null) {
      for (int worker = 0; worker < workers; worker++) {
        all.add(LabIncident.restart(workload.fromMs() + worker * every * 1e3, worker, DOWN_MS));
      }
    }
    for (String text : incidents) {
      all.add(parse(text, workers));
    }
    return all;
  }

  /** What happens, to end a sentence with; nothing where nothing does. */
  String text() {
    StringBuilder text = new StringBuilder();
    Double every = restartEvery;
    if (every != null) {
      String seconds = BigDecimal.valueOf(every).stripTrailingZeros().toPlainString();
      text.append("; a worker restarts every ").append(seconds).append(" s");
    }
    incidents.forEach(each -> text.append("; ").append(each));
    return text.toString();
  }

  private static LabIncident parse(String text, int workers) {
    Matcher matcher = INCIDENT.matcher(text);
    if (!matcher.matches() || Integer.parseInt(matcher.group(2)) >= workers) {
      throw CommandFailure.usage(
          "--incident "
              + text
              + ": use flush, restart, remove or add, a worker from 0 to "
              + (workers - 1)
              + " and seconds, as in flush:3@150");
    }
    int worker = Integer.parseInt(matcher.group(2));
    double at = Double.parseDouble(matcher.group(3)) * 1e3;
    return switch (matcher.group(1)) {
      case "flush" -> LabIncident.flush(at, worker);
      case "restart" -> LabIncident.restart(at, worker, DOWN_MS);
      case "remove" -> LabIncident.remove(at, worker);
      default -> LabIncident.add(at, worker);
    };
  }
}

package dev.warmpath.examples;

import dev.warmpath.RouterClient;
import dev.warmpath.api.LookupInfo;
import dev.warmpath.api.PdInfo;
import dev.warmpath.api.RouteDecision;
import dev.warmpath.api.RouteDecision.CandidateView;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Decides where a request would go, and sends nothing. */
@Command(name = "explain", description = "Decides where a request would go, and sends nothing.")
final class ExplainCommand implements Callable<Integer> {
  @Spec
  @SuppressWarnings("NullAway.Init") // picocli sets it before the command runs
  private CommandSpec spec;

  @Mixin private RouterOptions router = new RouterOptions();
  @Mixin private BodyOptions body = new BodyOptions();

  @Option(names = "--policy", paramLabel = "P", description = "the policy, such as pin>homing")
  private @Nullable String policy;

  @Option(names = "--json", description = "print one JSON document")
  private boolean json;

  @Override
  public Integer call() throws Exception {
    var request = body.request(null);
    try (RouterClient client = router.connect(policy)) {
      RouteDecision decision = client.explain(request);
      spec.commandLine()
          .getOut()
          .println(json ? Json.document(Json.decision(decision)) : text(decision).stripTrailing());
    }
    return 0;
  }

  /** A decision for people. */
  static String text(RouteDecision decision) {
    StringBuilder out = new StringBuilder();
    out.append("policy   ").append(decision.policy()).append(System.lineSeparator());
    RouteDecision.PromptSummary prompt = decision.prompt();
    out.append("prompt   ")
        .append(prompt.bytes())
        .append(" bytes, ")
        .append(prompt.tokens())
        .append(" tokens, ")
        .append(prompt.blocks())
        .append(" blocks (")
        .append(prompt.exactness())
        .append(")")
        .append(System.lineSeparator());
    LookupInfo lookup = decision.lookup();
    if (lookup != null) {
      out.append("lookup   ")
          .append(lookup.locator())
          .append(' ')
          .append(lookup.outcome())
          .append(lookup.detail() == null ? "" : ": " + lookup.detail())
          .append(", ranks that hold its beginning: ")
          .append(lookup.matches().size())
          .append(System.lineSeparator());
    }
    for (String step : decision.steps()) {
      out.append("step     ").append(step).append(System.lineSeparator());
    }
    if (!decision.candidates().isEmpty()) {
      TextTable table =
          new TextTable("candidate", "placed by", "score", "matched tokens", "state", "terms");
      for (CandidateView candidate : decision.candidates()) {
        table.row(
            name(candidate),
            candidate.step(),
            Double.isNaN(candidate.score())
                ? "-"
                : String.format(Locale.ROOT, "%.3f", candidate.score()),
            Integer.toString(candidate.matchedTokens()),
            candidate.state(),
            candidate.terms().entrySet().stream()
                .map(term -> String.format(Locale.ROOT, "%s=%.3f", term.getKey(), term.getValue()))
                .collect(Collectors.joining(" ")));
      }
      out.append(table);
    }
    CandidateView chosen = decision.chosen();
    PdInfo pd = decision.pd();
    if (pd != null) {
      String prefill = pd.prefill();
      out.append("prefill  ")
          .append(prefill == null ? "none: " + pd.direct() : name(prefill, pd.prefillRank()))
          .append(System.lineSeparator())
          .append("decode   ")
          .append(name(pd.decode(), pd.decodeRank()))
          .append(System.lineSeparator());
    } else {
      out.append("chosen   ")
          .append(chosen == null ? "nobody" : name(chosen) + " by " + chosen.step())
          .append(System.lineSeparator());
    }
    decision
        .attempts()
        .forEach(
            attempt ->
                out.append("attempt  ")
                    .append(attempt.worker())
                    .append(attempt.phase() == null ? " ok" : " failed: " + attempt.error())
                    .append(" after ")
                    .append(attempt.elapsed().toMillis())
                    .append(" ms")
                    .append(System.lineSeparator()));
    return out.toString();
  }

  private static String name(CandidateView candidate) {
    return name(candidate.worker(), candidate.rank());
  }

  private static String name(String worker, @Nullable Integer rank) {
    return rank == null ? worker : worker + "#" + rank;
  }
}

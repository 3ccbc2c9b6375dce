package dev.warmpath.fake.lab;

import dev.warmpath.RouterClient;
import dev.warmpath.Workers;
import dev.warmpath.api.KnowledgeInfo;
import dev.warmpath.api.PdInfo;
import dev.warmpath.api.RouteDecision;
import dev.warmpath.api.RouterException;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.api.RouterStream;
import dev.warmpath.api.StreamEvent;
import dev.warmpath.api.Usage;
import org.jspecify.annotations.Nullable;

/**
 * What one replica of a service has: a router client, whose answers are timed by the run's clock.
 */
final class LabClient implements AutoCloseable {
  private static final Usage UNCOUNTED = new Usage(null, null, null);

  private final LabClock clock;
  private final RouterClient router;

  LabClient(LabClock clock, RouterClient router) {
    this.clock = clock;
    this.router = router;
  }

  /**
   * Who computed a prompt, as it was decided.
   *
   * @param worker the worker's address
   * @param rank its data-parallel rank, or null where it has one only
   * @param matchedTokens prompt tokens that the client believed to be there
   */
  record Chosen(String worker, @Nullable Integer rank, int matchedTokens) {

    /** Of a pair it is the prefill worker. */
    private static @Nullable Chosen by(RouteDecision decision) {
      PdInfo pair = decision.pd();
      String prefill = pair == null ? null : pair.prefill();
      if (pair != null && prefill != null) {
        return new Chosen(
            prefill,
            pair.prefillRank(),
            Math.max(0, decision.prompt().tokens() - pair.uncachedTokens()));
      }
      RouteDecision.CandidateView one = decision.chosen();
      return one == null ? null : new Chosen(one.worker(), one.rank(), one.matchedTokens());
    }
  }

  /**
   * An answer that came to its end.
   *
   * @param firstNanos when its first token came
   * @param endNanos when its last token came
   * @param chosen who computed the prompt
   * @param usage what was counted; of a pair, the prompt by its prefill worker
   * @param knowledge what became of the knowledge that was needed
   */
  record Answer(
      long firstNanos,
      long endNanos,
      @Nullable Chosen chosen,
      Usage usage,
      @Nullable KnowledgeInfo knowledge) {}

  /**
   * Sends a request and reads the answer.
   *
   * @throws RouterException when there is none
   */
  Answer ask(RouterRequest request) {
    try (RouterStream stream = router.stream(request)) {
      long first = clock.nanoTime();
      for (StreamEvent event = stream.next(); event != null; event = stream.next()) {
        // The last one carries the counts.
      }
      RouteDecision decision = stream.decision();
      Usage usage = stream.usage();
      return new Answer(
          first,
          clock.nanoTime(),
          Chosen.by(decision),
          counted(usage == null ? UNCOUNTED : usage, decision.pd()),
          decision.knowledge());
    }
  }

  private static Usage counted(Usage usage, @Nullable PdInfo pair) {
    Usage prefill = pair == null ? null : pair.prefillUsage();
    return prefill == null
        ? usage
        : new Usage(prefill.promptTokens(), prefill.cachedTokens(), usage.completionTokens());
  }

  /** The router's workers, to be changed. */
  Workers workers() {
    return router.workers();
  }

  @Override
  public void close() {
    router.close();
  }
}

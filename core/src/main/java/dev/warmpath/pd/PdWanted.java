package dev.warmpath.pd;

import dev.warmpath.api.RouteOptions;
import dev.warmpath.dispatch.Dispatcher;
import dev.warmpath.dispatch.PairDispatch;
import dev.warmpath.index.BlockLocations;
import dev.warmpath.policy.KnowledgeChoice;
import dev.warmpath.prompt.Prompt;
import dev.warmpath.worker.CandidateSet;
import dev.warmpath.worker.Worker;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What a pair is wanted for.
 *
 * @param by who chooses
 * @param prompt the request's prompt
 * @param options how it may be routed
 * @param located where a look-up found its blocks
 * @param path its path without query
 * @param refusal tells why a worker's transport can't carry it, or null for one that can; null in
 *     the place of all that where everybody can be sent it
 * @param knowledge who should prefill it by where its knowledge is
 */
record PdWanted(
    PdRules by,
    Prompt prompt,
    RouteOptions options,
    BlockLocations located,
    String path,
    @Nullable Function<Worker, @Nullable String> refusal,
    KnowledgeChoice knowledge) {

  /** For a request that needs no knowledge. */
  PdWanted(
      PdRules by,
      Prompt prompt,
      RouteOptions options,
      BlockLocations located,
      String path,
      @Nullable Function<Worker, @Nullable String> refusal) {
    this(by, prompt, options, located, path, refusal, KnowledgeChoice.NONE);
  }

  /** For a request that has begun, as its workers' transports see it now. */
  static PdWanted of(PdRules by, PairDispatch request, Dispatcher dispatcher, String path) {
    return new PdWanted(
        by,
        request.prompt(),
        request.options(),
        request.located(),
        path,
        dispatcher.refusal(request.request(), request.prompt()),
        request.knowledge());
  }

  /** Those of the candidates that can be sent it. */
  CandidateSet able(CandidateSet among) {
    Function<Worker, @Nullable String> asked = refusal;
    return asked == null ? among : among.where(rank -> asked.apply(rank.worker()) == null);
  }

  /** Why others can't, by address. */
  Map<String, String> refusals(CandidateSet among) {
    Map<String, String> refusals = new HashMap<>();
    Function<Worker, @Nullable String> asked = refusal;
    if (asked != null) {
      among
          .asList()
          .forEach(
              rank -> {
                String why = asked.apply(rank.worker());
                if (why != null) {
                  refusals.put(rank.worker().id().value(), why);
                }
              });
    }
    return refusals;
  }
}

package dev.warmpath.api;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Where a request goes, or went, and why. Travels with every response; {@code explain} gives it
 * with every candidate's terms. Holds no text of the prompt.
 *
 * @param policy the policy that decided, such as {@code pin>homing>shortest_queue}
 * @param topologyVersion the snapshot that was read
 * @param prompt what is known of the prompt
 * @param candidates every candidate with its score and terms; filled by {@code explain}, empty on
 *     the hot path
 * @param chosen the candidate that served the request (the last one tried), or would; null when
 *     there was none
 * @param steps what led to the choice, in words; filled by {@code explain}
 * @param attempts the attempts made so far, first to last
 * @param pd the pair of workers, where prefill and decode are apart; null where one worker serves
 * @param lookup what an index outside of the client told of the prompt; null where there is none
 * @param knowledge what became of the knowledge that the request needs; null where it needs none
 */
public record RouteDecision(
    String policy,
    long topologyVersion,
    PromptSummary prompt,
    List<CandidateView> candidates,
    @Nullable CandidateView chosen,
    List<String> steps,
    List<AttemptRecord> attempts,
    @Nullable PdInfo pd,
    @Nullable LookupInfo lookup,
    @Nullable KnowledgeInfo knowledge) {

  /** The decision on a request that needs no knowledge. */
  public RouteDecision(
      String policy,
      long topologyVersion,
      PromptSummary prompt,
      List<CandidateView> candidates,
      @Nullable CandidateView chosen,
      List<String> steps,
      List<AttemptRecord> attempts,
      @Nullable PdInfo pd,
      @Nullable LookupInfo lookup) {
    this(policy, topologyVersion, prompt, candidates, chosen, steps, attempts, pd, lookup, null);
  }

  /** The same decision with what became of the request's knowledge. */
  public RouteDecision withKnowledge(@Nullable KnowledgeInfo info) {
    return info == null
        ? this
        : new RouteDecision(
            policy, topologyVersion, prompt, candidates, chosen, steps, attempts, pd, lookup, info);
  }

  /**
   * The same decision with one thing more to say of it.
   *
   * @param step in words; null for nothing
   */
  public RouteDecision withStep(@Nullable String step) {
    if (step == null) {
      return this;
    }
    List<String> more = new ArrayList<>(steps);
    more.add(step);
    return new RouteDecision(
        policy, topologyVersion, prompt, candidates, chosen, more, attempts, pd, lookup, knowledge);
  }

  /**
   * What is known of a prompt.
   *
   * @param bytes length of the prompt text that is compared byte by byte
   * @param tokens its tokens: exact, or an estimate where {@code exactness} says so
   * @param blocks full KV blocks, 0 where tokens are not exact
   * @param exactness {@code exact}, {@code estimated} or {@code opaque}
   */
  public record PromptSummary(int bytes, int tokens, int blocks, String exactness) {}

  /**
   * One candidate as the policy saw it.
   *
   * @param worker the worker's address
   * @param rank the data-parallel rank, or null where none is named
   * @param role what it is asked to do: {@code regular}, {@code prefill}, {@code decode}
   * @param step the part of the policy chain that placed it
   * @param score the policy's number; its meaning (lower or higher wins) is the policy's
   * @param terms the score's parts by name; empty on the hot path
   * @param matchedTokens prompt tokens it is believed to hold
   * @param state {@code up}, {@code unknown}, {@code suspect}, {@code down}, or for one that is up
   *     but works badly {@code degraded:} and how, such as {@code degraded:kv_full,latency}
   */
  public record CandidateView(
      String worker,
      @Nullable Integer rank,
      String role,
      String step,
      double score,
      Map<String, Double> terms,
      int matchedTokens,
      String state) {}
}

package dev.warmpath.policy;

import dev.warmpath.worker.WorkerRank;

/**
 * A place a request may go, and why.
 *
 * @param target the worker and rank
 * @param step the policy, or the part of a chain, that placed it: the first part that preferred it
 *     (and perhaps a few equals) to the rest
 * @param score that part's number for it, lower being better; NaN where it has none
 * @param matchedTokens prompt tokens it is believed to hold; 0 where no prefix source is connected
 * @param predictedTokens what the prefix source says it holds, before the credit of its rank's
 *     predictions: what a report is compared with
 * @param lastResort whether it comes only because nobody better is left: it is down or suspect
 */
public record Candidate(
    WorkerRank target,
    String step,
    double score,
    int matchedTokens,
    int predictedTokens,
    boolean lastResort) {

  /** A candidate whose prefix source has full credit. */
  public Candidate(
      WorkerRank target, String step, double score, int matchedTokens, boolean lastResort) {
    this(target, step, score, matchedTokens, matchedTokens, lastResort);
  }
}

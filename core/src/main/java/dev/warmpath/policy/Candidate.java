package dev.warmpath.policy;

import dev.warmpath.worker.WorkerRank;

/**
 * A place a request may go, and why.
 *
 * @param target the worker and rank
 * @param step the policy, or part of a chain, that placed it
 * @param score that policy's number for it; NaN where it has none
 * @param matchedTokens prompt tokens it is believed to hold
 * @param lastResort whether it comes only because nobody better is left: it is down or suspect
 */
public record Candidate(
    WorkerRank target, String step, double score, int matchedTokens, boolean lastResort) {}

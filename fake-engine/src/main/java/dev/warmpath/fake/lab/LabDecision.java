package dev.warmpath.fake.lab;

import org.jspecify.annotations.Nullable;

/**
 * Where a request went.
 *
 * @param request its number in the run, from 1
 * @param sentNanos when it was sent, by the run's clock
 * @param worker the worker's address
 * @param rank its data-parallel rank, or null where it has one only
 * @param matchedTokens prompt tokens that the client believed to be there
 */
public record LabDecision(
    long request, long sentNanos, String worker, @Nullable Integer rank, int matchedTokens) {}

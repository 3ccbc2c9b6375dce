package dev.warmpath.knowledge;

import java.util.OptionalDouble;

/**
 * A target as the second stage sees it for one request.
 *
 * @param target the target
 * @param link its link to the chosen node
 * @param loadRatio requests in flight over capacity; empty where the capacity is unknown
 * @param affinity what is remembered of the wanted knowledge there, before this decision: scores
 *     weighed by characters
 */
public record TargetCandidate(
    KnowledgeTarget target, KnowledgeLink link, OptionalDouble loadRatio, double affinity) {}

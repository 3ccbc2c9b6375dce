package dev.warmpath.knowledge;

import java.time.Instant;

/**
 * What a {@link KnowledgeRegistry} knows of a target that registered, for views.
 *
 * @param target what it reported
 * @param address {@code host:port}
 * @param alive whether it was heard of lately
 * @param seen when it was last heard of
 */
public record TargetStatus(KnowledgeTarget target, String address, boolean alive, Instant seen) {}

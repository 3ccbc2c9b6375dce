package dev.warmpath.knowledge;

import java.time.Instant;

/**
 * A decision that was made for a request.
 *
 * @param request the client's name for the request
 * @param at when
 * @param decision what was decided, and why
 */
public record KnowledgeTrace(String request, Instant at, KnowledgeDecision decision) {}

package dev.warmpath.knowledge;

import dev.warmpath.api.KnowledgeInfo;
import java.time.Instant;

/**
 * A decision that was made for a request.
 *
 * @param request the client's name for the request
 * @param at when
 * @param decision what was decided, and why
 * @param info what was injected where, and why, before it was sent
 */
public record KnowledgeTrace(
    String request, Instant at, KnowledgeDecision decision, KnowledgeInfo info) {}

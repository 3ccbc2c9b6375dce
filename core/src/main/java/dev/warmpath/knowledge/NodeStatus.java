package dev.warmpath.knowledge;

import java.time.Instant;
import java.util.Optional;

/**
 * What a {@link KnowledgeRegistry} knows of a node, for views.
 *
 * @param id its id
 * @param address {@code kdn://host:port}
 * @param pieces how many pieces of knowledge it told of
 * @param load what it reported of its load
 * @param alive whether it was heard of lately
 * @param resting whether it is left alone, since a request's call failed there
 * @param seen when it was last heard of; empty where it never was
 * @param trouble what went wrong at the last call, in a few words; empty where nothing did
 */
public record NodeStatus(
    String id,
    String address,
    int pieces,
    NodeLoad load,
    boolean alive,
    boolean resting,
    Optional<Instant> seen,
    Optional<String> trouble) {}

package dev.warmpath.knowledge;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Instant;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * All that is known of one target that registered, at one moment. Immutable.
 *
 * @param said what it registered with
 * @param capacity requests that it may work on at once; empty where it didn't say
 * @param instances how many instances stand behind it, 0 where it didn't say
 * @param kvMemoryGb KV memory of each of them
 * @param kvPolicy how they evict, for views
 * @param inFlight what it reported; empty where it never did
 * @param requestsPerSecond likewise
 * @param gpuUtilisation likewise
 * @param links its links to nodes, out of {@code said}'s meta
 * @param pool a report of its resources, for views
 * @param poolAt when that came
 * @param seen when it was last heard of
 * @param seenNanos the same by the ticker
 */
record TargetEntry(
    Registration said,
    OptionalInt capacity,
    int instances,
    double kvMemoryGb,
    String kvPolicy,
    OptionalInt inFlight,
    OptionalDouble requestsPerSecond,
    OptionalDouble gpuUtilisation,
    Map<String, KnowledgeLink> links,
    @Nullable JsonNode pool,
    @Nullable Instant poolAt,
    Instant seen,
    long seenNanos) {

  TargetEntry {
    links = Map.copyOf(links);
  }

  boolean alive(long now, long ttlNanos) {
    return now - seenNanos <= ttlNanos;
  }

  /** The target as a decision sees it that knows no more of its requests than it reported. */
  KnowledgeTarget target() {
    return new KnowledgeTarget(
        said.id(), inFlight.orElse(0), capacity, requestsPerSecond, gpuUtilisation, links);
  }

  TargetEntry withMeta(ObjectNode meta, Map<String, KnowledgeLink> itsLinks) {
    return new TargetEntry(
        said.with(meta),
        capacity,
        instances,
        kvMemoryGb,
        kvPolicy,
        inFlight,
        requestsPerSecond,
        gpuUtilisation,
        itsLinks,
        pool,
        poolAt,
        seen,
        seenNanos);
  }

  /** With another report of its resources, unless that is null. */
  TargetEntry withPool(@Nullable JsonNode report, Instant at) {
    return report == null
        ? this
        : new TargetEntry(
            said,
            capacity,
            instances,
            kvMemoryGb,
            kvPolicy,
            inFlight,
            requestsPerSecond,
            gpuUtilisation,
            links,
            report,
            at,
            seen,
            seenNanos);
  }
}

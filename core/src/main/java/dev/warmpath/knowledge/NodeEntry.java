package dev.warmpath.knowledge;

import java.net.URI;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * All that is known of one node at one moment. Immutable.
 *
 * @param said what it registered with
 * @param base where it is asked
 * @param polled whether it is known by its address and answers keep it alive; else heartbeats do
 * @param node what decisions read, with its pieces
 * @param seen when it was last heard of; the epoch where it never was
 * @param seenNanos the same by the ticker
 * @param lifeNanos for how long it is alive then; 0 where it never was heard of
 * @param restUntilNanos until when it is left alone, by the ticker
 * @param resting whether {@code restUntilNanos} means anything
 * @param told when it last said what it has; null before it did
 * @param trouble what went wrong at the last question, in a few words; null where nothing did
 */
record NodeEntry(
    Registration said,
    URI base,
    boolean polled,
    KnowledgeNode node,
    Instant seen,
    long seenNanos,
    long lifeNanos,
    long restUntilNanos,
    boolean resting,
    @Nullable Instant told,
    @Nullable String trouble) {

  boolean alive(long now) {
    return lifeNanos > 0 && now - seenNanos <= lifeNanos;
  }

  /** Whether requests may be sent to it. */
  boolean serving(long now) {
    return alive(now) && !(resting && restUntilNanos - now > 0);
  }

  /** When {@link #serving} may change by itself next; {@code now} and the longest time at most. */
  long changesIn(long now) {
    long change = Long.MAX_VALUE;
    if (alive(now)) {
      change = lifeNanos - (now - seenNanos) + 1;
      if (resting && restUntilNanos - now > 0) {
        change = Math.min(change, restUntilNanos - now);
      }
    }
    return change;
  }

  NodeEntry with(KnowledgeNode other) {
    return copy(other, seen, seenNanos, lifeNanos, restUntilNanos, resting, told, trouble);
  }

  NodeEntry seen(Instant at, long nanos, long life) {
    return copy(node, at, nanos, life, restUntilNanos, resting, told, trouble);
  }

  /** It said what it has. */
  NodeEntry well(Instant at) {
    return copy(node, seen, seenNanos, lifeNanos, 0, false, at, null);
  }

  NodeEntry troubled(String why) {
    return copy(node, seen, seenNanos, lifeNanos, restUntilNanos, resting, told, why);
  }

  NodeEntry restingUntil(long nanos, String why) {
    return copy(node, seen, seenNanos, lifeNanos, nanos, true, told, why);
  }

  private NodeEntry copy(
      KnowledgeNode its,
      Instant at,
      long atNanos,
      long life,
      long restUntil,
      boolean rests,
      @Nullable Instant toldAt,
      @Nullable String why) {
    return new NodeEntry(said, base, polled, its, at, atNanos, life, restUntil, rests, toldAt, why);
  }
}

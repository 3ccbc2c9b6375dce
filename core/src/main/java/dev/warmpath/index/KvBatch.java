package dev.warmpath.index;

import java.util.List;

/**
 * Events that an engine told of one rank at once.
 *
 * @param sequence counts the rank's batches from 0 since its engine started; {@link #UNNUMBERED}
 *     where the engine does not count
 * @param epochSeconds when they were told, by the engine's clock; 0 where it does not say
 * @param events the events, in their order
 */
public record KvBatch(long sequence, double epochSeconds, List<KvEvent> events) {
  /** Of engines that don't count their batches. */
  public static final long UNNUMBERED = -1;

  /** Copies the events. */
  public KvBatch {
    events = List.copyOf(events);
  }
}

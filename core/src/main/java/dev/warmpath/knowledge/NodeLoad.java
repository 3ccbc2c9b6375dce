package dev.warmpath.knowledge;

import java.util.OptionalDouble;
import java.util.OptionalLong;

/**
 * The load that a knowledge delivery node reports. A field that it never reported is empty, which
 * is not the same as zero.
 *
 * @param items pieces of knowledge it serves, by its own count
 * @param requestsPerSecond mean over the last minute ({@code qps_1m})
 * @param pendingTransfers transfers that wait for its link
 * @param activeTransfers transfers under way
 * @param queueMillis smoothed time that a transfer waits ({@code network_queue_ms_ema})
 */
public record NodeLoad(
    OptionalLong items,
    OptionalDouble requestsPerSecond,
    OptionalLong pendingTransfers,
    OptionalLong activeTransfers,
    OptionalDouble queueMillis) {

  /** A node that has reported nothing. */
  public static final NodeLoad UNKNOWN =
      new NodeLoad(
          OptionalLong.empty(),
          OptionalDouble.empty(),
          OptionalLong.empty(),
          OptionalLong.empty(),
          OptionalDouble.empty());

  /** This load with whatever the newer report has, field by field: what is absent stays. */
  public NodeLoad updatedBy(NodeLoad newer) {
    return new NodeLoad(
        newer.items.isPresent() ? newer.items : items,
        newer.requestsPerSecond.isPresent() ? newer.requestsPerSecond : requestsPerSecond,
        newer.pendingTransfers.isPresent() ? newer.pendingTransfers : pendingTransfers,
        newer.activeTransfers.isPresent() ? newer.activeTransfers : activeTransfers,
        newer.queueMillis.isPresent() ? newer.queueMillis : queueMillis);
  }
}

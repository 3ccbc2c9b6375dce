package dev.warmpath.knowledge;

import java.util.OptionalDouble;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * From which value on a node counts as overloaded; a threshold of zero is off. A value that the
 * node never reported reaches no threshold.
 *
 * @param requestsPerSecond of {@link NodeLoad#requestsPerSecond}
 * @param items of {@link NodeLoad#items}
 * @param pendingTransfers of {@link NodeLoad#pendingTransfers}
 * @param activeTransfers of {@link NodeLoad#activeTransfers}
 * @param queueMillis of {@link NodeLoad#queueMillis}
 */
public record OverloadThresholds(
    double requestsPerSecond,
    long items,
    long pendingTransfers,
    long activeTransfers,
    double queueMillis) {

  /** No threshold: only a node that says so itself is overloaded. */
  public static final OverloadThresholds OFF = new OverloadThresholds(0, 0, 0, 0, 0);

  /** Refuses what is not a number. */
  public OverloadThresholds {
    if (Double.isNaN(requestsPerSecond) || Double.isNaN(queueMillis)) {
      throw new IllegalArgumentException("an overload threshold must be a number");
    }
  }

  /** Why a node counts as overloaded; null where it doesn't. */
  @Nullable String reason(KnowledgeNode node) {
    NodeLoad load = node.load();
    if (node.declaredOverloaded()) {
      return "it says so";
    }
    if (reached(load.requestsPerSecond(), requestsPerSecond)) {
      return "qps_1m";
    }
    if (reached(load.items(), items)) {
      return "items";
    }
    if (reached(load.pendingTransfers(), pendingTransfers)) {
      return "pending_transfers";
    }
    if (reached(load.activeTransfers(), activeTransfers)) {
      return "active_transfers";
    }
    return reached(load.queueMillis(), queueMillis) ? "network_queue_ms_ema" : null;
  }

  private static boolean reached(OptionalDouble value, double threshold) {
    return threshold > 0 && value.isPresent() && value.getAsDouble() >= threshold;
  }

  private static boolean reached(OptionalLong value, long threshold) {
    return threshold > 0 && value.isPresent() && value.getAsLong() >= threshold;
  }
}

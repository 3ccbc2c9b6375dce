package dev.warmpath.knowledge;

import java.util.OptionalDouble;
import java.util.OptionalInt;

/**
 * The link between a target and a node: measured, or graded by an operator. Both vocabularies may
 * be given; which one decides is said by {@link StageOrder}.
 *
 * @param bandwidthMbps megabits a second; zero says that the node can't be reached
 * @param latencyMillis round trip
 * @param bandwidthTier an operator's grade, higher is better
 * @param latencyTier an operator's grade, lower is better, 0 is the best
 */
public record KnowledgeLink(
    OptionalDouble bandwidthMbps,
    OptionalDouble latencyMillis,
    OptionalInt bandwidthTier,
    OptionalInt latencyTier) {

  /** What is known of the way between a target and a node that no link was told of. */
  public static final KnowledgeLink NONE =
      new KnowledgeLink(
          OptionalDouble.empty(), OptionalDouble.empty(), OptionalInt.empty(), OptionalInt.empty());

  private static final int WORST_TIER = 999;
  private static final double WORST_LATENCY_MILLIS = 1e9;

  /** A measured link. */
  public static KnowledgeLink measured(double bandwidthMbps, double latencyMillis) {
    return new KnowledgeLink(
        OptionalDouble.of(bandwidthMbps),
        OptionalDouble.of(latencyMillis),
        OptionalInt.empty(),
        OptionalInt.empty());
  }

  /** A graded link. */
  public static KnowledgeLink graded(int bandwidthTier, int latencyTier) {
    return new KnowledgeLink(
        OptionalDouble.empty(),
        OptionalDouble.empty(),
        OptionalInt.of(bandwidthTier),
        OptionalInt.of(latencyTier));
  }

  boolean graded() {
    return bandwidthTier.isPresent() || latencyTier.isPresent();
  }

  double bandwidthOrNone() {
    return bandwidthMbps.orElse(0);
  }

  double latencyOrWorst() {
    return latencyMillis.orElse(WORST_LATENCY_MILLIS);
  }

  int bandwidthTierOrWorst() {
    return bandwidthTier.orElse(0);
  }

  /** The latency's grade. The original reads a literal 0 as absent, so as the worst. */
  int latencyTierOrWorst(boolean zeroIsWorst) {
    int tier = latencyTier.orElse(WORST_TIER);
    return tier == 0 && zeroIsWorst ? WORST_TIER : tier;
  }
}

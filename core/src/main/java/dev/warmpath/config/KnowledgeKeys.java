package dev.warmpath.config;

import static dev.warmpath.config.ConfigTypes.DECIMAL;
import static dev.warmpath.config.ConfigTypes.SWITCH;
import static dev.warmpath.config.ConfigTypes.count;
import static dev.warmpath.config.ConfigTypes.oneOf;

import dev.warmpath.knowledge.KnowledgeSettings;
import dev.warmpath.knowledge.LoadWindow;
import dev.warmpath.knowledge.OverloadThresholds;
import dev.warmpath.knowledge.StageOrder;

/** The keys of how the two stages of knowledge routing decide. */
record KnowledgeKeys(
    ConfigKey<StageOrder> order,
    ConfigKey<LoadWindow> window,
    ConfigKey<Double> nodeRequests,
    ConfigKey<Integer> nodeItems,
    ConfigKey<Integer> nodePending,
    ConfigKey<Integer> nodeActive,
    ConfigKey<Double> nodeQueue,
    ConfigKey<Double> loadRatioDelta,
    ConfigKey<Integer> inFlightDelta,
    ConfigKey<Double> gpuDelta,
    ConfigKey<Double> decay,
    ConfigKey<Integer> topK,
    ConfigKey<Boolean> strict,
    ConfigKey<Boolean> atInfo) {

  private static final int MANY = Integer.MAX_VALUE;

  /** Adds the keys. */
  static KnowledgeKeys in(ConfigTable table) {
    KnowledgeSettings standard = KnowledgeSettings.DEFAULT;
    OverloadThresholds off = standard.overload();
    String overload = "A knowledge node counts as overloaded from this on, which it reports as `";
    return new KnowledgeKeys(
        table.fixed(
            WhyFixed.KNOWLEDGE,
            "knowledge.order",
            oneOf(StageOrder.values()),
            standard.order(),
            "The second stage's order of steps. All of `knowledge` holds for what"
                + " `knowledge.enabled` makes and for a `KnowledgeRouting.Builder` of the"
                + " application's, which wins over it."),
        table.fixed(
            WhyFixed.KNOWLEDGE,
            "knowledge.window",
            oneOf(LoadWindow.values()),
            standard.window(),
            "By what targets are found not to be much busier than the least busy one."),
        table.fixed(
            WhyFixed.KNOWLEDGE,
            "knowledge.overload.qps_1m",
            DECIMAL,
            off.requestsPerSecond(),
            overload + "qps_1m`; 0 never."),
        table.fixed(
            WhyFixed.KNOWLEDGE,
            "knowledge.overload.items",
            count(0, MANY),
            (int) off.items(),
            overload + "items`; 0 never."),
        table.fixed(
            WhyFixed.KNOWLEDGE,
            "knowledge.overload.pending_transfers",
            count(0, MANY),
            (int) off.pendingTransfers(),
            overload + "pending_transfers`; 0 never."),
        table.fixed(
            WhyFixed.KNOWLEDGE,
            "knowledge.overload.active_transfers",
            count(0, MANY),
            (int) off.activeTransfers(),
            overload + "active_transfers`; 0 never."),
        table.fixed(
            WhyFixed.KNOWLEDGE,
            "knowledge.overload.queue_ms",
            DECIMAL,
            off.queueMillis(),
            overload + "network_queue_ms_ema`; 0 never."),
        table.fixed(
            WhyFixed.KNOWLEDGE,
            "knowledge.load_ratio_delta",
            DECIMAL,
            standard.loadRatioDelta(),
            "By how much a target's requests in flight over its capacity may exceed the least,"
                + " with `window: ratio`."),
        table.fixed(
            WhyFixed.KNOWLEDGE,
            "knowledge.in_flight_delta",
            count(0, MANY),
            standard.inFlightDelta(),
            "By how many requests in flight it may, with `window: in_flight`."),
        table.fixed(
            WhyFixed.KNOWLEDGE,
            "knowledge.gpu_delta",
            DECIMAL,
            standard.gpuDelta(),
            "By how many percent its GPU utilisation may; 0 for not looking at it."),
        table.fixed(
            WhyFixed.KNOWLEDGE,
            "knowledge.affinity_decay",
            DECIMAL,
            standard.affinityDecay(),
            "What is left, at each decision, of the memory of who was given what: 0 to below 1."),
        table.fixed(
            WhyFixed.KNOWLEDGE,
            "knowledge.affinity_top_k",
            count(0, MANY),
            standard.affinityTopK(),
            "How many pieces of knowledge are remembered of each target; 0 for all."),
        table.fixed(
            WhyFixed.KNOWLEDGE,
            "knowledge.strict_reference",
            SWITCH,
            standard.strictReference(),
            "Decides as CacheRoute v0.1.9 does, oddities included."),
        table.fixed(
            WhyFixed.KNOWLEDGE,
            "knowledge.decisions_at_info",
            SWITCH,
            false,
            "Logs each decision's line at INFO rather than DEBUG."));
  }

  /** The settings that were written. */
  KnowledgeSettings read(ConfigValues values) {
    return KnowledgeSettings.builder()
        .order(values.get(order))
        .window(values.get(window))
        .overload(
            new OverloadThresholds(
                values.get(nodeRequests),
                values.get(nodeItems),
                values.get(nodePending),
                values.get(nodeActive),
                values.get(nodeQueue)))
        .loadRatioDelta(values.get(loadRatioDelta))
        .inFlightDelta(values.get(inFlightDelta))
        .gpuDelta(values.get(gpuDelta))
        .affinityDecay(values.get(decay))
        .affinityTopK(values.get(topK))
        .strictReference(values.get(strict))
        .build();
  }
}

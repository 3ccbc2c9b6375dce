package dev.warmpath.fake.live;

import dev.warmpath.fake.scheduler.CoreMetrics;

/**
 * What a rank last published about itself.
 *
 * @param metrics the scheduler's state at the last pass boundary or start
 * @param tokensPerSecond recent generation throughput
 * @param passes forward passes since the rank started
 */
public record RankSnapshot(CoreMetrics metrics, double tokensPerSecond, long passes) {}

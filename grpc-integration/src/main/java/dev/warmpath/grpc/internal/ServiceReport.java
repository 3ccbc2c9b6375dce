package dev.warmpath.grpc.internal;

import dev.warmpath.worker.WorkerCapabilities;
import org.jspecify.annotations.Nullable;

/**
 * What a worker's service says of itself.
 *
 * @param capabilities what the worker is
 * @param incarnation a value that changes when it restarts, or null
 * @param facts what requests need to know of its model
 */
public record ServiceReport(
    WorkerCapabilities capabilities, @Nullable String incarnation, ModelFacts facts) {}

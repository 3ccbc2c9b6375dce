package dev.warmpath.transport;

import dev.warmpath.worker.WorkerCapabilities;
import org.jspecify.annotations.Nullable;

/**
 * What a probe found.
 *
 * @param capabilities what the worker is
 * @param incarnation a value that changes when the worker restarts, or null where the engine offers
 *     none
 */
public record ProbeReport(WorkerCapabilities capabilities, @Nullable String incarnation) {}

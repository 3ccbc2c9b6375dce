package dev.warmpath.transport;

import dev.warmpath.worker.WorkerCapabilities;
import org.jspecify.annotations.Nullable;

/**
 * What a probe found.
 *
 * @param capabilities what the worker is
 * @param incarnation a value that changes when the worker restarts, or null where the engine offers
 *     none
 * @param unfinished whether something was not told that will be soon, such as the ids of engines
 *     that are still starting: the probe is repeated sooner then
 */
public record ProbeReport(
    WorkerCapabilities capabilities, @Nullable String incarnation, boolean unfinished) {

  /** A probe that found all there is. */
  public ProbeReport(WorkerCapabilities capabilities, @Nullable String incarnation) {
    this(capabilities, incarnation, false);
  }
}

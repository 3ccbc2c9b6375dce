package dev.warmpath.config;

import dev.warmpath.worker.WorkerDiscovery;

/** A source of workers as a configuration names it; two that say the same are equal. */
public interface DiscoverySource {
  /** The name of what it opens. */
  String name();

  /** A new discovery; whoever opens it starts and closes it. */
  WorkerDiscovery open();
}

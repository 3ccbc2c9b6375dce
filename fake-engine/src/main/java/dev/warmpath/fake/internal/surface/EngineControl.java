package dev.warmpath.fake.internal.surface;

import java.time.Duration;

/** What a surface can do to the process it belongs to. Thread-safe and non-blocking. */
public interface EngineControl {

  /**
   * Runs something later on the server's thread.
   *
   * @param delay how much later
   * @param action must not block
   */
  void schedule(Duration delay, Runnable action);

  /** Restarts the engine: connections are reset, the cache is lost, the port stays. */
  void restart();

  /** Starts to refuse connections, until the faults are cleared. */
  void refuse();
}

package dev.warmpath.worker;

import java.util.Collection;

/**
 * A source that knows which workers exist and pushes a whole new list whenever that changes. The
 * client gives it its listener once, before anything else, and closes it with itself.
 */
public interface WorkerDiscovery extends AutoCloseable {
  /** A short name, unique in a client, for views and logs. */
  String name();

  /**
   * Begins to push. Called once; must not block on the network: the first list may come later, on
   * any thread.
   *
   * @param listener takes lists and failures; thread safe
   */
  void start(Listener listener);

  /** Stops pushing and frees threads and files. Idempotent. */
  @Override
  void close();

  /** Where a source pushes to. */
  interface Listener {
    /**
     * The workers that exist now, all of them; ones that the last list had and this one has not are
     * gone.
     */
    void onWorkers(Collection<WorkerSpec> workers);

    /** The source can't say at the moment; the last list stays in force. */
    void onError(Exception error);
  }
}

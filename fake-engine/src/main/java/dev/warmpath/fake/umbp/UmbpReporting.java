package dev.warmpath.fake.umbp;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * How a fake engine tells a UMBP master of its cache, as the feeder of a real one does from the
 * engine's KV events (sglang {@code umbp_store.py}; the KV event bridge of the EmbeddedLLM fork of
 * vLLM): each rank registers as a node, sends heartbeats, and reports and revokes blocks by their
 * keys. A report that fails is not repeated, and an engine that dies tells nothing.
 *
 * @param master the master's {@code host:port}
 * @param nodeId the node's id; null for the engine's URL. Where there are several ranks, {@code #}
 *     and the rank follow
 */
public record UmbpReporting(String master, @Nullable String nodeId) {
  /** Checks that there is a master. */
  public UmbpReporting {
    Objects.requireNonNull(master, "master");
  }

  /**
   * Reports to a master under the engine's URL.
   *
   * @param master the master's {@code host:port}
   * @return how it is told
   */
  public static UmbpReporting to(String master) {
    return new UmbpReporting(master, null);
  }

  /**
   * The same where it is known where the engine listens.
   *
   * @param url the engine's URL
   * @return with a node id
   */
  public UmbpReporting at(String url) {
    return nodeId == null ? new UmbpReporting(master, url) : this;
  }
}

package dev.warmpath.index;

import dev.warmpath.worker.Topology;
import dev.warmpath.worker.WorkerId;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * Finds the worker that a store's node is. Thread safe; what it says of a node is remembered until
 * the topology changes.
 */
@FunctionalInterface
public interface NodeIdResolver {
  /**
   * Finds a worker.
   *
   * @param nodeId the store's name of the node
   * @param peerAddress where the node's peers reach it, or empty
   * @param topology the workers there are
   * @return null where it is none of them, or can't be told which
   */
  @Nullable Target resolve(String nodeId, String peerAddress, Topology topology);

  /**
   * A worker, or a rank of it.
   *
   * @param worker the worker
   * @param rank its data-parallel rank; empty where the node stands for all of them
   */
  record Target(WorkerId worker, OptionalInt rank) {
    /** A worker with all of its ranks. */
    public static Target of(WorkerId worker) {
      return new Target(worker, OptionalInt.empty());
    }
  }

  /** {@link NodeIdMap} without entries. */
  static NodeIdResolver standard() {
    return NodeIdMap.builder().build();
  }
}

package dev.warmpath.knowledge;

import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * What may answer a request: a worker, or a group of workers behind one name (CacheRoute's proxy).
 *
 * @param id its id, unique among targets
 * @param inFlight requests that it works on
 * @param capacity requests that it may work on at once, empty where unknown
 * @param requestsPerSecond mean over the last minute, empty where unknown
 * @param gpuUtilisation in percent, empty where unknown
 * @param links links to nodes, by the node's id or address
 */
public record KnowledgeTarget(
    String id,
    int inFlight,
    OptionalInt capacity,
    OptionalDouble requestsPerSecond,
    OptionalDouble gpuUtilisation,
    Map<String, KnowledgeLink> links) {

  /** Copies the links. A capacity of zero or less is an unknown one. */
  public KnowledgeTarget {
    if (inFlight < 0) {
      throw new IllegalArgumentException("requests in flight must be 0 or more, not " + inFlight);
    }
    if (capacity.isPresent() && capacity.getAsInt() <= 0) {
      capacity = OptionalInt.empty();
    }
    links = Map.copyOf(links);
  }

  /** The link to a node, {@link KnowledgeLink#NONE} where none was told of. */
  public KnowledgeLink linkTo(@Nullable KnowledgeNode node) {
    if (node == null) {
      return KnowledgeLink.NONE;
    }
    KnowledgeLink link = links.get(node.id());
    if (link == null) {
      link = links.get(node.address());
    }
    return link == null ? KnowledgeLink.NONE : link;
  }
}

package dev.warmpath.config;

import static dev.warmpath.config.ConfigTypes.texts;

import dev.warmpath.index.NodeIdMap;
import dev.warmpath.worker.WorkerId;

/** The worker, or the rank of it, that a node of an index outside of the client is. */
record LookupNode(String worker, int rank) {
  private static final int ALL = -1;

  static final ConfigType<String> TYPE = texts("worker address", "", LookupNode::parse);

  static LookupNode parse(String text) {
    int hash = text.lastIndexOf('#');
    LookupNode node =
        new LookupNode(
            hash < 0 ? text : text.substring(0, hash),
            hash < 0 ? ALL : rank(text.substring(hash + 1)));
    var unused = WorkerId.parse(node.worker);
    return node;
  }

  private static int rank(String text) {
    try {
      return Integer.parseUnsignedInt(text);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("#" + text + " is no rank: use a whole number", e);
    }
  }

  void tell(NodeIdMap.Builder map, String id) {
    if (rank == ALL) {
      map.node(id, worker);
    } else {
      map.node(id, worker, rank);
    }
  }
}

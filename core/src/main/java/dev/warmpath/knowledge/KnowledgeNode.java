package dev.warmpath.knowledge;

import java.util.Map;

/**
 * A knowledge delivery node (KDN) at one moment.
 *
 * @param id its id, unique among nodes
 * @param address {@code kdn://host:port}, the other name under which links to it are told
 * @param items what it has, by {@linkplain KnowledgeIds#canonical canonical} id
 * @param load what it reported of its load
 * @param declaredOverloaded whether it says of itself that it is overloaded
 */
public record KnowledgeNode(
    String id,
    String address,
    Map<String, KnowledgeItem> items,
    NodeLoad load,
    boolean declaredOverloaded) {

  /** Copies the items. */
  public KnowledgeNode {
    items = Map.copyOf(items);
  }

  /** The address of a node at a host and port. */
  public static String addressOf(String host, int port) {
    return "kdn://" + host + ":" + port;
  }
}

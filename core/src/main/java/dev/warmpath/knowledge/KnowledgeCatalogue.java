package dev.warmpath.knowledge;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The nodes of one moment and, for each piece of knowledge, who has it: the union over all nodes.
 * Made when what nodes tell has changed, and asked by every decision. Immutable.
 */
public final class KnowledgeCatalogue {

  /** No nodes. */
  public static final KnowledgeCatalogue EMPTY = of(List.of());

  private final List<KnowledgeNode> nodes;
  private final int[] positions;
  private final Map<String, Piece> pieces;

  /**
   * Who has one piece.
   *
   * @param length its characters, by the first node that has it; at least 1
   * @param kvLengths for each node, by its position, the characters whose KV it can deliver, {@link
   *     #MISSING} where it doesn't have the piece
   */
  record Piece(int length, int[] kvLengths) {

    static final int MISSING = -1;
  }

  private KnowledgeCatalogue(
      List<KnowledgeNode> nodes, int[] positions, Map<String, Piece> pieces) {
    this.nodes = nodes;
    this.positions = positions;
    this.pieces = pieces;
  }

  /** The catalogue of nodes with different ids. */
  public static KnowledgeCatalogue of(List<KnowledgeNode> nodes) {
    List<KnowledgeNode> copy = List.copyOf(nodes);
    Map<String, Piece> pieces = new HashMap<>();
    for (int n = 0; n < copy.size(); n++) {
      for (Map.Entry<String, KnowledgeItem> entry : copy.get(n).items().entrySet()) {
        KnowledgeItem item = entry.getValue();
        Piece piece =
            pieces.computeIfAbsent(entry.getKey(), id -> held(item.length(), copy.size()));
        piece.kvLengths[n] = item.kvReady() ? item.length() : 0;
      }
    }
    return new KnowledgeCatalogue(copy, IntStream.range(0, copy.size()).toArray(), pieces);
  }

  /**
   * The same pieces with some of the nodes only, and what is known of these now. Costs nothing that
   * grows with the pieces.
   *
   * @param present nodes with ids and pieces of this catalogue's
   */
  KnowledgeCatalogue showing(Collection<KnowledgeNode> present) {
    Map<String, Integer> known = new HashMap<>();
    for (int n = 0; n < nodes.size(); n++) {
      known.put(nodes.get(n).id(), positions[n]);
    }
    List<KnowledgeNode> shown = new ArrayList<>(present.size());
    int[] at = new int[present.size()];
    for (KnowledgeNode node : present) {
      Integer position = known.get(node.id());
      if (position != null) {
        at[shown.size()] = position;
        shown.add(node);
      }
    }
    return new KnowledgeCatalogue(List.copyOf(shown), Arrays.copyOf(at, shown.size()), pieces);
  }

  private static Piece held(int length, int nodes) {
    int[] kvLengths = new int[nodes];
    Arrays.fill(kvLengths, Piece.MISSING);
    return new Piece(Math.max(1, length), kvLengths);
  }

  /** The nodes, in the order given. */
  public List<KnowledgeNode> nodes() {
    return nodes;
  }

  /** Where {@link Piece#kvLengths} has the n-th node. */
  int position(int n) {
    return positions[n];
  }

  /** The ids of all pieces. */
  Set<String> ids() {
    return pieces.keySet();
  }

  /** How many different pieces of knowledge there are. */
  public int size() {
    return pieces.size();
  }

  /** Who has a piece, by canonical id; null where nobody does. */
  @Nullable Piece piece(String id) {
    return pieces.get(id);
  }
}

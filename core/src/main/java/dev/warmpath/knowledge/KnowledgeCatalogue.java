package dev.warmpath.knowledge;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The nodes of one moment and, for each piece of knowledge, who has it: the union over all nodes.
 * Made when what nodes tell has changed, and asked by every decision. Immutable.
 */
public final class KnowledgeCatalogue {

  /** No nodes. */
  public static final KnowledgeCatalogue EMPTY = of(List.of());

  private final List<KnowledgeNode> nodes;
  private final Map<String, Piece> pieces;

  /**
   * Who has one piece.
   *
   * @param length its characters, by the first node that has it; at least 1
   * @param kvLengths for each node the characters whose KV it can deliver, {@link #MISSING} where
   *     it doesn't have the piece
   */
  record Piece(int length, int[] kvLengths) {

    static final int MISSING = -1;
  }

  private KnowledgeCatalogue(List<KnowledgeNode> nodes, Map<String, Piece> pieces) {
    this.nodes = nodes;
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
    return new KnowledgeCatalogue(copy, pieces);
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

  /** How many different pieces of knowledge there are. */
  public int size() {
    return pieces.size();
  }

  /** Who has a piece, by canonical id; null where nobody does. */
  @Nullable Piece piece(String id) {
    return pieces.get(id);
  }
}

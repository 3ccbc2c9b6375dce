package dev.warmpath.knowledge;

import dev.warmpath.knowledge.KnowledgeCatalogue.Piece;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalDouble;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The first stage: which node delivers. Nodes with all of the text, then those that are not
 * overloaded, then those that can deliver most KV, then those that miss least, then the least
 * loaded; the smallest id breaks ties. Nobody where nobody has any of what is wanted: links to a
 * node that delivers nothing must not decide who answers. Immutable.
 */
final class NodeStage {

  private final KnowledgeSettings settings;

  NodeStage(KnowledgeSettings settings) {
    this.settings = settings;
  }

  /** What the stage found. */
  record Choice(
      List<NodeCandidate> candidates, List<KnowledgeStep> steps, @Nullable KnowledgeNode node) {

    long overloaded() {
      return candidates.stream().filter(NodeCandidate::overloaded).count();
    }
  }

  Choice choose(KnowledgeCatalogue catalogue, List<@Nullable Piece> wanted) {
    List<KnowledgeNode> nodes = catalogue.nodes();
    List<NodeCandidate> candidates = new ArrayList<>(nodes.size());
    for (int n = 0; n < nodes.size(); n++) {
      candidates.add(look(nodes.get(n), catalogue.position(n), wanted));
    }
    if (unknown(wanted, candidates)) {
      return new Choice(candidates, List.of(), null);
    }
    Funnel<NodeCandidate> funnel = new Funnel<>(candidates, candidate -> candidate.node().id());
    funnel.prefer("text_full", NodeCandidate::textFull);
    funnel.prefer("not_overloaded", candidate -> !candidate.overloaded());
    funnel.least("kv_cover_len", candidate -> -candidate.kvCoverLength());
    funnel.least("missing_count", NodeCandidate::missingCount);
    funnel.narrow("load", this::leastLoaded);
    KnowledgeNode chosen =
        funnel.left().stream()
            .map(NodeCandidate::node)
            .min(Comparator.comparing(KnowledgeNode::id))
            .orElse(null);
    return new Choice(candidates, funnel.steps(), chosen);
  }

  /** Whether knowledge is wanted that no node has; the original chooses one even then. */
  private boolean unknown(List<@Nullable Piece> wanted, List<NodeCandidate> candidates) {
    return !settings.strictReference()
        && !wanted.isEmpty()
        && Funnel.all(candidates, candidate -> candidate.missingCount() == wanted.size());
  }

  private NodeCandidate look(KnowledgeNode node, int position, List<@Nullable Piece> wanted) {
    long covered = 0;
    int missing = 0;
    for (Piece piece : wanted) {
      int kvLength = piece == null ? Piece.MISSING : piece.kvLengths()[position];
      if (kvLength == Piece.MISSING) {
        missing++;
      } else {
        covered += kvLength;
      }
    }
    return new NodeCandidate(node, covered, missing, settings.overload().reason(node));
  }

  private List<NodeCandidate> leastLoaded(List<NodeCandidate> all) {
    List<NodeCandidate> calmest =
        least(all, candidate -> candidate.node().load().requestsPerSecond());
    return least(
        calmest,
        candidate -> {
          NodeLoad load = candidate.node().load();
          return load.items().isPresent()
              ? OptionalDouble.of((double) load.items().getAsLong())
              : OptionalDouble.empty();
        });
  }

  private List<NodeCandidate> least(
      List<NodeCandidate> all, Function<NodeCandidate, OptionalDouble> value) {
    return Reported.least(all, value, settings.strictReference());
  }
}

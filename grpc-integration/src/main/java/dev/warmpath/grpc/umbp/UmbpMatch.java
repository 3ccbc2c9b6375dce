package dev.warmpath.grpc.umbp;

import dev.warmpath.proto.umbp.ExternalKvNodeMatch;
import dev.warmpath.proto.umbp.MatchExternalKvResponse;
import dev.warmpath.proto.umbp.TierHashes;
import java.util.ArrayList;
import java.util.List;

/**
 * What a master says a node holds in one tier.
 *
 * @param node the node's id
 * @param peer where its peers reach it, or empty
 * @param tier {@code hbm}, {@code dram} or {@code ssd}; the number where it is none of these
 * @param hashes the keys, those that were asked for
 */
public record UmbpMatch(String node, String peer, String tier, List<String> hashes) {
  /** Copies the list. */
  public UmbpMatch {
    hashes = List.copyOf(hashes);
  }

  static List<UmbpMatch> of(MatchExternalKvResponse answer) {
    List<UmbpMatch> matches = new ArrayList<>();
    for (ExternalKvNodeMatch match : answer.getMatchesList()) {
      for (TierHashes tier : match.getHashesByTierList()) {
        matches.add(
            new UmbpMatch(
                match.getNodeId(),
                match.getPeerAddress(),
                label(tier.getTierValue()),
                tier.getHashesList()));
      }
    }
    return matches;
  }

  private static String label(int tier) {
    return switch (tier) {
      case 1 -> "hbm";
      case 2 -> "dram";
      case 3 -> "ssd";
      default -> Integer.toString(tier);
    };
  }
}

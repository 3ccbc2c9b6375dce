package dev.warmpath.grpc.umbp;

import dev.warmpath.index.BlockAnswer;
import dev.warmpath.index.BlockTiers;
import dev.warmpath.index.Tier;
import dev.warmpath.proto.umbp.ExternalKvNodeMatch;
import dev.warmpath.proto.umbp.MatchExternalKvResponse;
import dev.warmpath.proto.umbp.TierHashes;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a master told of a prompt's blocks, over several answers. The master matches any subset in
 * any order, names a hash as often as it was asked for, and in every tier it is in; here each block
 * of a node is in one tier, and what was not asked for is left out. One thread at a time.
 */
final class NodeBlocks {
  /** More nodes than any fleet has: what a master gone wrong can make of one answer is bounded. */
  private static final int MAX_NODES = 4_096;

  private final int blocks;
  private final KeyTable blockOfKey = new KeyTable();

  /** Blocks whose key an earlier block has, and that block; two of each. */
  private final List<Integer> repeats = new ArrayList<>();

  private final Map<String, BlockAnswer.Node> nodes = new LinkedHashMap<>();

  NodeBlocks(int blocks) {
    this.blocks = blocks;
  }

  /**
   * Takes note of a block's key.
   *
   * @return whether it is to be asked for: whether no earlier block has it
   */
  boolean ask(int block, String key) {
    int earlier = blockOfKey.put(key, block);
    if (earlier != KeyTable.NONE) {
      repeats.add(block);
      repeats.add(earlier);
    }
    return earlier == KeyTable.NONE;
  }

  /** Takes in an answer. */
  void add(MatchExternalKvResponse answer) {
    for (ExternalKvNodeMatch match : answer.getMatchesList()) {
      BlockAnswer.Node node = null;
      for (TierHashes hashes : match.getHashesByTierList()) {
        Tier tier = tier(hashes.getTierValue());
        for (String key : hashes.getHashesList()) {
          int block = blockOfKey.get(key);
          if (block == KeyTable.NONE) {
            continue; // not asked for
          }
          node = node == null ? node(match) : node;
          if (node != null) {
            node.blocks().add(block, tier);
          }
        }
      }
    }
    for (BlockAnswer.Node node : nodes.values()) {
      for (int i = 0; i < repeats.size(); i += 2) {
        Tier tier = node.blocks().tier(repeats.get(i + 1));
        if (tier != null) {
          node.blocks().add(repeats.get(i), tier);
        }
      }
    }
  }

  private BlockAnswer.@Nullable Node node(ExternalKvNodeMatch match) {
    BlockAnswer.Node known = nodes.get(match.getNodeId());
    if (known == null && nodes.size() < MAX_NODES) {
      known =
          new BlockAnswer.Node(match.getNodeId(), match.getPeerAddress(), new BlockTiers(blocks));
      nodes.put(match.getNodeId(), known);
    }
    return known;
  }

  /** The master passes on whatever number a node reports; one that is no tier is the worst. */
  private static Tier tier(int number) {
    return switch (number) {
      case 1 -> Tier.HBM;
      case 2 -> Tier.DRAM;
      default -> Tier.SSD;
    };
  }

  /** Whether a node holds all of the first blocks, so that the next ones are worth asking for. */
  boolean anyHoldsFirst(int count) {
    return nodes.values().stream().anyMatch(node -> node.blocks().run() >= count);
  }

  List<BlockAnswer.Node> nodes() {
    return List.copyOf(nodes.values());
  }
}

package dev.warmpath;

import dev.warmpath.dispatch.PrefixFeed;
import dev.warmpath.index.ByteRadixTree;
import dev.warmpath.index.PrefixMatches;
import dev.warmpath.index.PrefixNamespace;
import dev.warmpath.index.Speculation;
import dev.warmpath.policy.PrefixSource;
import dev.warmpath.prompt.Prompt;
import dev.warmpath.worker.Topology;
import dev.warmpath.worker.WorkerRank;
import dev.warmpath.worker.WorkerRegistry;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Connects the byte index to those who ask it (policies) and those who teach it (dispatch, and the
 * registry's news of capacities). Matched bytes become tokens by the prompt's own ratio.
 */
final class IndexFeed implements PrefixFeed, PrefixSource, WorkerRegistry.Listener {
  /**
   * Names come from requests, so the memory of spelled-out ones is bounded; beyond it they are
   * spelled each time.
   */
  private static final int MAX_NAMESPACES = 1_024;

  private final ByteRadixTree tree;
  private final ConcurrentHashMap<String, PrefixNamespace> namespaces = new ConcurrentHashMap<>();

  IndexFeed(ByteRadixTree tree) {
    this.tree = tree;
  }

  private PrefixNamespace namespace(Prompt prompt) {
    PrefixNamespace known = namespaces.get(prompt.namespace());
    if (known != null) {
      return known;
    }
    PrefixNamespace made = PrefixNamespace.of(prompt.namespace());
    if (namespaces.size() < MAX_NAMESPACES) {
      namespaces.put(prompt.namespace(), made);
    }
    return made;
  }

  @Override
  public Ticket dispatched(Prompt prompt, WorkerRank target) {
    byte[] bytes = prompt.bytes();
    if (bytes.length == 0) {
      return Ticket.NONE;
    }
    Speculation speculation =
        tree.dispatch(
            namespace(prompt), bytes, 0, bytes.length, target.holderId(), prompt.tokens());
    return new Ticket() {
      @Override
      public void confirm(@Nullable String answer) {
        speculation.confirm();
      }

      @Override
      public void withdraw() {
        speculation.withdraw();
      }
    };
  }

  @Override
  public void gone(WorkerRank rank) {
    tree.drop(rank.holderId());
  }

  @Override
  public void onChange(Topology before, Topology after) {
    for (WorkerRank rank : after.ranks()) {
      Long capacity = rank.worker().kvCapacityTokens();
      if (capacity != null) {
        tree.capacity(rank.holderId(), capacity);
      }
    }
  }

  @Override
  public Query newQuery() {
    return new Query() {
      private final PrefixMatches matches = new PrefixMatches();
      private double tokensPerByte;

      @Override
      public void match(Prompt prompt) {
        byte[] bytes = prompt.bytes();
        tokensPerByte = bytes.length == 0 ? 0 : (double) prompt.tokens() / bytes.length;
        tree.match(namespace(prompt), bytes, 0, bytes.length, matches);
      }

      @Override
      public int tokens(long holderId) {
        return (int) (matches.expected(holderId) * tokensPerByte);
      }
    };
  }
}

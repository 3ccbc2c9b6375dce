package dev.warmpath;

import dev.warmpath.dispatch.PrefixFeed;
import dev.warmpath.hash.BlockHashes;
import dev.warmpath.hash.HashNamespace;
import dev.warmpath.index.BlockIndex;
import dev.warmpath.index.BlockMatches;
import dev.warmpath.index.ByteRadixTree;
import dev.warmpath.index.PrefixMatches;
import dev.warmpath.index.PrefixNamespace;
import dev.warmpath.index.Speculation;
import dev.warmpath.index.Tier;
import dev.warmpath.policy.HomingFeedback;
import dev.warmpath.policy.PrefixSource;
import dev.warmpath.prompt.Prompt;
import dev.warmpath.worker.Topology;
import dev.warmpath.worker.WorkerRank;
import dev.warmpath.worker.WorkerRegistry;
import java.util.Arrays;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Connects the indexes to those who ask them (policies) and those who teach them (dispatch, and the
 * registry's news of capacities), and passes on to homing's statistics what dispatch tells. A
 * prompt with blocks of its own is looked up in the block index, any other byte by byte in the
 * radix tree, where matched bytes become tokens by its own ratio.
 */
final class IndexFeed implements PrefixFeed, PrefixSource, WorkerRegistry.Listener {
  /**
   * Names come from requests, so the memory of spelled-out ones is bounded; beyond it they are
   * spelled each time.
   */
  private static final int MAX_NAMESPACES = 1_024;

  private final ByteRadixTree tree;
  private final BlockIndex blocks;
  private final ConcurrentHashMap<String, PrefixNamespace> namespaces = new ConcurrentHashMap<>();

  /** Tokens of an engine's block by slot, 0 where it is not known; replaced whole. */
  private volatile int[] blockTokens = {};

  private volatile @Nullable HomingFeedback homing;
  private volatile int workers = 1;

  IndexFeed(ByteRadixTree tree, BlockIndex blocks) {
    this.tree = tree;
    this.blocks = blocks;
  }

  /** Sets who else learns of what is sent; before anything is. */
  void feeds(HomingFeedback feedback) {
    homing = feedback;
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
    HomingFeedback feedback = homing;
    HomingFeedback.Visit visit = feedback == null ? null : feedback.dispatched(prompt);
    return new SentPrompt(prompt, target.holderId(), visit);
  }

  /** A prompt on its way, and what its answer adds to what its worker holds. */
  private final class SentPrompt implements Ticket {
    private final Prompt prompt;
    private final long holder;
    private final HomingFeedback.@Nullable Visit visit;
    private final @Nullable Speculation speculation;

    SentPrompt(Prompt prompt, long holder, HomingFeedback.@Nullable Visit visit) {
      this.prompt = prompt;
      this.holder = holder;
      this.visit = visit;
      this.speculation = speculate(prompt, holder);
    }

    @Override
    public void confirm() {
      if (speculation != null) {
        speculation.confirm();
      }
    }

    @Override
    public void reported(int cachedTokens) {
      if (visit != null) {
        visit.served(cachedTokens, workers);
      }
    }

    @Override
    public void answered(String answer) {
      BlockHashes hashes = prompt.blocks();
      if (hashes == null) {
        return; // bytes tell nothing of what the engine will make of it in the next prompt
      }
      if (blocks.authoritative(holder, hashes.namespace())) {
        return;
      }
      BlockHashes held = prompt.blocksWith(answer);
      if (held != null && held.size() > hashes.size()) {
        blocks.stored(held, hashes.size(), held.size(), holder, Tier.HBM);
      }
    }

    @Override
    public void withdraw() {
      if (speculation != null) {
        speculation.withdraw();
      }
      if (visit != null) {
        visit.withdraw();
      }
    }
  }

  private @Nullable Speculation speculate(Prompt prompt, long holder) {
    BlockHashes hashes = prompt.blocks();
    if (hashes != null) {
      return blocks.dispatch(hashes, holder);
    }
    byte[] bytes = prompt.bytes();
    return bytes.length == 0
        ? null
        : tree.dispatch(namespace(prompt), bytes, 0, bytes.length, holder, prompt.tokens());
  }

  @Override
  public void gone(WorkerRank rank) {
    tree.drop(rank.holderId());
    blocks.drop(rank.holderId());
  }

  /**
   * A rank's cache was emptied, as its engine says.
   *
   * @param told whether the engine's own events tell of its blocks: then they do so in order
   */
  void emptied(WorkerRank rank, boolean told) {
    tree.clear(rank.holderId());
    if (!told) {
      blocks.clear(rank.holderId());
    }
  }

  @Override
  public void onChange(Topology before, Topology after) {
    int[] sizes = {};
    workers = Math.max(1, after.ranks().size());
    for (WorkerRank rank : after.ranks()) {
      long holder = rank.holderId();
      Long capacity = rank.worker().kvCapacityTokens();
      if (capacity != null) {
        tree.capacity(holder, capacity);
        blocks.capacity(holder, (int) Math.min(Integer.MAX_VALUE, capacity / PromptBlocks.TOKENS));
      }
      Integer size = rank.worker().blockSize();
      if (size != null) {
        int slot = WorkerRank.slotOf(holder);
        if (slot >= sizes.length) {
          sizes = Arrays.copyOf(sizes, Math.max(slot + 1, 2 * sizes.length));
        }
        sizes[slot] = size;
      }
    }
    blockTokens = sizes;
  }

  @Override
  public Query newQuery() {
    return new Query() {
      private final PrefixMatches byBytes = new PrefixMatches();
      private final BlockMatches byBlocks = new BlockMatches();
      private boolean exact;
      private double tokensPerByte;
      private int tokens;
      private @Nullable HashNamespace namespace;

      @Override
      public void match(Prompt prompt) {
        BlockHashes hashes = prompt.blocks();
        exact = hashes != null;
        tokens = prompt.tokens();
        if (hashes != null) {
          namespace = hashes.namespace();
          blocks.match(hashes, byBlocks);
          return;
        }
        byte[] bytes = prompt.bytes();
        tokensPerByte = bytes.length == 0 ? 0 : (double) tokens / bytes.length;
        tree.match(namespace(prompt), bytes, 0, bytes.length, byBytes);
      }

      @Override
      public int tokens(long holderId) {
        return exact
            ? PromptBlocks.found(byBlocks.blocks(holderId), tokens, engineBlock(holderId))
            : (int) (byBytes.expected(holderId) * tokensPerByte);
      }

      @Override
      public int tokens(long holderId, Tier worst) {
        return exact
            ? PromptBlocks.found(byBlocks.blocks(holderId, worst), tokens, engineBlock(holderId))
            : tokens(holderId);
      }

      @Override
      public boolean authoritative(long holderId) {
        HashNamespace of = namespace;
        return exact && of != null && blocks.authoritative(holderId, of);
      }

      @Override
      public boolean anyAuthoritative() {
        return blocks.anyAuthoritative();
      }
    };
  }

  private int engineBlock(long holderId) {
    int[] sizes = blockTokens;
    int slot = WorkerRank.slotOf(holderId);
    return slot < sizes.length ? sizes[slot] : 0;
  }
}

package dev.warmpath.index;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.hash.BlockHashes;
import dev.warmpath.hash.HashParams;
import dev.warmpath.hash.HashScheme;
import dev.warmpath.hash.HashSchemes;
import dev.warmpath.index.KvEvent.KvKeys;
import dev.warmpath.index.KvEvent.Removed;
import dev.warmpath.index.KvEvent.Stored;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/**
 * A million events of several engines, on a network that loses and doubles batches, from engines
 * that restart: in the end the index holds what the engines hold.
 */
class KvEventSoakTest {
  private static final int EVENTS = 1_000_000;
  private static final int RANKS = 4;
  private static final int BLOCK = 16;
  private static final int CAPACITY = 3_000;
  private static final int KEPT_BATCHES = 64;
  private static final HashScheme CONTENT =
      HashSchemes.content(HashParams.builder().blockSize(BLOCK).model("m").build());

  private final SplittableRandom random = new SplittableRandom(6);
  private final ManualTicker ticker = new ManualTicker();
  private final BlockIndex index = BlockIndex.builder().ticker(ticker).build();
  private final KvEventIndex feed = new KvEventIndex(index, BLOCK, 16 << 20);
  private final BlockMatches matches = new BlockMatches();
  private double seconds = 1;

  /** A block of an engine's cache. */
  private static final class Block {
    final long hash;
    final Block parent;
    final int[] tokens;
    int children;
    int place;

    Block(long hash, Block parent, int[] tokens) {
      this.hash = hash;
      this.parent = parent;
      this.tokens = tokens;
    }

    int depth() {
      int depth = 1;
      for (Block above = parent; above != null; above = above.parent) {
        depth++;
      }
      return depth;
    }

    int[] prompt() {
      int[] prompt = new int[depth() * BLOCK];
      int at = prompt.length;
      for (Block block = this; block != null; block = block.parent) {
        at -= BLOCK;
        System.arraycopy(block.tokens, 0, prompt, at, BLOCK);
      }
      return prompt;
    }
  }

  /** One rank: its cache, what it keeps for replays, and who listens to it. */
  private final class Engine {
    final long holder;
    final KvRank rank;
    final KvStream stream;
    final List<Block> resident = new ArrayList<>();
    final ArrayDeque<KvBatch> kept = new ArrayDeque<>();
    long next;
    long events;

    Engine(int slot) {
      holder = HolderIds.of(1, slot);
      rank = feed.rank(holder, "m");
      stream = new KvStream(rank);
    }

    /** Some blocks more, and as many less as there is no room for. */
    List<KvEvent> work() {
      List<KvEvent> told = new ArrayList<>();
      Block parent =
          resident.isEmpty() || random.nextInt(20) == 0
              ? null
              : resident.get(random.nextInt(resident.size()));
      int count = 1 + random.nextInt(4);
      long[] hashes = new long[count];
      int[] tokens = new int[count * BLOCK];
      Block above = parent;
      for (int i = 0; i < count; i++) {
        int[] own = new int[BLOCK];
        for (int t = 0; t < BLOCK; t++) {
          own[t] = random.nextInt(100_000);
        }
        Block block = new Block(random.nextLong(), above, own);
        hashes[i] = block.hash;
        System.arraycopy(own, 0, tokens, i * BLOCK, BLOCK);
        add(block);
        above = block;
      }
      long after = parent == null ? 0 : parent.hash;
      told.add(new Stored(hashes, parent == null, after, tokens, Tier.HBM, KvKeys.NONE));
      while (resident.size() > CAPACITY) {
        told.add(new Removed(new long[] {evict().hash}, Tier.HBM));
      }
      return told;
    }

    private void add(Block block) {
      block.place = resident.size();
      resident.add(block);
      if (block.parent != null) {
        block.parent.children++;
      }
    }

    private Block evict() {
      Block chosen = resident.get(random.nextInt(resident.size()));
      while (chosen.children > 0) {
        chosen = resident.get(random.nextInt(resident.size()));
      }
      Block last = resident.remove(resident.size() - 1);
      if (last != chosen) {
        last.place = chosen.place;
        resident.set(chosen.place, last);
      }
      if (chosen.parent != null) {
        chosen.parent.children--;
      }
      return chosen;
    }

    KvBatch publish(List<KvEvent> told) {
      seconds += 0.001;
      KvBatch batch = new KvBatch(next++, seconds, told);
      events += told.size();
      kept.addLast(batch);
      if (kept.size() > KEPT_BATCHES) {
        kept.removeFirst();
      }
      return batch;
    }

    void restart() {
      resident.clear();
      kept.clear();
      next = 0;
    }

    KvBatch flush() {
      resident.clear();
      return publish(List.of(new KvEvent.Cleared()));
    }

    void deliver(KvBatch batch) {
      boolean wanted = stream.live(batch);
      while (wanted) {
        long from = stream.replayFrom();
        for (KvBatch old : List.copyOf(kept)) {
          if (old.sequence() >= from) {
            stream.replayed(old);
          }
        }
        wanted = stream.replayEnded();
      }
    }
  }

  private void step(Engine engine) {
    int chance = random.nextInt(20_000);
    if (chance == 0) {
      engine.restart();
    } else if (chance < 3) {
      engine.deliver(engine.flush());
    } else if (chance < 6) {
      // More is lost than the engine keeps.
      for (int i = 0; i <= KEPT_BATCHES; i++) {
        engine.publish(engine.work());
      }
    }
    KvBatch batch = engine.publish(engine.work());
    boolean lost = random.nextInt(200) == 0;
    if (!lost) {
      engine.deliver(batch);
      if (random.nextInt(300) == 0) {
        engine.deliver(batch);
      }
    }
  }

  @Test
  void theIndexEndsWithWhatTheEnginesHold() {
    List<Engine> engines = new ArrayList<>();
    for (int slot = 0; slot < RANKS; slot++) {
      engines.add(new Engine(slot));
    }
    long told = 0;
    while (told < EVENTS) {
      for (Engine engine : engines) {
        step(engine);
      }
      told = engines.stream().mapToLong(engine -> engine.events).sum();
      ticker.advance(Duration.ofMillis(1));
    }
    long losses = 0;
    long gaps = 0;
    for (Engine engine : engines) {
      losses += engine.stream.stats().losses();
      gaps += engine.stream.stats().gaps();
      assertThat(engine.stream.stats().restarts()).isPositive();
      assertThat(engine.stream.stats().duplicates()).isPositive();
      engine.deliver(engine.publish(engine.work()));
      if (!engine.stream.stats().complete()) {
        engine.deliver(engine.flush());
        engine.deliver(engine.publish(engine.work()));
      }
      compare(engine);
    }
    assertThat(losses).isPositive();
    assertThat(gaps).isGreaterThan(losses);
    BlockAudit.audit(index);
  }

  private void compare(Engine engine) {
    assertThat(index.authoritative(engine.holder, CONTENT.namespace())).isTrue();
    assertThat(engine.rank.counts().blocks()).isEqualTo(engine.resident.size());
    int life = index.core.writer.lives.of(engine.holder);
    assertThat(index.core.writer.lives.holdings[life]).isEqualTo(engine.resident.size());
    for (Block block : engine.resident) {
      BlockHashes prompt = CONTENT.newChain().append(block.prompt()).hashes();
      index.match(prompt, matches);
      assertThat(matches.blocks(engine.holder)).isEqualTo(prompt.size());
    }
  }
}

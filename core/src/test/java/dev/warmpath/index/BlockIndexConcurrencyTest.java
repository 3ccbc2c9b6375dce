package dev.warmpath.index;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.hash.BlockHashes;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** Many readers and writers at once, bounded by counts. */
class BlockIndexConcurrencyTest {
  private static final int SLOTS = 6;
  private static final int CONVERSATIONS = 60;
  private static final int TURN = 8;
  private static final int TURNS = 8;

  private static final List<BlockHashes> PROMPTS = prompts();

  /** One turn that all have in common, and then a chain for each conversation. */
  private static List<BlockHashes> prompts() {
    List<BlockHashes> prompts = new ArrayList<>();
    for (int conversation = 0; conversation < CONVERSATIONS; conversation++) {
      String own = String.valueOf((char) (1_000 + conversation)).repeat(TURN * TURNS);
      prompts.add(Chains.of("-".repeat(TURN) + own));
    }
    return prompts;
  }

  /** Prompts are told to holders by a fixed rule, so that a reader can tell a true answer. */
  private static boolean mayHold(int slot, int conversation) {
    return (conversation + slot) % 3 != 0;
  }

  @Test
  void readersSeeNothingButTrueRunsWhileWritersStoreEvictAndDrop() throws Exception {
    BlockIndex index = BlockIndex.builder().budgetBytes(64 << 10).build();
    run(index, index::match);
  }

  private interface Reader {
    void match(BlockHashes hashes, BlockMatches out);
  }

  /** A reader that is never let alone counts only what was there when it looked. */
  @Test
  void readersThatGiveWaySeeNothingButTrueBlocks() throws Exception {
    BlockIndex index = BlockIndex.builder().budgetBytes(64 << 10).build();
    BlockReader hasty = new BlockReader(new Versions(), index.core.writer, 0);
    run(index, hasty::match);
  }

  private static void run(BlockIndex index, Reader reader) throws Exception {
    int writers = 2;
    int readers = 2;
    CyclicBarrier start = new CyclicBarrier(writers + readers);
    ExecutorService pool = Executors.newFixedThreadPool(writers + readers);
    List<Future<?>> done = new ArrayList<>();
    for (int w = 0; w < writers; w++) {
      Random random = new Random(w);
      done.add(
          pool.submit(
              () -> {
                start.await();
                for (int i = 0; i < 10_000; i++) {
                  write(index, random);
                }
                return null;
              }));
    }
    for (int r = 0; r < readers; r++) {
      Random random = new Random(100 + r);
      done.add(
          pool.submit(
              () -> {
                start.await();
                BlockMatches matches = new BlockMatches();
                for (int i = 0; i < 20_000; i++) {
                  int conversation = random.nextInt(CONVERSATIONS);
                  reader.match(PROMPTS.get(conversation), matches);
                  for (int m = 0; m < matches.size(); m++) {
                    long holder = matches.holderAt(m);
                    int slot = HolderIds.slot(holder);
                    assertThat(mayHold(slot, conversation) || matches.blocks(holder) <= TURN)
                        .as("only the common head of what it never got")
                        .isTrue();
                  }
                }
                return null;
              }));
    }
    for (Future<?> future : done) {
      future.get();
    }
    pool.shutdown();

    BlockIndex.Stats stats = index.stats();
    assertThat(stats.evicted()).as("there was pressure").isPositive();
    assertThat(stats.bytes()).isLessThanOrEqualTo(stats.budgetBytes());
    BlockAudit.audit(index);
  }

  private static void write(BlockIndex index, Random random) {
    int conversation = random.nextInt(CONVERSATIONS);
    int slot = random.nextInt(SLOTS);
    long holder = HolderIds.of(1, slot);
    int kind = random.nextInt(100);
    BlockHashes prompt = PROMPTS.get(conversation);
    if (kind == 0) {
      index.clear(holder);
    } else if (kind < 20) {
      int block = random.nextInt(prompt.size());
      index.removed(prompt.namespace(), new long[] {prompt.bits(block)}, holder, Tier.HBM);
    } else if (mayHold(slot, conversation)) {
      BlockHashes part = prompt.prefix(TURN * (1 + random.nextInt(TURNS)));
      if (kind < 60) {
        index.stored(part, 0, part.size(), holder, Tier.HBM);
      } else {
        Speculation speculation = index.dispatch(part, holder);
        if (kind < 85) {
          speculation.confirm();
        } else {
          speculation.withdraw();
        }
      }
    }
  }
}

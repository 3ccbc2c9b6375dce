package dev.warmpath.index;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** Many readers and writers at once, bounded by counts. */
class ByteRadixTreeConcurrencyTest {
  private static final PrefixNamespace NAMESPACE = PrefixNamespace.of("m");
  private static final int BLOCK = 64;
  private static final int SLOTS = 6;

  /** Prompts are told to holders by a fixed rule, so that a reader can tell a true answer. */
  private static boolean mayHold(int slot, int conversation) {
    return (conversation + slot) % 3 != 0;
  }

  private static byte[] prompt(int conversation, int turns) {
    byte[] prompt = new byte[BLOCK * (turns + 1)];
    for (int at = BLOCK; at < prompt.length; at++) {
      prompt[at] = (byte) (conversation * 31 + at / BLOCK);
    }
    return prompt;
  }

  @Test
  void readersSeeNothingButTruePrefixesWhileWritersInsertEvictAndDrop() throws Exception {
    ByteRadixTree tree = ByteRadixTree.builder().budgetBytes(64 << 10).build();
    int writers = 2;
    int readers = 2;
    int conversations = 200;
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
                  write(tree, random, conversations);
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
                PrefixMatches matches = new PrefixMatches();
                for (int i = 0; i < 20_000; i++) {
                  int conversation = random.nextInt(conversations);
                  byte[] prompt = prompt(conversation, 8);
                  tree.match(NAMESPACE, prompt, 0, prompt.length, matches);
                  for (int m = 0; m < matches.size(); m++) {
                    int matched = matches.matched(matches.holderAt(m));
                    assertThat(matched % BLOCK).as("whole turns only").isZero();
                    assertThat(mayHold(matches.slotAt(m), conversation) || matched == BLOCK)
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

    ByteRadixTree.Stats stats = tree.stats();
    assertThat(stats.evicted()).as("there was pressure").isPositive();
    assertThat(stats.bytes()).isLessThanOrEqualTo(stats.budgetBytes());
    TreeAudit.audit(tree);
  }

  private static void write(ByteRadixTree tree, Random random, int conversations) {
    int conversation = random.nextInt(conversations);
    int slot = random.nextInt(SLOTS);
    long holder = HolderIds.of(1, slot);
    int kind = random.nextInt(100);
    if (kind == 0) {
      tree.clear(holder);
    } else if (mayHold(slot, conversation)) {
      byte[] prompt = prompt(conversation, 1 + random.nextInt(8));
      if (kind < 50) {
        tree.insert(NAMESPACE, prompt, 0, prompt.length, holder);
      } else {
        Speculation speculation =
            tree.dispatch(NAMESPACE, prompt, 0, prompt.length, holder, prompt.length / 4);
        if (kind < 80) {
          speculation.confirm();
        } else {
          speculation.withdraw();
        }
      }
    }
  }
}

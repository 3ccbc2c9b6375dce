package dev.warmpath.index;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/**
 * A reader that gives way to updates, while what one block took up is another's now and then and
 * comes back to the first: it must not take the other's holders for the first one's.
 */
class BlockReaderReuseTest {
  private static final long FIRST = HolderIds.of(1, 0);
  private static final long BOTH = HolderIds.of(1, 1);
  private static final long OTHER = HolderIds.of(1, 2);
  private static final int ROUNDS = 50_000;

  /** A reader that gives way at once. */
  private final BlockCore core = new BlockCore(64 << 10, 0);

  private int tick;

  private void store(String text, long holder) {
    core.stored(Chains.of(text), 0, text.length(), holder, Tier.HBM, ++tick);
  }

  private void remove(String text, long holder) {
    long namespace = BlockKeys.namespace(Chains.MODEL.namespace());
    core.removed(namespace, Chains.bits(Chains.of(text)), holder, Tier.HBM, ++tick);
  }

  @Test
  void nobodyIsSaidToHoldWhatItNeverHeld() throws InterruptedException {
    store("a", FIRST);
    store("b", FIRST);
    store("a", BOTH);
    AtomicBoolean done = new AtomicBoolean();
    AtomicBoolean wrong = new AtomicBoolean();
    Thread reader =
        new Thread(
            () -> {
              BlockMatches matches = new BlockMatches();
              while (!done.get()) {
                core.match(Chains.of("a"), matches);
                if (matches.blocks(OTHER) != 0) {
                  wrong.set(true);
                }
              }
            });
    reader.start();
    for (int i = 0; i < ROUNDS && !wrong.get(); i++) {
      remove("a", BOTH);
      store("b", OTHER);
      remove("b", OTHER);
      store("a", BOTH);
    }
    done.set(true);
    reader.join();
    assertThat(wrong).isFalse();
  }
}

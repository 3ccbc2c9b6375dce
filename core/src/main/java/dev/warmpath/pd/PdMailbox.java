package dev.warmpath.pd;

import dev.warmpath.dispatch.PairDispatch;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/**
 * What a session has for the thread of its caller: decode legs to carry, and words. Any thread
 * posts, one takes; waiting goes by the client's clock.
 */
final class PdMailbox {

  /**
   * One thing.
   *
   * @param leg a decode leg to carry, or null
   * @param word what is told, where there is no leg
   */
  record Letter(@Nullable LegCall leg, PdAction.@Nullable Word word) {}

  private final Queue<Letter> letters = new ConcurrentLinkedQueue<>();
  private volatile CountDownLatch signal = new CountDownLatch(1);

  void post(Letter letter) {
    letters.add(letter);
    signal.countDown();
  }

  Letter take(PairDispatch request) throws InterruptedException {
    while (true) {
      Letter letter = letters.poll();
      if (letter != null) {
        return letter;
      }
      CountDownLatch next = new CountDownLatch(1);
      signal = next;
      letter = letters.poll();
      if (letter != null) {
        return letter;
      }
      request.await(next);
    }
  }
}

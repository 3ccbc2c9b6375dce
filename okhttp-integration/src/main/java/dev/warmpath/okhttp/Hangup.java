package dev.warmpath.okhttp;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Ends one exchange before its time, once: by the engine's own abort call first, where dropping the
 * connection alone would leave the request running and an abort that comes after the drop is not
 * understood. Thread safe; never blocks.
 */
final class Hangup {
  private final Runnable breakOff;
  private final AtomicBoolean begun = new AtomicBoolean();
  private final CompletableFuture<Void> dropped = new CompletableFuture<>();

  /**
   * Creates the end of an exchange.
   *
   * @param breakOff drops its connection; must not block
   */
  Hangup(Runnable breakOff) {
    this.breakOff = breakOff;
  }

  /**
   * Hangs up; does nothing the second time.
   *
   * @param abort makes the engine's abort call, which must end by itself; null for none
   */
  void begin(@Nullable Supplier<? extends CompletionStage<?>> abort) {
    if (!begun.compareAndSet(false, true)) {
      return;
    }
    if (abort == null) {
      drop();
      return;
    }
    try {
      var unused = abort.get().whenComplete((answer, error) -> drop());
    } catch (RuntimeException e) {
      drop();
    }
  }

  private void drop() {
    breakOff.run();
    dropped.complete(null);
  }

  /** Whether it has hung up, or is waiting for the abort's answer to do so. */
  boolean begun() {
    return begun.get();
  }

  /**
   * Runs what closes the connection: at once, or after a hang-up that is under way has dropped it.
   */
  void close(Runnable close) {
    if (begun.get()) {
      var unused = dropped.whenComplete((done, error) -> close.run());
    } else {
      close.run();
    }
  }
}

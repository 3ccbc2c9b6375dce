package dev.warmpath;

import dev.warmpath.dispatch.Dispatch;
import org.jspecify.annotations.Nullable;

/**
 * A call that runs on another thread, and may be cancelled before its dispatch exists. Thread safe.
 */
final class CancellableCall {
  private volatile @Nullable Dispatch dispatch;
  private volatile boolean cancelled;

  /** The dispatch began; it is cancelled at once if that was asked for meanwhile. */
  void begun(Dispatch begun) {
    dispatch = begun;
    if (cancelled) {
      begun.cancel();
    }
  }

  void cancel() {
    cancelled = true;
    Dispatch running = dispatch;
    if (running != null) {
      running.cancel();
    }
  }

  boolean cancelled() {
    return cancelled;
  }
}

package dev.warmpath.dispatch;

import dev.warmpath.api.RouterListener;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells every listener, and lets none disturb a request: what one throws is logged once. */
final class Listeners {
  private static final Logger log = LoggerFactory.getLogger(Listeners.class);

  private final RouterListener[] all;
  private final AtomicBoolean logged = new AtomicBoolean();

  Listeners(List<RouterListener> all) {
    this.all = all.toArray(new RouterListener[0]);
  }

  boolean isEmpty() {
    return all.length == 0;
  }

  void tell(Consumer<RouterListener> call) {
    for (RouterListener listener : all) {
      try {
        call.accept(listener);
      } catch (RuntimeException | Error e) {
        // An Error too: an AssertionError or a missing class in a listener must not leak a lease.
        if (logged.compareAndSet(false, true)) {
          log.warn(
              "Router listener {} failed; further failures are not logged",
              listener.getClass().getName(),
              e);
        }
      }
    }
  }
}

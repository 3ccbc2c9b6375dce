package dev.warmpath.dispatch;

import dev.warmpath.api.RouterListener;
import dev.warmpath.api.RouterListener.DeadLetter;
import dev.warmpath.api.RouterListener.RequestEvent;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.api.RouterTracer;
import dev.warmpath.api.RouterTracer.RequestTrace;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells every listener, and the tracer of each request, and lets none disturb a request: what one
 * throws is logged once.
 */
final class Listeners {
  private static final Logger log = LoggerFactory.getLogger(Listeners.class);

  private final RouterListener[] all;
  private final @Nullable RouterTracer tracer;
  private final AtomicBoolean logged = new AtomicBoolean();

  Listeners(List<RouterListener> all, @Nullable RouterTracer tracer) {
    this.all = all.toArray(new RouterListener[0]);
    this.tracer = tracer;
  }

  /** What follows a request that came {@code since} ago. */
  RequestTrace trace(RouterRequest request, Duration since) {
    RouterTracer by = tracer;
    return by == null
        ? RequestTrace.NONE
        : guarded(by, () -> by.begin(request, since), RequestTrace.NONE);
  }

  /**
   * Tells all of one event, which is made only where somebody listens.
   *
   * @param trace the request's own
   */
  void tell(
      RequestTrace trace,
      Supplier<RequestEvent> event,
      BiConsumer<RouterListener, RequestEvent> call) {
    if (all.length == 0 && RequestTrace.NONE.equals(trace)) {
      return;
    }
    RequestEvent made = event.get();
    for (RouterListener listener : all) {
      guard(listener, () -> call.accept(listener, made));
    }
    if (!RequestTrace.NONE.equals(trace)) {
      guard(trace, () -> call.accept(trace, made));
    }
  }

  /** Tells all of a request that finally failed. */
  void deadLetter(DeadLetter letter) {
    for (RouterListener listener : all) {
      guard(listener, () -> listener.onDeadLetter(letter));
    }
  }

  /** Runs what is a user's; what it throws goes no further. */
  void guard(Object whose, Runnable call) {
    Object unused =
        guarded(
            whose,
            () -> {
              call.run();
              return whose;
            },
            whose);
  }

  /** The same for what gives something: {@code otherwise} where it throws. */
  <T> T guarded(Object whose, Supplier<T> call, T otherwise) {
    try {
      return call.get();
    } catch (RuntimeException | Error e) {
      // An Error too: an AssertionError or a missing class in a listener must not leak a lease.
      if (logged.compareAndSet(false, true)) {
        log.warn(
            "Router listener {} failed; further failures are not logged",
            whose.getClass().getName(),
            e);
      }
      return otherwise;
    }
  }
}

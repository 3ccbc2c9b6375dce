package dev.warmpath.dispatch;

import dev.warmpath.api.RouterListener;
import dev.warmpath.api.RouterListener.DeadLetter;
import dev.warmpath.api.RouterListener.RequestEvent;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.api.RouterTracer;
import dev.warmpath.api.RouterTracer.RequestTrace;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
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

  /** What there is to hear of a request. */
  enum Moment {
    ROUTED(1, "onRouted"),
    ATTEMPT(2, "onAttempt"),
    FIRST_BYTE(4, "onFirstByte"),
    ATTEMPT_FAILED(8, "onAttemptFailed"),
    FINISHED(16, "onFinished");

    private final int bit;
    private final String method;

    Moment(int bit, String method) {
      this.bit = bit;
      this.method = method;
    }

    private void tell(RouterListener listener, RequestEvent event) {
      switch (this) {
        case ROUTED -> listener.onRouted(event);
        case ATTEMPT -> listener.onAttempt(event);
        case FIRST_BYTE -> listener.onFirstByte(event);
        case ATTEMPT_FAILED -> listener.onAttemptFailed(event);
        case FINISHED -> listener.onFinished(event);
      }
    }

    /** Whether it is among moments as {@link Listeners#heard} tells them. */
    boolean in(int moments) {
      return (moments & bit) != 0;
    }

    /** Whether a listener does anything then: an event is a decision's copy, and not for nobody. */
    private boolean heardBy(Class<?> listener) {
      try {
        return listener.getMethod(method, RequestEvent.class).getDeclaringClass()
            != RouterListener.class;
      } catch (NoSuchMethodException e) {
        return true; // where methods can't be looked up, all are called
      }
    }
  }

  /** The moments at which a class of traces does anything: an application has one or two. */
  private static final ClassValue<Integer> TRACED =
      new ClassValue<>() {
        @Override
        protected Integer computeValue(Class<?> trace) {
          int heard = 0;
          for (Moment moment : Moment.values()) {
            if (moment.heardBy(trace)) {
              heard |= moment.bit;
            }
          }
          return heard;
        }
      };

  private final RouterListener[] all;

  private final Map<Moment, RouterListener[]> hearing = new EnumMap<>(Moment.class);
  private final int heard;
  private final RequestMeter[] meters;
  private final @Nullable RouterTracer tracer;
  private final AtomicBoolean logged = new AtomicBoolean();

  Listeners(List<RouterListener> all, @Nullable RouterTracer tracer) {
    this.all = all.toArray(new RouterListener[0]);
    int moments = 0;
    for (Moment moment : Moment.values()) {
      RouterListener[] listeners =
          all.stream()
              .filter(listener -> moment.heardBy(listener.getClass()))
              .toArray(RouterListener[]::new);
      hearing.put(moment, listeners);
      moments |= listeners.length > 0 ? moment.bit : 0;
    }
    this.heard = moments;
    this.meters =
        all.stream()
            .filter(RequestMeter.class::isInstance)
            .map(RequestMeter.class::cast)
            .toArray(RequestMeter[]::new);
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
   * The moments of which somebody hears, each a bit: at others there is no need of an event.
   *
   * @param trace the request's own
   */
  int heard(RequestTrace trace) {
    return trace == RequestTrace.NONE ? heard : heard | TRACED.get(trace.getClass());
  }

  /**
   * Tells who hears of a moment.
   *
   * @param trace the request's own
   */
  void tell(Moment moment, RequestTrace trace, RequestEvent event) {
    for (RouterListener listener : Objects.requireNonNull(hearing.get(moment))) {
      call(moment, listener, event);
    }
    if (trace != RequestTrace.NONE) {
      call(moment, trace, event);
    }
  }

  /** Who counts without events; not to be changed. */
  RequestMeter[] meters() {
    return meters;
  }

  private void call(Moment moment, RouterListener listener, RequestEvent event) {
    try {
      moment.tell(listener, event);
    } catch (RuntimeException | Error e) {
      failed(listener, e);
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
    try {
      call.run();
    } catch (RuntimeException | Error e) {
      failed(whose, e);
    }
  }

  /** The same for what gives something: {@code otherwise} where it throws. */
  <T> T guarded(Object whose, Supplier<T> call, T otherwise) {
    try {
      return call.get();
    } catch (RuntimeException | Error e) {
      failed(whose, e);
      return otherwise;
    }
  }

  /** An Error too: an AssertionError or a missing class in a listener must not leak a lease. */
  private void failed(Object whose, Throwable e) {
    if (logged.compareAndSet(false, true)) {
      log.warn(
          "Router listener {} failed; further failures are not logged",
          whose.getClass().getName(),
          e);
    }
  }
}

package dev.warmpath.dispatch;

import dev.warmpath.api.RequestCancelledException;
import dev.warmpath.api.RouterException;
import dev.warmpath.api.RouterStream;
import dev.warmpath.api.StreamEvent;
import java.util.concurrent.Executor;
import java.util.concurrent.Flow;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Feeds one subscriber from a stream, as far as it asks (Reactive Streams 1.0.4 as {@link Flow}
 * states it): signals are serial, demand adds up, a demand below 1 is an error, cancelling closes
 * the stream. Reading blocks a thread of the executor while there is demand, and none while there
 * is not.
 */
final class StreamSubscription implements Flow.Subscription {
  private final RouterStream stream;
  private final Flow.Subscriber<? super StreamEvent> subscriber;
  private final Executor executor;

  /** Events asked for and not yet given; whoever raises it from 0 starts the pump. */
  private final AtomicLong demand = new AtomicLong();

  private volatile boolean over;
  private volatile boolean badDemand;

  StreamSubscription(
      RouterStream stream, Flow.Subscriber<? super StreamEvent> subscriber, Executor executor) {
    this.stream = stream;
    this.subscriber = java.util.Objects.requireNonNull(subscriber, "subscriber");
    this.executor = executor;
  }

  void begin() {
    subscriber.onSubscribe(this);
  }

  /** A stream's events can be delivered once only. */
  void refuse() {
    over = true;
    subscriber.onSubscribe(this);
    subscriber.onError(new IllegalStateException("this stream has its subscriber already"));
  }

  @Override
  public void request(long n) {
    if (over) {
      return;
    }
    long more = n;
    if (n <= 0) {
      badDemand = true;
      more = 1;
    }
    long add = more;
    if (demand.getAndUpdate(now -> now + add < 0 ? Long.MAX_VALUE : now + add) == 0) {
      try {
        executor.execute(this::pump);
      } catch (RejectedExecutionException e) {
        over = true;
        stream.close();
        subscriber.onError(e);
      }
    }
  }

  @Override
  public void cancel() {
    over = true;
    stream.close();
  }

  private void pump() {
    do {
      if (over) {
        return;
      }
      if (badDemand) {
        over = true;
        stream.close();
        subscriber.onError(new IllegalArgumentException("a subscriber asked for no events"));
        return;
      }
      StreamEvent event;
      try {
        event = stream.next();
      } catch (RouterException e) {
        boolean cancelledByUs = over && e instanceof RequestCancelledException;
        over = true;
        if (!cancelledByUs) {
          subscriber.onError(e);
        }
        return;
      }
      if (event == null) {
        over = true;
        subscriber.onComplete();
        return;
      }
      try {
        subscriber.onNext(event);
      } catch (RuntimeException | Error e) {
        over = true;
        stream.close();
        throw e;
      }
    } while (demand.decrementAndGet() > 0);
  }
}

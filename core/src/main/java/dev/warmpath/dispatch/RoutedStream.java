package dev.warmpath.dispatch;

import dev.warmpath.api.Headers;
import dev.warmpath.api.RequestCancelledException;
import dev.warmpath.api.RouteDecision;
import dev.warmpath.api.RouterException;
import dev.warmpath.api.RouterStream;
import dev.warmpath.api.StreamEvent;
import dev.warmpath.api.Usage;
import dev.warmpath.prompt.AnswerReader;
import dev.warmpath.prompt.UsageReader;
import dev.warmpath.transport.ExchangeResponse;
import dev.warmpath.transport.TransportException;
import java.lang.ref.Cleaner;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.concurrent.Executor;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * A stream whose first event is at hand. A stream dropped by its reader is cancelled when it is
 * collected.
 */
final class RoutedStream implements RouterStream {
  private static final Cleaner CLEANER = Cleaner.create();

  private final AnswerOwner owner;
  private final ExchangeResponse response;
  private final UsageReader usages;
  private final @Nullable AnswerReader answer;
  private final Executor executor;
  private final Cleaner.Cleanable guard;
  private @Nullable StreamEvent first;
  private boolean ended;
  private volatile RouteDecision decision;
  private volatile @Nullable Usage usage;

  RoutedStream(
      AnswerOwner owner,
      ExchangeResponse response,
      @Nullable StreamEvent first,
      UsageReader usages,
      @Nullable AnswerReader answer,
      Executor executor) {
    this.owner = owner;
    this.response = response;
    this.decision = owner.decision();
    this.first = first;
    this.ended = first == null;
    this.usages = usages;
    this.answer = answer;
    this.executor = executor;
    this.guard = CLEANER.register(this, new Release(owner, response));
  }

  /** Ends a request without holding its stream. */
  private record Release(AnswerOwner owner, ExchangeResponse response) implements Runnable {
    @Override
    public void run() {
      owner.abandon();
      response.close();
    }
  }

  @Override
  public int status() {
    return response.status();
  }

  @Override
  public Headers headers() {
    return response.headers();
  }

  @Override
  public RouteDecision decision() {
    return decision;
  }

  @Override
  public @Nullable Usage usage() {
    return usage;
  }

  @Override
  public @Nullable StreamEvent next() {
    StreamEvent event = first;
    first = null;
    if (event == null) {
      if (ended) {
        return null;
      }
      event = read();
    } else if (owner.abandoned()) {
      throw new RequestCancelledException("the stream was closed");
    }
    if (event == null) {
      ended = true;
      owner.completed(usage, answer == null ? null : answer.answer());
      if (decision.pd() != null) {
        decision = owner.decision(); // with what is known of a pair at its end only
      }
      close();
      return null;
    }
    Usage reported = usages.readEvent(event.data());
    if (reported != null) {
      usage = reported;
    }
    if (answer != null) {
      answer.event(event.data());
    }
    return event;
  }

  private @Nullable StreamEvent read() {
    if (!response.streaming()) {
      return null;
    }
    if (owner.abandoned()) {
      throw new RequestCancelledException("the stream was closed");
    }
    try {
      return response.nextEvent();
    } catch (TransportException e) {
      ended = true;
      RouterException error = owner.broken(e);
      close();
      throw error;
    }
  }

  @Override
  public Iterator<StreamEvent> iterator() {
    return new Iterator<>() {
      private @Nullable StreamEvent ahead;
      private boolean done;

      @Override
      public boolean hasNext() {
        if (ahead == null && !done) {
          ahead = RoutedStream.this.next();
          done = ahead == null;
        }
        return ahead != null;
      }

      @Override
      public StreamEvent next() {
        if (!hasNext()) {
          throw new NoSuchElementException();
        }
        StreamEvent event = java.util.Objects.requireNonNull(ahead);
        ahead = null;
        return event;
      }
    };
  }

  @Override
  public Flow.Publisher<StreamEvent> publisher() {
    AtomicBoolean taken = new AtomicBoolean();
    return subscriber -> {
      StreamSubscription subscription = new StreamSubscription(this, subscriber, executor);
      if (taken.compareAndSet(false, true)) {
        subscription.begin();
      } else {
        subscription.refuse();
      }
    };
  }

  @Override
  public void close() {
    guard.clean();
  }
}

package dev.warmpath.api;

import java.util.Iterator;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/**
 * A streamed response: events in order, each delivered once. Read it as an iterator, or hand it to
 * one subscriber. Close it: closing before the end cancels the request at the worker. Reading
 * blocks until the next event, the end or the inter-token deadline; one thread reads at a time, any
 * thread may close.
 */
public interface RouterStream extends AutoCloseable, Iterable<StreamEvent> {
  /** The response's status, 2xx. */
  int status();

  /** The worker's response headers. */
  Headers headers();

  /**
   * Where the request went and why; final, since nothing is sent again once a stream exists. Of a
   * pair, its times and prefill's token counts are there once the stream has ended.
   */
  RouteDecision decision();

  /** Token counts the stream has reported so far, or null. */
  @Nullable Usage usage();

  /**
   * Waits for the next event.
   *
   * @return the event, or null at the stream's end
   * @throws StreamInterruptedException when the worker breaks off: an error event, a reset, silence
   *     beyond the inter-token deadline, or an end without end marker
   * @throws RequestCancelledException when the stream was closed meanwhile
   */
  @Nullable StreamEvent next();

  /**
   * Iterates over the remaining events; failures surface as from {@link #next()}. One iterator at a
   * time.
   */
  @Override
  Iterator<StreamEvent> iterator();

  /**
   * The remaining events for one subscriber, delivered on the client's executor as it asks for
   * them. Cancelling the subscription closes the stream.
   */
  Flow.Publisher<StreamEvent> publisher();

  /**
   * Ends the stream; cancels the request at the worker unless it had ended. Idempotent, never
   * throws.
   */
  @Override
  void close();
}

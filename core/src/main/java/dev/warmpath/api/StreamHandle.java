package dev.warmpath.api;

import java.util.concurrent.CompletableFuture;

/** A stream that goes to a {@link StreamListener}. */
public interface StreamHandle {
  /** Ends the stream and cancels the request at the worker. Idempotent; any thread. */
  void cancel();

  /**
   * Completes once the listener has had its last call, exceptionally after {@link
   * StreamListener#onError}.
   */
  CompletableFuture<Void> done();
}

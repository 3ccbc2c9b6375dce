package dev.warmpath;

import dev.warmpath.api.RequestCancelledException;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.api.RouterStream;
import dev.warmpath.api.StreamEvent;
import dev.warmpath.api.StreamHandle;
import dev.warmpath.api.StreamListener;
import dev.warmpath.api.Usage;
import dev.warmpath.dispatch.Dispatch;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/** A stream on its way to a listener: one thread opens it and hands its events over. */
final class ListenedStream implements StreamHandle, Runnable {
  private final Function<RouterRequest, Dispatch> begin;
  private final Function<Dispatch, RouterStream> open;
  private final RouterRequest request;
  private final StreamListener listener;
  private final CancellableCall call = new CancellableCall();
  private final CompletableFuture<Void> done = new CompletableFuture<>();

  ListenedStream(
      Function<RouterRequest, Dispatch> begin,
      Function<Dispatch, RouterStream> open,
      RouterRequest request,
      StreamListener listener) {
    this.begin = begin;
    this.open = open;
    this.request = request;
    this.listener = listener;
  }

  @Override
  public void run() {
    Usage usage;
    try {
      if (call.cancelled()) {
        throw new RequestCancelledException("the stream was cancelled");
      }
      Dispatch dispatch = begin.apply(request);
      call.begun(dispatch);
      try (RouterStream stream = open.apply(dispatch)) {
        listener.onOpen(stream.decision());
        for (StreamEvent event = stream.next(); event != null; event = stream.next()) {
          listener.onEvent(event);
        }
        usage = stream.usage();
      }
    } catch (RuntimeException e) {
      fail(e);
      return;
    }
    try {
      listener.onComplete(usage);
      done.complete(null);
    } catch (RuntimeException e) {
      done.completeExceptionally(e);
    }
  }

  /** Tells the listener of the end, once. */
  void fail(RuntimeException error) {
    try {
      listener.onError(error);
    } finally {
      done.completeExceptionally(error);
    }
  }

  @Override
  public void cancel() {
    call.cancel();
  }

  @Override
  public CompletableFuture<Void> done() {
    return done;
  }
}

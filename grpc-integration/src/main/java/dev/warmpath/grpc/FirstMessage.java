package dev.warmpath.grpc;

import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.SynchronizationContext;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Hears a call until its first message or its end has come, and from then on plays to whoever took
 * it over what came and comes. Plays in order, from one thread at a time.
 */
final class FirstMessage<R> extends ClientCall.Listener<R> {
  private final CompletableFuture<Boolean> came = new CompletableFuture<>();

  /** One event at a time, without a lock held over it. */
  private final SynchronizationContext order =
      new SynchronizationContext(
          (thread, error) -> {
            throw new IllegalStateException("a stub's listener failed", error);
          });

  private final List<Consumer<ClientCall.Listener<R>>> heard = new ArrayList<>();
  private ClientCall.@Nullable Listener<R> owner;
  private volatile @Nullable Status closed;

  /** Completes with whether there is a message; false where the call ended without one. */
  CompletableFuture<Boolean> came() {
    return came;
  }

  /** How the call ended, or null while it goes on. */
  @Nullable Status closed() {
    return closed;
  }

  @Override
  public void onHeaders(Metadata headers) {
    play(listener -> listener.onHeaders(headers));
  }

  @Override
  public void onMessage(R message) {
    play(listener -> listener.onMessage(message));
    came.complete(true);
  }

  @Override
  public void onClose(Status status, Metadata trailers) {
    closed = status;
    play(listener -> listener.onClose(status, trailers));
    came.complete(false);
  }

  private void play(Consumer<ClientCall.Listener<R>> event) {
    order.execute(
        () -> {
          ClientCall.Listener<R> to = owner;
          if (to == null) {
            heard.add(event);
          } else {
            event.accept(to);
          }
        });
  }

  /** Plays to {@code listener} from now on. */
  void takeOver(ClientCall.Listener<R> listener) {
    order.execute(
        () -> {
          owner = listener;
          heard.forEach(event -> event.accept(listener));
          heard.clear();
        });
  }
}

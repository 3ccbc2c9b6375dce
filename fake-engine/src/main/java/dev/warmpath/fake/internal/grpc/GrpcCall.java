package dev.warmpath.fake.internal.grpc;

import dev.warmpath.fake.internal.surface.FaultGate;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The answering side of one call. Methods may be called from any thread and don't block; what comes
 * after the end or the client's cancellation is dropped.
 *
 * @param <T> the response message
 */
final class GrpcCall<T> implements FaultGate.Victim {
  private static final Metadata.Key<String> PUSHBACK =
      Metadata.Key.of("grpc-retry-pushback-ms", Metadata.ASCII_STRING_MARSHALLER);

  private final ServerCallStreamObserver<T> observer;
  private final CallInterceptor.Incoming incoming;
  private final ReentrantLock lock = new ReentrantLock();

  // Guarded by lock.
  private boolean over;
  private boolean left;
  private @Nullable Runnable onLeft;

  private volatile Runnable onReady = () -> {};

  /** Takes over the observer of the call whose handler runs on this thread. */
  GrpcCall(StreamObserver<T> observer) {
    this.observer = (ServerCallStreamObserver<T>) observer;
    this.incoming = CallInterceptor.Incoming.current();
    this.observer.setOnCancelHandler(this::left);
    this.observer.setOnReadyHandler(() -> onReady.run());
  }

  /** The call's metadata by lower-case name. */
  Map<String, String> headers() {
    return incoming.headers();
  }

  private void left() {
    Runnable action;
    lock.lock();
    try {
      if (over || left) {
        return;
      }
      left = true;
      action = onLeft;
    } finally {
      lock.unlock();
    }
    if (action != null) {
      action.run();
    }
  }

  /** Registers what happens when the client leaves before the end; at once if it has. */
  void onDisconnect(Runnable action) {
    boolean now;
    lock.lock();
    try {
      onLeft = action;
      now = left;
    } finally {
      lock.unlock();
    }
    if (now) {
      action.run();
    }
  }

  /** Sends the response headers, so that the client sees that it is being served. */
  void begin() {
    whileOpen(() -> headers(incoming.call()));
  }

  private static void headers(ServerCall<?, ?> call) {
    call.sendHeaders(new Metadata());
  }

  void send(T message) {
    whileOpen(() -> observer.onNext(message));
  }

  /** Registers what happens when messages would go out at once again. */
  void onReady(Runnable action) {
    onReady = action;
  }

  /** Whether a message would go out at once. */
  boolean isReady() {
    return observer.isReady();
  }

  /** Ends the call well. */
  void end() {
    finish(observer::onCompleted);
  }

  /** Sends the only message and ends the call well. */
  void respond(T message) {
    finish(
        () -> {
          observer.onNext(message);
          observer.onCompleted();
        });
  }

  void fail(Status status) {
    fail(status, new Metadata());
  }

  private void fail(Status status, Metadata trailers) {
    finish(() -> observer.onError(status.asRuntimeException(trailers)));
  }

  private void finish(Runnable last) {
    whileOpen(
        () -> {
          over = true;
          last.run();
        });
  }

  private void whileOpen(Runnable action) {
    lock.lock();
    try {
      if (!over && !left) {
        action.run();
      }
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void refuse(int status, @Nullable Duration retryAfter) {
    Metadata trailers = new Metadata();
    if (retryAfter != null) {
      trailers.put(PUSHBACK, Long.toString(retryAfter.toMillis()));
    }
    fail(Statuses.of(status).withDescription("injected fault"), trailers);
  }

  @Override
  public void reset() {
    incoming.connections().reset(incoming.client());
  }

  @Override
  public void cut() {
    incoming.connections().cut(incoming.client());
  }

  @Override
  public void garbage() {
    incoming.connections().garbage(incoming.client());
  }

  @Override
  public void goAway() {
    incoming.connections().goAway(incoming.client());
  }
}

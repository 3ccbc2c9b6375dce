package dev.warmpath.fake.internal.grpc;

import dev.warmpath.fake.fault.Fault;
import dev.warmpath.fake.internal.surface.ApiError;
import dev.warmpath.fake.internal.surface.Output;
import org.jspecify.annotations.Nullable;

/**
 * An answer over gRPC, or as much of it as a fault lets pass. A stream that is shorter than the
 * fault's number of messages suffers it at its end.
 *
 * @param <T> the response message
 */
abstract class GrpcOutput<T> implements Output {
  private final GrpcCall<T> call;
  private final @Nullable Fault fault;
  private int sent;
  private boolean dead;

  GrpcOutput(GrpcCall<T> call, @Nullable Fault fault) {
    this.call = call;
    this.fault = fault;
  }

  final void send(T message) {
    if (dead || (fault != null && sent >= fault.chunks() && fire(fault))) {
      return;
    }
    sent++;
    call.send(message);
  }

  /** Ends the answer well. */
  final void finish() {
    if (!dead && (fault == null || !fire(fault))) {
      call.end();
    }
  }

  private boolean fire(Fault broken) {
    dead = true;
    switch (broken.kind()) {
      case RESET -> call.reset();
      case CUT -> call.cut();
      case TRUNCATE -> call.end();
      case GARBAGE -> call.garbage();
      case ERROR -> call.refuse(broken.status(), null);
      default -> {
        // HANG: the stream stops without an end
      }
    }
    return true;
  }

  @Override
  public final void fail(ApiError error, @Nullable String event) {
    call.fail(Statuses.of(error));
  }

  @Override
  public final boolean faulty() {
    return fault != null;
  }

  @Override
  public final boolean dead() {
    return dead;
  }

  @Override
  public final void onDisconnect(Runnable action) {
    call.onDisconnect(action);
  }
}

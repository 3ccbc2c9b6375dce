package dev.warmpath.grpc.internal;

import dev.warmpath.transport.TransportException;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientInterceptors;
import io.grpc.Deadline;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import java.time.Duration;
import java.util.Iterator;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Small calls to one worker, all under one deadline. They block the calling thread. */
public final class ControlCalls {
  private final Channel channel;
  private final Deadline deadline;

  /** Calls over {@code channel} with these headers, which end after {@code timeout} in all. */
  public ControlCalls(Channel channel, Metadata headers, Duration timeout) {
    this.channel =
        ClientInterceptors.intercept(channel, MetadataUtils.newAttachHeadersInterceptor(headers));
    this.deadline = Deadline.after(timeout.toNanos(), TimeUnit.NANOSECONDS);
  }

  /**
   * Calls a method.
   *
   * @throws TransportException when it fails; one that is not there is {@code PROTOCOL}
   */
  public <Q, R> R call(MethodDescriptor<Q, R> method, Q request) throws TransportException {
    try {
      return ClientCalls.blockingUnaryCall(channel, method, options(), request);
    } catch (StatusRuntimeException e) {
      throw Statuses.controlFailure(e.getStatus(), method.getFullMethodName());
    }
  }

  /** Calls a method that not every server has: null where it is not there. */
  public <Q, R> @Nullable R callIfThere(MethodDescriptor<Q, R> method, Q request)
      throws TransportException {
    try {
      return ClientCalls.blockingUnaryCall(channel, method, options(), request);
    } catch (StatusRuntimeException e) {
      if (e.getStatus().getCode() == Status.Code.UNIMPLEMENTED) {
        return null;
      }
      throw Statuses.controlFailure(e.getStatus(), method.getFullMethodName());
    }
  }

  /** Calls a method that streams; reading on throws {@link StatusRuntimeException}. */
  public <Q, R> Iterator<R> stream(MethodDescriptor<Q, R> method, Q request) {
    return ClientCalls.blockingServerStreamingCall(channel, method, options(), request);
  }

  private CallOptions options() {
    return CallOptions.DEFAULT.withDeadline(deadline);
  }
}

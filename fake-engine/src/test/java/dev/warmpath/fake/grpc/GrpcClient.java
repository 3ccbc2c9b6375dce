package dev.warmpath.fake.grpc;

import dev.warmpath.fake.FakeEngine;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.StreamObserver;
import java.net.URI;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/** A channel to a fake engine's gRPC server, and ways to take what comes over it. */
final class GrpcClient implements AutoCloseable {
  private final ManagedChannel channel;

  GrpcClient(FakeEngine engine) {
    this(engine, 1 << 20);
  }

  /**
   * Makes a channel, which connects when it is used.
   *
   * @param window bytes that the server may send ahead of what is read
   */
  GrpcClient(FakeEngine engine, int window) {
    URI address = URI.create(engine.grpcUrl());
    this.channel =
        NettyChannelBuilder.forAddress(address.getHost(), address.getPort())
            .usePlaintext()
            .disableRetry()
            .flowControlWindow(window)
            .maxInboundMessageSize(Integer.MAX_VALUE)
            .build();
  }

  ManagedChannel channel() {
    return channel;
  }

  /** Everything of a stream. */
  static <T> List<T> all(Iterator<T> stream) {
    List<T> all = new ArrayList<>();
    stream.forEachRemaining(all::add);
    return all;
  }

  /** How a call ends that has to fail. */
  static Status failure(Runnable call) {
    try {
      call.run();
    } catch (StatusRuntimeException e) {
      return e.getStatus();
    }
    throw new AssertionError("the call was to fail");
  }

  /** Takes a stream as it comes. */
  static final class Taker<T> implements StreamObserver<T> {
    final LinkedBlockingQueue<T> messages = new LinkedBlockingQueue<>();
    private final CountDownLatch ended = new CountDownLatch(1);
    private final AtomicReference<Throwable> error = new AtomicReference<>();

    @Override
    public void onNext(T message) {
      messages.add(message);
    }

    @Override
    public void onError(Throwable e) {
      error.set(e);
      ended.countDown();
    }

    @Override
    public void onCompleted() {
      ended.countDown();
    }

    T next() throws InterruptedException {
      T message = messages.poll(30, TimeUnit.SECONDS);
      if (message == null) {
        throw new AssertionError("no message came: " + error.get());
      }
      return message;
    }

    /** How the stream ended. */
    Status end() throws InterruptedException {
      if (!ended.await(30, TimeUnit.SECONDS)) {
        throw new AssertionError("the stream goes on");
      }
      return error.get() == null ? Status.OK : Status.fromThrowable(error.get());
    }

    boolean hasEnded() {
      return ended.getCount() == 0;
    }
  }

  @Override
  public void close() {
    channel.shutdownNow();
  }
}

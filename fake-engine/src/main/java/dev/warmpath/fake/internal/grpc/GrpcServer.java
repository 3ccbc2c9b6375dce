package dev.warmpath.fake.internal.grpc;

import io.grpc.Server;
import io.grpc.ServerInterceptors;
import io.grpc.ServerServiceDefinition;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.MultiThreadIoEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.nio.NioIoHandler;
import io.grpc.netty.shaded.io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A gRPC server with one thread whose services come and go while its port stays: while it serves
 * none or refuses connections, a bound socket that does not listen holds the number. The owner
 * closes it. Methods may be called from any thread but its own, unless they say otherwise.
 */
public final class GrpcServer implements AutoCloseable {
  private static final long MIN_PING_SECONDS = 10;
  private static final int TRIES = 1_000;
  private static final long BETWEEN_TRIES_NANOS = 1_000_000;

  private final InetSocketAddress address;
  private final EventLoopGroup loop;
  private final ReentrantLock lock = new ReentrantLock();

  // Guarded by lock.
  private Connections connections = new Connections();
  private List<ServerServiceDefinition> services = List.of();
  private @Nullable Server server;
  private @Nullable SocketChannel placeholder;
  private boolean closed;

  private volatile Connections counted = connections;

  /**
   * Reserves a port.
   *
   * @param wanted where to listen; port 0 picks a free one
   * @throws UncheckedIOException if the port can't be bound
   */
  public GrpcServer(InetSocketAddress wanted) {
    try {
      SocketChannel holder = hold(wanted);
      this.placeholder = holder;
      this.address = (InetSocketAddress) holder.getLocalAddress();
    } catch (BindException e) {
      BindException named = new BindException(wanted + ": " + e.getMessage());
      named.initCause(e);
      throw new UncheckedIOException(named);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    this.loop =
        new MultiThreadIoEventLoopGroup(
            1,
            new DefaultThreadFactory("fake-grpc-" + address.getPort(), true),
            NioIoHandler.newFactory());
  }

  private static SocketChannel hold(InetSocketAddress where) throws IOException {
    SocketChannel holder = SocketChannel.open();
    try {
      holder.setOption(StandardSocketOptions.SO_REUSEADDR, true);
      holder.bind(where);
      return holder;
    } catch (IOException e) {
      holder.close();
      throw e;
    }
  }

  /**
   * Returns the address in use.
   *
   * @return with the real port
   */
  public InetSocketAddress address() {
    return address;
  }

  /**
   * Returns the number of open connections.
   *
   * @return connections
   */
  public int connections() {
    return counted.count();
  }

  /**
   * Sets what is served from the next {@link #accept} on.
   *
   * @param next the services
   */
  public void serve(List<ServerServiceDefinition> next) {
    lock.lock();
    try {
      services = List.copyOf(next);
    } finally {
      lock.unlock();
    }
  }

  /** Listens, unless it does. */
  public void accept() {
    lock.lock();
    try {
      if (server != null || closed) {
        return;
      }
      Connections next = new Connections();
      CallInterceptor interceptor = new CallInterceptor(next);
      NettyServerBuilder builder =
          NettyServerBuilder.forAddress(address)
              .channelFactory(next::listener)
              .bossEventLoopGroup(loop)
              .workerEventLoopGroup(loop)
              .directExecutor()
              .permitKeepAliveTime(MIN_PING_SECONDS, TimeUnit.SECONDS)
              .permitKeepAliveWithoutCalls(true)
              .maxInboundMessageSize(Integer.MAX_VALUE);
      for (ServerServiceDefinition service : services) {
        builder.addService(ServerInterceptors.intercept(service, interceptor));
      }
      server = builder.build().start();
      connections = next;
      counted = next;
      release();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      lock.unlock();
    }
  }

  private void release() throws IOException {
    SocketChannel holder = placeholder;
    placeholder = null;
    if (holder != null) {
      holder.close();
    }
  }

  /** Refuses connections from now on, and resets what is open. Returns when that is done. */
  public void refuse() {
    lock.lock();
    try {
      Server current = server;
      if (current == null) {
        return;
      }
      server = null;
      connections.stopListening();
      if (!closed) {
        placeholder = holdSoon();
      }
      connections.resetAll();
      current.shutdownNow();
      awaitEnd(current);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      lock.unlock();
    }
  }

  /** A closed listening socket is gone only when its thread has looked at its selector again. */
  private SocketChannel holdSoon() throws IOException {
    for (int attempt = 1; ; attempt++) {
      try {
        return hold(address);
      } catch (BindException e) {
        if (attempt == TRIES) {
          throw e;
        }
        LockSupport.parkNanos(BETWEEN_TRIES_NANOS);
      }
    }
  }

  private static void awaitEnd(Server server) {
    try {
      server.awaitTermination(10, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** As {@link #refuse}, but soon, on a thread of its own: for calls on the server's thread. */
  public void refuseSoon() {
    Thread thread = new Thread(this::refuse, "fake-grpc-refusal-" + address.getPort());
    thread.setDaemon(true);
    thread.start();
  }

  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      refuse();
      release();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      lock.unlock();
    }
    loop.shutdownGracefully(0, 5, TimeUnit.SECONDS).awaitUninterruptibly(5, TimeUnit.SECONDS);
  }
}

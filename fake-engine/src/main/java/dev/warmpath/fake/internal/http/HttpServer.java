package dev.warmpath.fake.internal.http;

import dev.warmpath.fake.internal.Threads;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An HTTP/1.1 server on the loopback interface or another one, with one thread.
 *
 * <p>It keeps its port while it refuses connections: a bound socket that does not listen holds the
 * number, so that clients get a reset and nobody else gets the port. All methods may be called from
 * any thread but the server's own where noted. The owner closes it.
 */
public final class HttpServer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(HttpServer.class);
  private static final int READ_BUFFER_BYTES = 64 * 1024;

  private record Timer(long atNanos, long order, Runnable action) {}

  private final InetSocketAddress address;
  private final HttpHandler handler;
  private final long keepAliveNanos;
  private final int maxBodyBytes;
  private final Selector selector;
  private final Thread thread;
  private final ConcurrentLinkedQueue<Runnable> tasks = new ConcurrentLinkedQueue<>();
  private final Set<HttpConnection> connections = new HashSet<>();
  private final AtomicInteger open = new AtomicInteger();
  private final PriorityQueue<Timer> timers =
      new PriorityQueue<>(Comparator.comparingLong(Timer::atNanos).thenComparingLong(Timer::order));
  private final ByteBuffer readBuffer = ByteBuffer.allocateDirect(READ_BUFFER_BYTES);
  private long timerOrder;
  private long lastSweep = System.nanoTime();
  private @Nullable ServerSocketChannel listener;
  private @Nullable SocketChannel placeholder;
  private volatile boolean closed;

  /**
   * Binds a port and starts to serve.
   *
   * @param address where to listen; port 0 picks a free one
   * @param keepAlive how long an idle connection stays open
   * @param maxBodyBytes larger request bodies get a 413
   * @param handler answers the requests
   * @throws UncheckedIOException if the port can't be bound
   */
  public HttpServer(
      InetSocketAddress address, Duration keepAlive, int maxBodyBytes, HttpHandler handler) {
    this.handler = Objects.requireNonNull(handler, "handler");
    this.keepAliveNanos = keepAlive.toNanos();
    this.maxBodyBytes = maxBodyBytes;
    try {
      this.selector = Selector.open();
      try {
        ServerSocketChannel channel = listen(address);
        this.listener = channel;
        this.address = (InetSocketAddress) channel.getLocalAddress();
      } catch (IOException e) {
        selector.close();
        throw e;
      }
    } catch (BindException e) {
      BindException named = new BindException(address + ": " + e.getMessage());
      named.initCause(e);
      throw new UncheckedIOException(named);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    this.thread = new Thread(this::run, "fake-http-" + this.address.getPort());
    thread.setDaemon(true);
    thread.start();
  }

  private ServerSocketChannel listen(InetSocketAddress where) throws IOException {
    ServerSocketChannel channel = ServerSocketChannel.open();
    try {
      channel.setOption(StandardSocketOptions.SO_REUSEADDR, true);
      channel.bind(where, 512);
      channel.configureBlocking(false);
      channel.register(selector, SelectionKey.OP_ACCEPT);
      return channel;
    } catch (IOException e) {
      channel.close();
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
    return open.get();
  }

  /**
   * Runs an action on the server's thread after a delay. Dropped when the server closes first.
   *
   * @param delay how long from now; not positive means as soon as possible
   * @param action must not block
   */
  public void schedule(Duration delay, Runnable action) {
    long at = System.nanoTime() + delay.toNanos();
    later(() -> timers.add(new Timer(at, timerOrder++, action)));
  }

  /**
   * Stops listening, so that connection attempts are refused, and resets what is open. Returns when
   * that is done; when called by a handler it is done right after the handler returns.
   */
  public void refuse() {
    call(
        () -> {
          ServerSocketChannel channel = listener;
          if (channel != null) {
            listener = null;
            channel.close();
            selector.selectNow();
            SocketChannel holder = SocketChannel.open();
            holder.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            holder.bind(address);
            placeholder = holder;
          }
          resetAll(); // last, so that who is reset and comes back at once is refused
        });
  }

  /** Listens again after {@link #refuse()}, on the same port. */
  public void accept() {
    call(
        () -> {
          if (listener == null && !closed) {
            SocketChannel holder = placeholder;
            placeholder = null;
            try {
              listener = listen(address);
            } catch (BindException e) {
              // some systems want the holder gone first
              closeQuietly(holder);
              listener = listen(address);
            }
            closeQuietly(holder);
          }
        });
  }

  /** Resets every open connection. */
  public void dropConnections() {
    call(this::resetAll);
  }

  private void resetAll() {
    for (HttpConnection connection : List.copyOf(connections)) {
      connection.resetNow();
    }
  }

  private interface IoAction {
    void run() throws IOException;
  }

  private void call(IoAction action) {
    CompletableFuture<Void> done = new CompletableFuture<>();
    later(
        () -> {
          try {
            action.run();
            done.complete(null);
          } catch (IOException | RuntimeException e) {
            done.completeExceptionally(e);
          }
        });
    if (Thread.currentThread() != thread) {
      await(done);
    }
  }

  private void await(CompletableFuture<Void> done) {
    while (true) {
      try {
        done.get(50, TimeUnit.MILLISECONDS);
        return;
      } catch (TimeoutException e) {
        if (!thread.isAlive()) {
          runTasks();
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      } catch (ExecutionException e) {
        throw e.getCause() instanceof IOException io
            ? new UncheckedIOException(io)
            : new IllegalStateException(e.getCause());
      }
    }
  }

  /** Runs a task on the server's thread, never inline. */
  void later(Runnable task) {
    tasks.add(task);
    if (Thread.currentThread() != thread) {
      selector.wakeup();
    }
    if (!thread.isAlive()) {
      runTasks();
    }
  }

  /** Called by a connection, on the server's thread, when it is gone. */
  void forget(HttpConnection connection) {
    if (connections.remove(connection)) {
      open.decrementAndGet();
    }
  }

  HttpHandler handler() {
    return handler;
  }

  @Override
  public void close() {
    closed = true;
    selector.wakeup();
    Threads.join(thread);
  }

  private void run() {
    try {
      while (!closed) {
        select();
        runTasks();
        runTimers();
        closeIdle();
      }
    } catch (IOException e) {
      LOG.error("fake engine server on port {} failed", address.getPort(), e);
    } finally {
      resetAll();
      closeQuietly(listener);
      closeQuietly(placeholder);
      closeQuietly(selector);
      runTasks();
    }
  }

  private void select() throws IOException {
    long timeout = selectTimeoutMillis();
    if (tasks.isEmpty()) {
      selector.select(this::ready, timeout);
    } else {
      selector.selectNow(this::ready);
    }
  }

  private long selectTimeoutMillis() {
    long millis = connections.isEmpty() ? 0 : Math.max(1, keepAliveNanos / 4_000_000);
    Timer next = timers.peek();
    if (next != null) {
      long untilTimer = Math.max(1, (next.atNanos() - System.nanoTime() + 999_999) / 1_000_000);
      millis = millis == 0 ? untilTimer : Math.min(millis, untilTimer);
    }
    return millis;
  }

  private void ready(SelectionKey key) {
    if (!key.isValid()) {
      return;
    }
    if (key.attachment() instanceof HttpConnection connection) {
      connection.ready(key, readBuffer);
      return;
    }
    ServerSocketChannel channel = listener;
    try {
      while (channel != null && channel.isOpen()) {
        SocketChannel accepted = channel.accept();
        if (accepted == null) {
          return;
        }
        accepted.configureBlocking(false);
        accepted.setOption(StandardSocketOptions.TCP_NODELAY, true);
        SelectionKey registered = accepted.register(selector, SelectionKey.OP_READ);
        HttpConnection connection =
            new HttpConnection(this, accepted, registered, new RequestParser(maxBodyBytes));
        registered.attach(connection);
        connections.add(connection);
        open.incrementAndGet();
      }
    } catch (ClosedChannelException e) {
      LOG.trace("listener closed while accepting", e);
    } catch (IOException e) {
      LOG.warn("could not accept a connection: {}", e.toString());
    }
  }

  private void runTasks() {
    for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
      task.run();
    }
  }

  private void runTimers() {
    long now = System.nanoTime();
    List<Timer> due = new ArrayList<>();
    for (Timer next = timers.peek();
        next != null && next.atNanos() - now <= 0;
        next = timers.peek()) {
      due.add(timers.remove());
    }
    for (Timer timer : due) {
      timer.action().run();
    }
  }

  private void closeIdle() {
    long now = System.nanoTime();
    if (connections.isEmpty() || now - lastSweep < keepAliveNanos / 4) {
      return;
    }
    lastSweep = now;
    for (HttpConnection connection : List.copyOf(connections)) {
      long idleSince = connection.idleSince();
      if (idleSince != 0 && now - idleSince >= keepAliveNanos) {
        connection.closeNow();
      }
    }
  }

  private static void closeQuietly(@Nullable AutoCloseable resource) {
    if (resource != null) {
      try {
        resource.close();
      } catch (Exception e) {
        LOG.trace("while closing", e);
      }
    }
  }

  /**
   * Returns the loopback address with a port.
   *
   * @param port port or 0
   * @return the address
   */
  public static InetSocketAddress loopback(int port) {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
  }
}

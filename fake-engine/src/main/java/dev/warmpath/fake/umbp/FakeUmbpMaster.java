package dev.warmpath.fake.umbp;

import io.grpc.InsecureServerCredentials;
import io.grpc.Server;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A UMBP master with an in-memory index, over real gRPC on loopback, that behaves as the real one
 * was seen to (ROCm/mori, August 2026): what unknown and expired nodes report is dropped in
 * silence, any subset of hashes matches, a hash comes back as often as it was asked for and in each
 * of its tiers, whatever number these have, hits are counted once for each hash and call, and a
 * restart forgets everything. It knows what engines hold in their own caches, not UMBP's pool.
 * Thread safe.
 */
public final class FakeUmbpMaster implements AutoCloseable {
  private static final int MAX_MESSAGE = 64 << 20;
  private static final int MISSED_HEARTBEATS = 3;

  private final ExternalIndex index;
  private final MasterFaults faults = new MasterFaults();
  private final MasterService service;
  private final String host;
  private final ReentrantLock lock = new ReentrantLock();

  // Guarded by lock.
  private @Nullable Server server;

  private volatile int port;

  private FakeUmbpMaster(Builder builder) {
    this.host = builder.host;
    this.port = builder.port;
    this.index =
        new ExternalIndex(
            builder.ticker, builder.ttl.multipliedBy(MISSED_HEARTBEATS), builder.seed);
    this.service = new MasterService(index, faults, builder.ttl.dividedBy(2));
    up();
  }

  /**
   * Starts a master on a free port of loopback.
   *
   * @return the running master
   */
  public static FakeUmbpMaster start() {
    return builder().start();
  }

  /**
   * Starts to describe a master.
   *
   * @return a builder with the real one's defaults
   */
  public static Builder builder() {
    return new Builder();
  }

  /**
   * Returns where it listens, also while it is down.
   *
   * @return {@code host:port}
   */
  public String address() {
    return host + ":" + port;
  }

  /**
   * Returns the port.
   *
   * @return the real one
   */
  public int port() {
    return port;
  }

  /** Goes away with all it knew; connections break and new ones are refused. */
  public void down() {
    lock.lock();
    try {
      Server running = server;
      if (running != null) {
        server = null;
        running.shutdownNow();
        boolean unused = running.awaitTermination(5, TimeUnit.SECONDS);
        index.clear();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Comes back at the same port, knowing nothing.
   *
   * @throws UncheckedIOException if the port can't be bound
   */
  public void up() {
    lock.lock();
    try {
      if (server == null) {
        Server made =
            NettyServerBuilder.forAddress(
                    new InetSocketAddress(host, port), InsecureServerCredentials.create())
                .maxInboundMessageSize(MAX_MESSAGE)
                .addService(service)
                .build()
                .start();
        server = made;
        port = made.getPort();
      }
    } catch (IOException e) {
      throw new UncheckedIOException("port " + port + " can't be used", e);
    } finally {
      lock.unlock();
    }
  }

  /** Goes away and comes back, knowing nothing. */
  public void restart() {
    down();
    up();
  }

  /**
   * Stops or goes on answering MatchExternalKv; what was asked meanwhile is then answered.
   *
   * @param on whether it is stopped
   */
  public void hang(boolean on) {
    faults.hung(on);
  }

  /**
   * Delays answers to MatchExternalKv.
   *
   * @param by how long; zero for no longer
   */
  public void slow(Duration by) {
    faults.slowness(by);
  }

  /**
   * Adds to its answers a node that is nobody, hashes that nobody asked for, and tiers that are
   * none.
   *
   * @param on whether it does
   */
  public void lie(boolean on) {
    faults.lying(on);
  }

  /**
   * Returns the nodes that are alive.
   *
   * @return their ids
   */
  public Set<String> nodes() {
    return index.alive();
  }

  /**
   * Counts the hashes that somebody holds.
   *
   * @return how many
   */
  public int hashes() {
    return index.size();
  }

  /**
   * Returns how often a hash was counted as hit.
   *
   * @param hash the hash
   * @return 0 where never
   */
  public long hits(String hash) {
    return index.hits(hash);
  }

  /**
   * Counts reports that were dropped because their node was not alive.
   *
   * @return how many
   */
  public long rejected() {
    return index.rejected();
  }

  /**
   * Counts calls of MatchExternalKv.
   *
   * @return how many, in all lives
   */
  public long matches() {
    return service.matches();
  }

  @Override
  public void close() {
    faults.close();
    down();
  }

  /** Builds a {@link FakeUmbpMaster}. Not thread safe. */
  public static final class Builder {
    private String host = "127.0.0.1";
    private int port;
    private Duration ttl = Duration.ofSeconds(10);
    private LongSupplier ticker = System::nanoTime;
    private long seed;

    private Builder() {}

    /**
     * Sets the address to listen on; {@code 127.0.0.1} by default.
     *
     * @param value the address
     * @return this
     */
    public Builder host(String value) {
      host = value;
      return this;
    }

    /**
     * Sets the port; 0, the default, picks a free one.
     *
     * @param value the port
     * @return this
     */
    public Builder port(int value) {
      port = value;
      return this;
    }

    /**
     * Sets how long a heartbeat is good for; 10 s by default. A node expires after three of these,
     * and is told to send two within each.
     *
     * @param value positive
     * @return this
     */
    public Builder ttl(Duration value) {
      ttl = value;
      return this;
    }

    /**
     * Sets the clock that nodes and hit counts expire by.
     *
     * @param value time in nanoseconds
     * @return this
     */
    public Builder ticker(LongSupplier value) {
      ticker = value;
      return this;
    }

    /**
     * Fixes the order of nodes in answers, which is another for each.
     *
     * @param value any
     * @return this
     */
    public Builder seed(long value) {
      seed = value;
      return this;
    }

    /**
     * Binds the port and starts the master.
     *
     * @return the running master
     * @throws UncheckedIOException if the port can't be bound
     */
    public FakeUmbpMaster start() {
      return new FakeUmbpMaster(this);
    }
  }
}

package dev.warmpath.worker;

import java.io.IOException;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The workers behind one DNS name: every A and AAAA record is a worker, such as the pods of a
 * headless Kubernetes service.
 *
 * <p>The name is looked up again when its answer's time to live has passed, within bounds (1 s to 5
 * min by default; every 30 s where no time to live is told). A look-up that fails is tried again
 * after 1 s, then ever more rarely up to 30 s; the last list stays in force meanwhile. An empty
 * answer is believed only when three look-ups in a row give it: a name server that has lost its
 * zone looks the same for a moment, and dropping every worker is the one mistake that can't be
 * routed around. Repeats are spread by up to a tenth, so that many clients don't ask in step.
 *
 * <p>Thread safe. Look-ups block, so they run on a scheduler of this object's own: one daemon
 * thread, started by {@link #start} and ended by {@link #close}.
 */
public final class DnsDiscovery implements WorkerDiscovery {
  /** The shortest time between two look-ups where none is set. */
  public static final Duration DEFAULT_MIN_INTERVAL = Duration.ofSeconds(1);

  /** The longest time between two look-ups where none is set. */
  public static final Duration DEFAULT_MAX_INTERVAL = Duration.ofMinutes(5);

  /** The time between two look-ups where no time to live is told and none is set. */
  public static final Duration DEFAULT_INTERVAL = Duration.ofSeconds(30);

  private static final Duration FIRST_RETRY = Duration.ofSeconds(1);
  private static final Duration LAST_RETRY = Duration.ofSeconds(30);
  private static final int EMPTY_ANSWERS_BELIEVED = 3;

  private final String host;
  private final int port;
  private final String scheme;
  private final UnaryOperator<WorkerSpec.Builder> customizer;
  private final HostResolver resolver;
  private final Duration minInterval;
  private final Duration maxInterval;
  private final Duration defaultInterval;
  private final SplittableRandom random;
  private final @Nullable Scheduler givenScheduler;
  private volatile @Nullable Scheduler ownScheduler;
  private volatile boolean closed;

  // Touched by the scheduler's tasks only.
  private int failures;
  private int emptyAnswers;
  private boolean pushed;

  private DnsDiscovery(Builder builder) {
    this.host = builder.host;
    this.port = builder.port;
    this.scheme = builder.scheme;
    this.customizer = builder.customizer;
    this.resolver = builder.resolver;
    this.minInterval = builder.minInterval;
    this.maxInterval = builder.maxInterval;
    this.defaultInterval = builder.defaultInterval;
    this.random = new SplittableRandom(builder.seed);
    this.givenScheduler = builder.scheduler;
  }

  /** The workers at {@code http://<address>:port} for every address of {@code host}. */
  public static DnsDiscovery of(String host, int port) {
    return builder(host, port).build();
  }

  /** Starts a discovery of every address of {@code host}, at {@code port}. */
  public static Builder builder(String host, int port) {
    return new Builder(host, port);
  }

  @Override
  public String name() {
    return "dns:" + host + ":" + port;
  }

  @Override
  public void start(Listener listener) {
    if (closed) {
      return;
    }
    Scheduler scheduler = givenScheduler;
    if (scheduler == null) {
      scheduler = Scheduler.onThread("warmpath-dns-" + host);
      ownScheduler = scheduler;
    }
    Scheduler timer = scheduler;
    timer.execute(() -> lookUp(timer, listener));
  }

  private void lookUp(Scheduler timer, Listener listener) {
    if (closed) {
      return;
    }
    Duration next;
    try {
      HostResolver.Resolution found = resolver.resolve(host);
      if (closed) {
        return;
      }
      next = take(found, listener);
    } catch (IOException | RuntimeException e) {
      if (closed) {
        return;
      }
      listener.onError(
          new IOException("host '" + host + "' can't be looked up: " + e.getMessage(), e));
      next = retryDelay();
    }
    timer.schedule(spread(next), () -> lookUp(timer, listener));
  }

  private Duration take(HostResolver.Resolution found, Listener listener) throws IOException {
    if (found.addresses().isEmpty()) {
      if (!pushed) {
        throw new IOException("it has no addresses");
      }
      emptyAnswers++;
      if (emptyAnswers < EMPTY_ANSWERS_BELIEVED) {
        return minInterval;
      }
    } else {
      emptyAnswers = 0;
    }
    failures = 0;
    pushed = true;
    listener.onWorkers(specs(found.addresses()));
    Duration ttl = found.ttl();
    Duration interval = ttl == null ? defaultInterval : ttl;
    interval = interval.compareTo(minInterval) < 0 ? minInterval : interval;
    return interval.compareTo(maxInterval) > 0 ? maxInterval : interval;
  }

  private List<WorkerSpec> specs(List<InetAddress> addresses) {
    Map<WorkerId, WorkerSpec> specs = new LinkedHashMap<>();
    for (InetAddress address : addresses) {
      WorkerId id = WorkerId.of(scheme, address, port);
      specs.put(id, customizer.apply(WorkerSpec.builder(id.value())).build());
    }
    return new ArrayList<>(specs.values());
  }

  private Duration retryDelay() {
    Duration delay = FIRST_RETRY.multipliedBy(1L << Math.min(failures, 10));
    failures++;
    return delay.compareTo(LAST_RETRY) > 0 ? LAST_RETRY : delay;
  }

  private Duration spread(Duration interval) {
    return interval.plusNanos((long) (interval.toNanos() * 0.1 * random.nextDouble()));
  }

  @Override
  public void close() {
    closed = true;
    Scheduler scheduler = ownScheduler;
    if (scheduler != null) {
      scheduler.close();
    }
  }

  /** Builds a {@link DnsDiscovery}. Not thread safe. */
  public static final class Builder {
    private final String host;
    private final int port;
    private String scheme = "http";
    private UnaryOperator<WorkerSpec.Builder> customizer = UnaryOperator.identity();
    private HostResolver resolver = HostResolver.system();
    private Duration minInterval = DEFAULT_MIN_INTERVAL;
    private Duration maxInterval = DEFAULT_MAX_INTERVAL;
    private Duration defaultInterval = DEFAULT_INTERVAL;
    private long seed = ThreadLocalRandom.current().nextLong();
    private @Nullable Scheduler scheduler;

    private Builder(String host, int port) {
      if (host.isBlank()) {
        throw new IllegalArgumentException("a DNS source needs a host name");
      }
      if (port < 1 || port > 65_535) {
        throw new IllegalArgumentException(
            "DNS source '" + host + "' has port " + port + ": use 1 to 65535");
      }
      this.host = host;
      this.port = port;
    }

    /** Sets the URL scheme of the workers; {@code http} by default. */
    public Builder scheme(String scheme) {
      this.scheme = scheme.toLowerCase(Locale.ROOT);
      return this;
    }

    /** Sets what every worker has in common (role, engine, keys, labels), given its address. */
    public Builder workers(UnaryOperator<WorkerSpec.Builder> customizer) {
      this.customizer = customizer;
      return this;
    }

    /** Sets how names are looked up; {@link HostResolver#system()} by default. */
    public Builder resolver(HostResolver resolver) {
      this.resolver = resolver;
      return this;
    }

    /**
     * Bounds the time between look-ups, whatever the times to live say; 1 s to 5 min by default.
     */
    public Builder interval(Duration min, Duration max) {
      if (min.isNegative() || min.isZero() || min.compareTo(max) > 0) {
        throw new IllegalArgumentException(
            "DNS source '" + host + "': " + min + " to " + max + " is not an interval");
      }
      this.minInterval = min;
      this.maxInterval = max;
      return this;
    }

    /** Sets the time between look-ups where no time to live is told; 30 s by default. */
    public Builder defaultInterval(Duration interval) {
      this.defaultInterval = interval;
      return this;
    }

    /** Fixes the chance that spreads the look-ups. */
    public Builder seed(long seed) {
      this.seed = seed;
      return this;
    }

    /**
     * Runs the look-ups on a scheduler of the caller's, who closes it. They block it: share it with
     * nothing that must be on time.
     */
    public Builder scheduler(Scheduler scheduler) {
      this.scheduler = scheduler;
      return this;
    }

    /** The finished source; nothing is looked up before it is started. */
    public DnsDiscovery build() {
      return new DnsDiscovery(this);
    }
  }
}

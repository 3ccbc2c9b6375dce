package dev.warmpath.okhttp;

import dev.warmpath.config.KubernetesSettings;
import dev.warmpath.worker.EngineKind;
import dev.warmpath.worker.Scheduler;
import dev.warmpath.worker.WorkerDiscovery;
import dev.warmpath.worker.WorkerRole;
import dev.warmpath.worker.WorkerSpec;
import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.api.model.discovery.v1.Endpoint;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointConditions;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointPort;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSlice;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSliceList;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.Watch;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import io.fabric8.kubernetes.client.dsl.FilterWatchListDeletable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The pods behind a Kubernetes service, by its EndpointSlices. They are listed and watched through
 * fabric8's client. Whenever the watch breaks off, and once a minute, they are listed anew, so that
 * what has gone meanwhile is found: a watch that goes on by itself can miss it, and one whose
 * connection died in silence hears nothing more.
 *
 * <p>A pod is a worker while it is ready and not terminating; a condition that is not told counts
 * as ready, as Kubernetes has it. Endpoints without an address are none. Role and engine come from
 * the slice's labels {@code warmpath.dev/role} and {@code warmpath.dev/engine}, which Kubernetes
 * copies from the service. Where one service has pods of several roles, {@link Builder#podLabels}
 * takes both from the pods' own labels of these names. Pod, node and zone become labels of the
 * worker. A pod that takes over the address of another is another worker: what was known of the
 * first ends with it.
 *
 * <p>Takes {@code io.fabric8:kubernetes-client} and one of its HTTP clients on the class path, and
 * the right to list and watch {@code endpointslices} in {@code discovery.k8s.io}, and with {@link
 * Builder#podLabels} that to get {@code pods}. Thread safe. The Kubernetes client stays its
 * owner's. Changes are told on one daemon thread of this object's own, started by {@link #start}
 * and ended by {@link #close}.
 */
public final class KubernetesDiscovery implements WorkerDiscovery {
  /** The label that says which service a slice is of. */
  static final String SERVICE_LABEL = "kubernetes.io/service-name";

  /** The label of a service, or of a pod, whose value is its workers' role. */
  public static final String ROLE_LABEL = "warmpath.dev/role";

  /** The label of a service, or of a pod, whose value is its workers' engine. */
  public static final String ENGINE_LABEL = "warmpath.dev/engine";

  private static final Duration FIRST_PAUSE = Duration.ofMillis(100);
  private static final Duration LAST_PAUSE = Duration.ofSeconds(30);

  private final KubernetesClient client;
  private final String namespace;
  private final String service;
  private final String scheme;
  private final @Nullable String portName;
  private final @Nullable Integer port;
  private final UnaryOperator<WorkerSpec.Builder> customizer;
  private final Duration relistInterval;
  private final @Nullable PodLabels podLabels;
  private final ReentrantLock lock = new ReentrantLock();
  private @Nullable Scheduler scheduler;
  private volatile @Nullable Watch watch;
  private volatile boolean closed;

  // Touched by the scheduler's tasks only.
  private final Map<String, EndpointSlice> byName = new LinkedHashMap<>();
  private Map<String, String> podByAddress = Map.of();
  private Duration pause = FIRST_PAUSE;

  private KubernetesDiscovery(Builder builder) {
    this.client = builder.client;
    this.namespace = builder.namespace;
    this.service = builder.service;
    this.scheme = builder.scheme;
    this.portName = builder.portName;
    this.port = builder.port;
    this.customizer = builder.customizer;
    this.relistInterval = builder.relistInterval;
    this.podLabels = builder.podLabels ? new PodLabels(client, namespace) : null;
  }

  /**
   * Starts a discovery.
   *
   * @param client stays its owner's
   */
  public static Builder builder(KubernetesClient client, String namespace, String service) {
    return new Builder(client, namespace, service);
  }

  @Override
  public String name() {
    return "kubernetes:" + namespace + "/" + service;
  }

  @Override
  public void start(Listener listener) {
    lock.lock();
    try {
      if (closed || scheduler != null) {
        return;
      }
      Scheduler own = Scheduler.onThread("warmpath-kubernetes-" + service);
      scheduler = own;
      own.execute(() -> list(own, listener));
    } finally {
      lock.unlock();
    }
  }

  private FilterWatchListDeletable<EndpointSlice, EndpointSliceList, ?> slices() {
    return client
        .discovery()
        .v1()
        .endpointSlices()
        .inNamespace(namespace)
        .withLabel(SERVICE_LABEL, service);
  }

  /** Lists everything, and watches from there on. */
  private void list(Scheduler on, Listener listener) {
    if (closed) {
      return;
    }
    try {
      EndpointSliceList listed = slices().list();
      byName.clear();
      listed.getItems().forEach(slice -> byName.put(slice.getMetadata().getName(), slice));
      Changes changes = new Changes(on, listener);
      try {
        watch =
            slices()
                .watch(
                    new ListOptionsBuilder()
                        .withResourceVersion(listed.getMetadata().getResourceVersion())
                        .build(),
                    changes);
        pause = FIRST_PAUSE;
        on.schedule(relistInterval, changes::renew);
      } finally {
        tell(listener);
      }
    } catch (RuntimeException e) {
      if (!closed) {
        listener.onError(
            new IllegalStateException(name() + " can't be watched and is tried again", e));
        listLater(on, listener);
      }
    }
    if (closed) {
      quietly(watch);
    }
  }

  private void listLater(Scheduler on, Listener listener) {
    quietly(watch);
    watch = null;
    on.schedule(pause, () -> list(on, listener));
    Duration next = pause.multipliedBy(2);
    pause = next.compareTo(LAST_PAUSE) < 0 ? next : LAST_PAUSE;
  }

  private static void quietly(@Nullable Watch watch) {
    if (watch != null) {
      watch.close();
    }
  }

  /** Follows one watch, on the scheduler; its end, however it comes, is followed by a new list. */
  private final class Changes implements Watcher<EndpointSlice> {
    private final Scheduler on;
    private final Listener listener;
    private boolean over;

    Changes(Scheduler on, Listener listener) {
      this.on = on;
      this.listener = listener;
    }

    /** Never by itself: it could miss what happened meanwhile. */
    @Override
    public boolean reconnecting() {
      return false;
    }

    @Override
    public void eventReceived(Action action, EndpointSlice slice) {
      on.execute(
          () -> {
            if (over || closed || slice == null || action == Action.BOOKMARK) {
              return;
            }
            if (action == Action.ERROR) {
              end();
              return;
            }
            String name = slice.getMetadata().getName();
            if (action == Action.DELETED) {
              byName.remove(name);
            } else {
              byName.put(name, slice);
            }
            tell(listener);
          });
    }

    /** Lists anew although the watch seems well: a connection can be dead and not say so. */
    void renew() {
      if (!over && !closed) {
        over = true;
        quietly(watch);
        list(on, listener);
      }
    }

    private void end() {
      if (!over && !closed) {
        over = true;
        listLater(on, listener);
      }
    }

    @Override
    public void onClose() {
      on.execute(this::end);
    }

    @Override
    public void onClose(WatcherException cause) {
      on.execute(this::end);
    }
  }

  private void tell(Listener listener) {
    found(List.copyOf(byName.values()), listener);
  }

  private void found(List<EndpointSlice> slices, Listener listener) {
    Map<String, WorkerSpec> workers = new LinkedHashMap<>();
    Map<String, String> pods = new LinkedHashMap<>();
    if (podLabels != null) {
      podLabels.keep(slices);
    }
    List<EndpointSlice> inOrder = new ArrayList<>(slices);
    inOrder.sort(Comparator.comparing(slice -> slice.getMetadata().getName()));
    for (EndpointSlice slice : inOrder) {
      Integer at = port(slice);
      for (Endpoint endpoint : slice.getEndpoints()) {
        if (at == null || endpoint.getAddresses().isEmpty() || !ready(endpoint)) {
          continue;
        }
        try {
          WorkerSpec spec = spec(slice, endpoint, at, listener);
          workers.putIfAbsent(spec.id().value(), spec);
          pods.putIfAbsent(spec.id().value(), pod(endpoint));
        } catch (IllegalArgumentException e) {
          listener.onError(
              new IllegalArgumentException(
                  name() + ": slice " + slice.getMetadata().getName() + ": " + e.getMessage(), e));
        }
      }
    }
    List<WorkerSpec> sameAsBefore = new ArrayList<>();
    workers.forEach(
        (address, spec) -> {
          String before = podByAddress.get(address);
          if (before == null || before.equals(pods.get(address))) {
            sameAsBefore.add(spec);
          }
        });
    if (sameAsBefore.size() < workers.size()) {
      listener.onWorkers(sameAsBefore); // those whose address is another pod's now leave first
    }
    podByAddress = pods;
    listener.onWorkers(List.copyOf(workers.values()));
  }

  private @Nullable Integer port(EndpointSlice slice) {
    if (port != null) {
      return port;
    }
    for (EndpointPort each : slice.getPorts()) {
      if (portName == null || portName.equals(each.getName())) {
        return each.getPort();
      }
    }
    return null;
  }

  private static boolean ready(Endpoint endpoint) {
    EndpointConditions conditions = endpoint.getConditions();
    return conditions == null
        || (!Boolean.FALSE.equals(conditions.getReady())
            && !Boolean.TRUE.equals(conditions.getTerminating()));
  }

  private static String pod(Endpoint endpoint) {
    return endpoint.getTargetRef() == null
        ? ""
        : Objects.requireNonNullElse(endpoint.getTargetRef().getUid(), "");
  }

  /** The slice's labels, and over them the pod's where they are asked for and can be had. */
  private Map<String, String> labels(EndpointSlice slice, Endpoint endpoint, Listener listener) {
    Map<String, String> ofService =
        Objects.requireNonNullElse(slice.getMetadata().getLabels(), Map.of());
    if (podLabels == null) {
      return ofService;
    }
    Map<String, String> labels = new HashMap<>(ofService);
    try {
      labels.putAll(podLabels.of(endpoint));
    } catch (RuntimeException e) {
      listener.onError(
          new IllegalStateException(
              name()
                  + ": a pod's labels can't be read, its role and engine are the service's: grant"
                  + " get on pods",
              e));
    }
    return labels;
  }

  private WorkerSpec spec(EndpointSlice slice, Endpoint endpoint, int at, Listener listener) {
    String address = endpoint.getAddresses().get(0);
    String host = address.indexOf(':') >= 0 ? "[" + address + "]" : address;
    WorkerSpec.Builder builder = WorkerSpec.builder(scheme + "://" + host + ":" + at);
    Map<String, String> labels = labels(slice, endpoint, listener);
    String role = labels.get(ROLE_LABEL);
    if (role != null) {
      builder.role(WorkerRole.parse(role));
    }
    String engine = labels.get(ENGINE_LABEL);
    if (engine != null) {
      builder.engine(EngineKind.parse(engine));
    }
    if (endpoint.getTargetRef() != null && endpoint.getTargetRef().getName() != null) {
      builder.label("pod", endpoint.getTargetRef().getName());
    }
    if (endpoint.getNodeName() != null) {
      builder.label("node", endpoint.getNodeName());
    }
    if (endpoint.getZone() != null) {
      builder.label("zone", endpoint.getZone());
    }
    return customizer.apply(builder).build();
  }

  @Override
  public void close() {
    Scheduler running;
    lock.lock();
    try {
      closed = true;
      running = scheduler;
    } finally {
      lock.unlock();
    }
    quietly(watch);
    if (running != null) {
      running.close();
    }
  }

  /** Builds a {@link KubernetesDiscovery}. Not thread safe. */
  public static final class Builder {
    private final KubernetesClient client;
    private final String namespace;
    private final String service;
    private String scheme = "http";
    private @Nullable String portName;
    private @Nullable Integer port;
    private UnaryOperator<WorkerSpec.Builder> customizer = UnaryOperator.identity();
    private Duration relistInterval = KubernetesSettings.DEFAULT_RELIST_INTERVAL;
    private boolean podLabels;

    private Builder(KubernetesClient client, String namespace, String service) {
      this.client = client;
      this.namespace = namespace;
      this.service = service;
    }

    /** Sets the scheme of the workers' URLs; {@code http} by default. */
    public Builder scheme(String scheme) {
      this.scheme = scheme.toLowerCase(Locale.ROOT);
      return this;
    }

    /** Takes the service's port of this name; its first by default. */
    public Builder portName(String name) {
      this.portName = name;
      return this;
    }

    /**
     * Takes this port of each pod, whatever the service says.
     *
     * @throws IllegalArgumentException when it is none
     */
    public Builder port(int port) {
      if (port < 1 || port > 65_535) {
        throw new IllegalArgumentException("port " + port + ": use 1 to 65535");
      }
      this.port = port;
      return this;
    }

    /**
     * Takes role and engine from the pods' own labels where they have any, before the service's.
     * Each pod is read once, when it is first seen: a label that changes later is not noticed. A
     * pod that can't be read is reported, and tried again with the next change or listing.
     */
    public Builder podLabels() {
      this.podLabels = true;
      return this;
    }

    /** Sets what every worker has in common (role, engine, keys, labels), given its address. */
    public Builder workers(UnaryOperator<WorkerSpec.Builder> customizer) {
      this.customizer = customizer;
      return this;
    }

    /**
     * Sets after how long the slices are listed anew, and watched from there, although the watch
     * seems well; a minute by default. It bounds for how long a watch whose connection is dead
     * without saying so keeps a pod that is gone.
     *
     * @throws IllegalArgumentException when it is not positive
     */
    public Builder relistInterval(Duration interval) {
      if (interval.isNegative() || interval.isZero()) {
        throw new IllegalArgumentException("a relist interval of " + interval + ": use 1s or more");
      }
      this.relistInterval = interval;
      return this;
    }

    /** The finished source; nothing is asked before it is started. */
    public KubernetesDiscovery build() {
      return new KubernetesDiscovery(this);
    }
  }
}

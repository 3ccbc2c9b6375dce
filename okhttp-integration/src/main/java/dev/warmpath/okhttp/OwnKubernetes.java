package dev.warmpath.okhttp;

import dev.warmpath.config.KubernetesSettings;
import dev.warmpath.worker.WorkerDiscovery;
import dev.warmpath.worker.WorkerSpec;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.util.function.UnaryOperator;

/** A {@link KubernetesDiscovery} with a client of its own, which it closes with itself. */
final class OwnKubernetes implements WorkerDiscovery {
  private final KubernetesClient client;
  private final KubernetesDiscovery discovery;

  private OwnKubernetes(KubernetesClient client, KubernetesDiscovery discovery) {
    this.client = client;
    this.discovery = discovery;
  }

  /** With the credentials of the pod or the user that the process runs as. */
  static OwnKubernetes of(KubernetesSettings settings, UnaryOperator<WorkerSpec.Builder> common) {
    return of(settings, common, new KubernetesClientBuilder().build());
  }

  static OwnKubernetes of(
      KubernetesSettings settings,
      UnaryOperator<WorkerSpec.Builder> common,
      KubernetesClient client) {
    KubernetesDiscovery.Builder builder =
        KubernetesDiscovery.builder(client, settings.namespace(), settings.service())
            .scheme(settings.scheme())
            .workers(common)
            .relistInterval(settings.relistInterval());
    String portName = settings.portName();
    if (portName != null) {
      builder.portName(portName);
    }
    Integer port = settings.port();
    if (port != null) {
      builder.port(port);
    }
    if (settings.podLabels()) {
      builder.podLabels();
    }
    return new OwnKubernetes(client, builder.build());
  }

  @Override
  public String name() {
    return discovery.name();
  }

  @Override
  public void start(Listener listener) {
    discovery.start(listener);
  }

  @Override
  public void close() {
    discovery.close();
    client.close();
  }
}

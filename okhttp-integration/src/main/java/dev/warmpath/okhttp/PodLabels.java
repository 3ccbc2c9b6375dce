package dev.warmpath.okhttp;

import io.fabric8.kubernetes.api.model.ObjectReference;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.discovery.v1.Endpoint;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSlice;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * The labels of the pods behind a service, which EndpointSlices do not carry. Each pod is read
 * once. Confined to the discovery's thread.
 */
final class PodLabels {
  private final KubernetesClient client;
  private final String namespace;
  private final Map<String, Map<String, String>> byUid = new HashMap<>();

  PodLabels(KubernetesClient client, String namespace) {
    this.client = client;
    this.namespace = namespace;
  }

  /**
   * The labels of an endpoint's pod; none where it has no pod, or that is another one by now.
   *
   * @throws RuntimeException if Kubernetes does not tell
   */
  Map<String, String> of(Endpoint endpoint) {
    ObjectReference ref = endpoint.getTargetRef();
    if (ref == null || ref.getName() == null || ref.getUid() == null) {
      return Map.of();
    }
    Map<String, String> known = byUid.get(ref.getUid());
    if (known != null) {
      return known;
    }
    Pod pod = client.pods().inNamespace(namespace).withName(ref.getName()).get();
    if (pod == null || !ref.getUid().equals(pod.getMetadata().getUid())) {
      return Map.of();
    }
    Map<String, String> labels =
        Map.copyOf(Objects.requireNonNullElse(pod.getMetadata().getLabels(), Map.of()));
    byUid.put(ref.getUid(), labels);
    return labels;
  }

  /** Forgets the pods that are in none of these slices. */
  void keep(List<EndpointSlice> slices) {
    Set<String> present = new HashSet<>();
    for (EndpointSlice slice : slices) {
      for (Endpoint endpoint : slice.getEndpoints()) {
        if (endpoint.getTargetRef() != null) {
          present.add(endpoint.getTargetRef().getUid());
        }
      }
    }
    byUid.keySet().retainAll(present);
  }
}

package dev.warmpath.config;

import dev.warmpath.index.BlockLocator;
import dev.warmpath.transport.KnowledgeTransport;
import dev.warmpath.transport.Transport;
import dev.warmpath.worker.Secret;
import dev.warmpath.worker.WorkerDiscovery;
import dev.warmpath.worker.WorkerSpec;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Makes the parts of a client that a configuration names and for which another module has the code:
 * transports, a UMBP master's client, discovery in Kubernetes. Modules provide one through {@link
 * java.util.ServiceLoader}, so that a file does without code of the application's.
 *
 * <p>Called when a client is built or given another configuration, on that thread; must not wait
 * for the network. Whoever asks closes what is made. Each method returns null where the module has
 * no such part, and throws {@link IllegalArgumentException} saying what to correct in the settings.
 */
public interface PartMaker {
  /** A transport for {@code http} and {@code https} workers. */
  default @Nullable Transport http(HttpSettings settings) {
    return null;
  }

  /** A transport for {@code grpc} and {@code grpcs} workers. */
  default @Nullable Transport grpc(GrpcSettings settings) {
    return null;
  }

  /** What asks a UMBP master. */
  default @Nullable BlockLocator umbp(UmbpSettings settings) {
    return null;
  }

  /**
   * What finds a Kubernetes service's pods, by the credentials of the pod or the user that the
   * process runs as.
   *
   * @param common says what all its workers have in common
   */
  default @Nullable WorkerDiscovery kubernetes(
      KubernetesSettings settings, UnaryOperator<WorkerSpec.Builder> common) {
    return null;
  }

  /**
   * What talks to knowledge nodes.
   *
   * @param key goes with every call, or null
   */
  default @Nullable KnowledgeTransport knowledge(@Nullable Secret key) {
    return null;
  }
}

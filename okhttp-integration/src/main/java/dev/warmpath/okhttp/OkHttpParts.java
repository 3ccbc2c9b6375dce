package dev.warmpath.okhttp;

import dev.warmpath.config.HttpSettings;
import dev.warmpath.config.KubernetesSettings;
import dev.warmpath.config.PartMaker;
import dev.warmpath.transport.KnowledgeTransport;
import dev.warmpath.transport.Transport;
import dev.warmpath.worker.Secret;
import dev.warmpath.worker.WorkerDiscovery;
import dev.warmpath.worker.WorkerSpec;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * What a configuration file can name of this module: {@code transports: http}, {@code
 * discovery.kubernetes} and {@code knowledge.enabled}. Found by {@link java.util.ServiceLoader};
 * applications have the builders.
 */
public final class OkHttpParts implements PartMaker {
  /** For {@link java.util.ServiceLoader}. */
  public OkHttpParts() {}

  @Override
  public Transport http(HttpSettings settings) {
    return OkHttpTransport.builder()
        .keepAlive(settings.keepAlive())
        .maxIdleConnections(settings.maxIdleConnections())
        .http2PriorKnowledge(settings.http2PriorKnowledge())
        .build();
  }

  /** The class is named here alone, so that fabric8's client need not be there for the others. */
  @Override
  public WorkerDiscovery kubernetes(
      KubernetesSettings settings, UnaryOperator<WorkerSpec.Builder> common) {
    return OwnKubernetes.of(settings, common);
  }

  @Override
  public KnowledgeTransport knowledge(@Nullable Secret key) {
    OkHttpKnowledgeTransport.Builder builder = OkHttpKnowledgeTransport.builder();
    return (key == null ? builder : builder.key(key)).build();
  }
}

package dev.warmpath.config;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A Kubernetes service that a configuration names as a source of workers.
 *
 * @param namespace its namespace
 * @param service its name
 * @param scheme the scheme of its workers' URLs
 * @param portName the port of the service that is taken, or null for its first
 * @param port the port of each pod that is taken, whatever the service says, or null
 * @param podLabels whether role and engine come from the pods' own labels before the service's
 * @param relistInterval after how long the slices are listed anew although the watch seems well
 */
public record KubernetesSettings(
    String namespace,
    String service,
    String scheme,
    @Nullable String portName,
    @Nullable Integer port,
    boolean podLabels,
    Duration relistInterval) {
  /** A minute. */
  public static final Duration DEFAULT_RELIST_INTERVAL = Duration.ofMinutes(1);
}

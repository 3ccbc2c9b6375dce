package dev.warmpath;

import dev.warmpath.config.ConfiguredParts;
import dev.warmpath.config.DiscoverySource;
import dev.warmpath.index.BlockLocator;
import dev.warmpath.knowledge.KnowledgeRouting;
import dev.warmpath.transport.KnowledgeTransport;
import dev.warmpath.transport.Transport;
import dev.warmpath.worker.WorkerDiscovery;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What a client talks by: what its builder was given, and for what it was not given, what its
 * configuration names.
 *
 * @param transports for workers
 * @param locator asked where blocks are, or null
 * @param knowledge decides where knowledge comes from, or null
 * @param discoveries those that the configuration names, not started
 * @param made what was made rather than given
 */
record ClientParts(
    List<Transport> transports,
    @Nullable BlockLocator locator,
    @Nullable KnowledgeRouting knowledge,
    Map<DiscoverySource, WorkerDiscovery> discoveries,
    List<AutoCloseable> made) {

  /**
   * Makes what is named.
   *
   * @throws IllegalStateException when there is no transport
   * @throws dev.warmpath.config.ConfigException when what is named can't be made; nothing is left
   *     open then but what was given
   */
  static ClientParts of(ClientOptions options) {
    ConfiguredParts named = options.config.parts();
    List<AutoCloseable> made = new ArrayList<>();
    try {
      Set<String> served =
          options.transports.stream()
              .flatMap(transport -> transport.schemes().stream())
              .collect(Collectors.toSet());
      List<Transport> transports = new ArrayList<>(options.transports);
      List<Transport> more = named.transports(served);
      made.addAll(more);
      transports.addAll(more);
      if (transports.isEmpty()) {
        throw new IllegalStateException(
            "a router client needs a transport, such as OkHttpTransport.create(), or transports in"
                + " its configuration");
      }
      BlockLocator locator = options.blockLocator;
      if (locator == null) {
        locator = named.blockLocator();
        if (locator != null) {
          made.add(locator);
        }
      }
      Map<DiscoverySource, WorkerDiscovery> discoveries =
          Discoveries.open(options.config.discoveries());
      made.addAll(discoveries.values());
      KnowledgeRouting knowledge = options.knowledge;
      if (knowledge == null) {
        knowledge = knowledge(options);
        if (knowledge != null) {
          made.add(knowledge);
        }
      }
      return new ClientParts(List.copyOf(transports), locator, knowledge, discoveries, made);
    } catch (RuntimeException e) {
      made.forEach(RouterClient::quietly);
      throw e;
    }
  }

  /** Closes what was made, where no client came of it. */
  void abandon() {
    made.forEach(RouterClient::quietly);
  }

  private static @Nullable KnowledgeRouting knowledge(ClientOptions options) {
    KnowledgeRouting.Builder builder = options.knowledgeBuilder;
    if (builder == null) {
      KnowledgeTransport transport = options.config.parts().knowledge();
      if (transport == null) {
        return null;
      }
      builder = KnowledgeRouting.builder().transport(transport);
      if (options.scheduler != null) {
        builder.scheduler(options.scheduler);
      }
    }
    return builder.otherwise(options.config.knowledgeRouting()).build();
  }
}

package dev.warmpath.config;

import dev.warmpath.index.BlockLocator;
import dev.warmpath.transport.KnowledgeTransport;
import dev.warmpath.transport.Transport;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The parts of a client that a configuration names and that other modules make ({@link PartMaker}).
 * Each call makes a new one, which is the caller's to close. Immutable.
 */
public final class ConfiguredParts {
  private final String source;
  private final ConfigValues values;
  private final HttpSettings http;
  private final GrpcSettings grpc;

  ConfiguredParts(String source, ConfigValues values) {
    this.source = source;
    this.values = values;
    this.http = values.section("http", () -> Keys.PARTS.http(values));
    this.grpc = values.section("grpc", () -> Keys.PARTS.grpc(values));
  }

  HttpSettings http() {
    return http;
  }

  GrpcSettings grpc() {
    return grpc;
  }

  @Nullable UmbpSettings umbp() {
    return Keys.PARTS.umbp(values);
  }

  /**
   * Whether a transport is named.
   *
   * @param scheme {@code http} or {@code grpc}
   */
  public boolean carries(String scheme) {
    return values.get(Keys.PARTS.transports).stream()
        .anyMatch(carrier -> carrier.scheme().equals(scheme));
  }

  /** Whether a UMBP master is named. */
  public boolean asksMaster() {
    return umbp() != null;
  }

  /**
   * Transports of those that are named.
   *
   * @param served the schemes that others serve already, for which none is made
   * @throws ConfigException when a module that makes one is not on the class path
   */
  public List<Transport> transports(Set<String> served) {
    List<Transport> made = new ArrayList<>();
    Place place = new Place(source, "transports");
    try {
      for (PartKeys.Carrier carrier : new LinkedHashSet<>(values.get(Keys.PARTS.transports))) {
        if (!served.contains(carrier.scheme())) {
          made.add(
              switch (carrier) {
                case HTTP -> Parts.<Transport>made(place, Parts.HTTP, maker -> maker.http(http));
                case GRPC -> Parts.<Transport>made(place, Parts.GRPC, maker -> maker.grpc(grpc));
              });
        }
      }
      return made;
    } catch (ConfigException e) {
      made.forEach(Transport::close);
      throw e;
    }
  }

  /**
   * A client of the UMBP master that is named, or null where none is.
   *
   * @throws ConfigException when the module that makes one is not on the class path
   */
  public @Nullable BlockLocator blockLocator() {
    UmbpSettings settings = umbp();
    return settings == null
        ? null
        : Parts.<BlockLocator>made(
            new Place(source, "umbp.master"), Parts.GRPC, maker -> maker.umbp(settings));
  }

  /**
   * A transport to knowledge nodes where knowledge routing is to be made, else null.
   *
   * @throws ConfigException when the module that makes one is not on the class path
   */
  public @Nullable KnowledgeTransport knowledge() {
    return values.get(Keys.PARTS.knowledge)
        ? Parts.<KnowledgeTransport>made(
            new Place(source, "knowledge.enabled"),
            Parts.HTTP,
            maker -> maker.knowledge(values.find(Keys.PARTS.knowledgeKey)))
        : null;
  }
}

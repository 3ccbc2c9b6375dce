package dev.warmpath.config;

import static dev.warmpath.config.ConfigTypes.BYTES;
import static dev.warmpath.config.ConfigTypes.DURATION;
import static dev.warmpath.config.ConfigTypes.SECRET;
import static dev.warmpath.config.ConfigTypes.SWITCH;
import static dev.warmpath.config.ConfigTypes.TEXT;
import static dev.warmpath.config.ConfigTypes.count;
import static dev.warmpath.config.ConfigTypes.list;
import static dev.warmpath.config.ConfigTypes.oneOf;

import dev.warmpath.worker.Secret;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The keys of parts that other modules make: transports, a UMBP master's client. */
final class PartKeys {
  private static final int MANY = Integer.MAX_VALUE;

  /** What a file may name as a transport. */
  enum Carrier {
    HTTP,
    GRPC;

    /** The scheme of those that it carries, without TLS. */
    String scheme() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  final ConfigKey<List<Carrier>> transports;
  private final ConfigKey<Duration> keepAlive;
  private final ConfigKey<Integer> idleConnections;
  private final ConfigKey<Boolean> priorKnowledge;
  private final ConfigKey<Duration> pings;
  private final ConfigKey<Duration> pingTimeout;
  private final ConfigKey<Boolean> idlePings;
  private final ConfigKey<Long> inboundBytes;
  private final ConfigKey<Duration> idleTimeout;
  private final ConfigKey<String> master;
  private final ConfigKey<Integer> lookups;
  private final ConfigKey<Boolean> hitCounting;
  final ConfigKey<Boolean> knowledge;
  final ConfigKey<Secret> knowledgeKey;

  /** Adds the keys. */
  PartKeys(ConfigTable table) {
    transports =
        table.fixed(
            WhyFixed.CONNECTIONS,
            "transports",
            list(oneOf(Carrier.values())),
            List.of(),
            "Makes a transport for these where the application gives none for their schemes: `http`"
                + " takes `"
                + Parts.HTTP
                + "` on the class path, `grpc` `"
                + Parts.GRPC
                + "` and one of gRPC's own transports.");
    HttpSettings http = HttpSettings.DEFAULT;
    keepAlive =
        table.fixed(
            WhyFixed.CONNECTIONS,
            "http.keep_alive",
            DURATION,
            http.keepAlive(),
            "How long such a transport keeps an idle connection; engines close one after 5 s.");
    idleConnections =
        table.fixed(
            WhyFixed.CONNECTIONS,
            "http.max_idle_connections",
            count(0, MANY),
            http.maxIdleConnections(),
            "How many it keeps over all workers.");
    priorKnowledge =
        table.fixed(
            WhyFixed.CONNECTIONS,
            "http.http2_prior_knowledge",
            SWITCH,
            http.http2PriorKnowledge(),
            "Speaks HTTP/2 without TLS to `http` workers, and to no others.");
    GrpcSettings grpc = GrpcSettings.DEFAULT;
    pings =
        table.fixed(
            WhyFixed.CONNECTIONS,
            "grpc.keep_alive",
            DURATION,
            grpc.keepAlive(),
            "How long a silent connection goes unchecked; 0 sends no pings.");
    pingTimeout =
        table.fixed(
            WhyFixed.CONNECTIONS,
            "grpc.keep_alive_timeout",
            DURATION,
            grpc.keepAliveTimeout(),
            "How long a ping may stay unanswered.");
    idlePings =
        table.fixed(
            WhyFixed.CONNECTIONS,
            "grpc.pings_when_idle",
            SWITCH,
            grpc.pingsWhenIdle(),
            "Whether a connection without calls is pinged too.");
    inboundBytes =
        table.fixed(
            WhyFixed.CONNECTIONS,
            "grpc.max_inbound_bytes",
            BYTES,
            (long) grpc.maxInboundBytes(),
            "The largest message that is accepted.");
    idleTimeout =
        table.fixed(
            WhyFixed.CONNECTIONS,
            "grpc.idle_timeout",
            DURATION,
            grpc.idleTimeout(),
            "After how long without calls the connection is dropped, to be made anew by the next.");
    master =
        table.fixed(
            WhyFixed.CONNECTIONS,
            "umbp.master",
            TEXT,
            null,
            "Asks this UMBP master before each decision where the prompt's blocks are: `host:port`,"
                + " or a `grpc://` or `grpcs://` URL. Takes `"
                + Parts.GRPC
                + "`, the model's files, and a policy that goes by it; `lookup` says how it is"
                + " asked.");
    lookups =
        table.fixed(
            WhyFixed.CONNECTIONS,
            "umbp.max_in_flight",
            count(1, MANY),
            UmbpSettings.DEFAULT_MAX_IN_FLIGHT,
            "How many look-ups may be under way; beyond it requests are routed without one.");
    hitCounting =
        table.fixed(
            WhyFixed.CONNECTIONS,
            "umbp.hit_counting",
            SWITCH,
            true,
            "Whether the master counts the blocks of requests that are sent as used.");
    knowledge =
        table.fixed(
            WhyFixed.KNOWLEDGE,
            "knowledge.enabled",
            SWITCH,
            false,
            "Decides where the knowledge of requests comes from, where the application gives no"
                + " `KnowledgeRouting` or builder of one. Takes `"
                + Parts.HTTP
                + "`.");
    knowledgeKey =
        table.fixed(
            WhyFixed.KNOWLEDGE,
            "knowledge.key",
            SECRET,
            null,
            "Then goes with every call to a node, as `Authorization: Bearer`.");
  }

  HttpSettings http(ConfigValues values) {
    Duration keep = values.get(keepAlive);
    if (keep.isZero()) {
      throw new IllegalArgumentException("keep_alive must be longer than nothing");
    }
    return new HttpSettings(keep, values.get(idleConnections), values.get(priorKnowledge));
  }

  GrpcSettings grpc(ConfigValues values) {
    long bytes = values.get(inboundBytes);
    if (bytes < 1 || bytes > MANY) {
      throw new IllegalArgumentException("max_inbound_bytes must be above 0 and below 2GB");
    }
    Duration interval = values.get(pings);
    return new GrpcSettings(
        interval.isZero() ? null : interval,
        values.get(pingTimeout),
        values.get(idlePings),
        (int) bytes,
        values.get(idleTimeout));
  }

  @Nullable UmbpSettings umbp(ConfigValues values) {
    String address = values.find(master);
    return address == null
        ? null
        : new UmbpSettings(address, values.get(lookups), values.get(hitCounting));
  }
}

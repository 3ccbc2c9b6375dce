package dev.warmpath.grpc;

import dev.warmpath.config.GrpcSettings;
import dev.warmpath.worker.TlsFiles;
import dev.warmpath.worker.Worker;
import io.grpc.ChannelCredentials;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.TlsChannelCredentials;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * How channels to one kind of server are made. A channel is one connection that all calls share,
 * made when the first call needs it. gRPC's own retries are off: whoever routes decides about them.
 * Callbacks run on the transport's threads, so they must not block.
 *
 * <p>Which transport carries the channel is the application's choice: {@code grpc-netty-shaded}, or
 * any other that gRPC finds on the class path.
 *
 * @param keepAlive how long a silent connection goes unchecked, or null to send no pings: servers
 *     close connections that ping more often than they allow
 * @param keepAliveTimeout how long a ping may stay unanswered
 * @param pingsWhenIdle whether a connection without calls is pinged too
 * @param maxInboundBytes the largest message that is accepted
 * @param idleTimeout after how long without calls the connection is dropped, to be made anew by the
 *     next call
 * @param tls the credentials of {@code grpcs} addresses, or null for the JVM's trust store
 */
public record ChannelSettings(
    @Nullable Duration keepAlive,
    Duration keepAliveTimeout,
    boolean pingsWhenIdle,
    int maxInboundBytes,
    Duration idleTimeout,
    @Nullable ChannelCredentials tls) {

  /**
   * For engines: pings every 30 s, idle or not, and messages of 256 MiB. smg's servicers allow a
   * ping every 10 s without calls (smg-grpc-servicer 0.8.0).
   */
  public static final ChannelSettings ENGINE = of(GrpcSettings.DEFAULT);

  /**
   * For UMBP masters, which keep gRPC's default of closing connections that ping more than once in
   * 5 minutes: no pings, and messages of 64 MiB as the master sends them.
   */
  public static final ChannelSettings UMBP =
      new ChannelSettings(
          null, Duration.ofSeconds(20), false, 64 << 20, Duration.ofMinutes(30), null);

  /** Refuses a limit that admits no message. */
  public ChannelSettings {
    if (maxInboundBytes < 1) {
      throw new IllegalArgumentException(
          "messages of " + maxInboundBytes + " bytes: use 1 or more");
    }
  }

  /** What a configuration says of channels to engines. */
  static ChannelSettings of(GrpcSettings settings) {
    return new ChannelSettings(
        settings.keepAlive(),
        settings.keepAliveTimeout(),
        settings.pingsWhenIdle(),
        settings.maxInboundBytes(),
        settings.idleTimeout(),
        null);
  }

  /** These with other credentials for {@code grpcs} addresses. */
  public ChannelSettings withTls(@Nullable ChannelCredentials tls) {
    return new ChannelSettings(
        keepAlive, keepAliveTimeout, pingsWhenIdle, maxInboundBytes, idleTimeout, tls);
  }

  /**
   * These with a worker's own TLS files, where it has any.
   *
   * @throws IllegalArgumentException when they can't be used
   */
  ChannelSettings forWorker(Worker worker) {
    TlsFiles files = worker.spec().tls();
    if (files == null) {
      return this;
    }
    TlsChannelCredentials.Builder credentials = TlsChannelCredentials.newBuilder();
    try {
      Path trust = files.trust();
      if (trust != null) {
        credentials.trustManager(trust.toFile());
      }
      Path certificate = files.certificate();
      Path key = files.key();
      if (certificate != null && key != null) {
        credentials.keyManager(certificate.toFile(), key.toFile());
      }
    } catch (IOException e) {
      throw new IllegalArgumentException(
          "the TLS files of " + worker.id() + " can't be read: make them readable", e);
    }
    return withTls(credentials.build());
  }

  /** These with another interval of pings; null sends none. */
  public ChannelSettings withKeepAlive(@Nullable Duration keepAlive) {
    return new ChannelSettings(
        keepAlive, keepAliveTimeout, pingsWhenIdle, maxInboundBytes, idleTimeout, tls);
  }

  /**
   * Makes a channel; nothing is sent yet. The caller shuts it down.
   *
   * @param address {@code grpc://host:port}, or {@code grpcs://host:port} for TLS
   * @throws IllegalArgumentException when it is no such address
   */
  public ManagedChannel open(URI address) {
    String scheme = String.valueOf(address.getScheme());
    ChannelCredentials credentials =
        switch (scheme) {
          case "grpc" -> InsecureChannelCredentials.create();
          case "grpcs" -> tls == null ? TlsChannelCredentials.create() : tls;
          default ->
              throw new IllegalArgumentException(
                  "'"
                      + address
                      + "' is no gRPC address: use grpc://host:port or grpcs://host:port");
        };
    // Names that only registries know, such as llm_1, have no host by URI's rules.
    return apply(Grpc.newChannelBuilder("dns:///" + address.getRawAuthority(), credentials))
        .build();
  }

  /** Puts these settings on a builder of the caller's, all but the credentials. */
  public ManagedChannelBuilder<?> apply(ManagedChannelBuilder<?> builder) {
    builder
        .disableRetry()
        .directExecutor()
        .maxInboundMessageSize(maxInboundBytes)
        .idleTimeout(idleTimeout.toMillis(), TimeUnit.MILLISECONDS);
    Duration interval = keepAlive;
    if (interval != null) {
      builder
          .keepAliveTime(interval.toMillis(), TimeUnit.MILLISECONDS)
          .keepAliveTimeout(keepAliveTimeout.toMillis(), TimeUnit.MILLISECONDS)
          .keepAliveWithoutCalls(pingsWhenIdle);
    }
    return builder;
  }
}

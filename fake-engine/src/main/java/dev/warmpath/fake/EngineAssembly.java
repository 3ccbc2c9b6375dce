package dev.warmpath.fake;

import dev.warmpath.fake.handoff.HandoffTimeouts;
import dev.warmpath.fake.handoff.TransferProtocol;
import dev.warmpath.fake.internal.surface.EngineSettings;
import dev.warmpath.fake.internal.surface.HandoffOptions;
import dev.warmpath.fake.scheduler.CoreOptions;
import dev.warmpath.fake.scheduler.KvTransfer;
import dev.warmpath.fake.scheduler.LatencyModel;
import dev.warmpath.fake.wire.GrpcApi;
import dev.warmpath.worker.EngineKind;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Works out an engine's settings from what its builder was told and what its kind makes of it. */
final class EngineAssembly {
  private final FakeEngineBuilder options;

  EngineAssembly(FakeEngineBuilder options) {
    this.options = options;
  }

  /** The settings of an engine that listens at a URL. */
  EngineSettings settings(String url) {
    boolean sglang = options.kind == EngineKind.SGLANG;
    Duration stream = options.disconnectDelay;
    Duration plain = options.disconnectDelay;
    if (stream == null || plain == null) {
      stream = sglang ? scaled(2_000) : Duration.ZERO;
      plain = sglang ? scaled(4_000) : Duration.ZERO;
    }
    return new EngineSettings(
        options.kind,
        options.role,
        options.model,
        options.servedModels.isEmpty() ? List.of(options.model) : options.servedModels,
        options.loraAdapters,
        options.encoder,
        coreOptions(),
        options.schedulePolicy,
        options.dpSize,
        options.version != null ? options.version : defaultVersion(),
        options.apiKey,
        options.adminKey,
        options.cacheReport,
        options.loadsShape,
        options.metricNames,
        options.metricsRefresh,
        options.devMode,
        options.healthLatency != null ? options.healthLatency : scaled(1_000),
        stream,
        plain,
        options.defaultOutputTokens,
        options.embeddingDimensions,
        handoff(),
        options.seed,
        options.host,
        options.kvEvents,
        options.umbp == null ? null : options.umbp.at(url));
  }

  /** The gRPC server to have, or null for none. */
  @Nullable GrpcApi grpcApi() {
    if (options.grpcPort == null) {
      return null;
    }
    GrpcApi api = options.grpcApi == null ? GrpcApi.of(options.kind) : options.grpcApi;
    if (api.engine() != options.kind) {
      throw new IllegalArgumentException(options.kind.label() + " has no gRPC server " + api);
    }
    return api;
  }

  LatencyModel latency() {
    return options.timing.scaled(options.speedup, options.speedup);
  }

  private CoreOptions coreOptions() {
    return CoreOptions.builder()
        .numBlocks(options.blocks)
        .blockSize(tokensPerBlock())
        .maxNumSeqs(options.maxNumSeqs)
        .maxNumBatchedTokens(options.maxBatchedTokens)
        .maxModelLen(options.maxModelLen)
        .prefixCaching(options.prefixCaching)
        .cacheEvents(options.kvEvents != null || options.umbp != null)
        .role(options.role)
        .transfer(
            new KvTransfer(
                options.kvTransfer.bytesPerToken(),
                options.kvTransfer.gigabytesPerSecond() * divisor()))
        .build();
  }

  private HandoffOptions handoff() {
    TransferProtocol protocol =
        options.transfer != null ? options.transfer : TransferProtocol.usual(options.kind);
    if (protocol.engine() != options.kind) {
      throw new IllegalArgumentException(
          options.kind.label() + " engines do not speak " + protocol.label());
    }
    return new HandoffOptions(
        protocol,
        options.handoffTimeouts != null ? options.handoffTimeouts : HandoffTimeouts.of(protocol),
        options.sideChannelPort,
        options.handoffsBySocket);
  }

  private int tokensPerBlock() {
    if (options.blockSize != 0) {
      return options.blockSize;
    }
    return options.kind == EngineKind.ATOM ? 16 : 64;
  }

  private String defaultVersion() {
    return switch (options.kind) {
      case SGLANG -> "0.5.17";
      case VLLM -> "0.24.0";
      case ATOM, UNKNOWN -> "0.1.0";
    };
  }

  private Duration scaled(long millis) {
    return Duration.ofNanos((long) (millis * 1e6 / divisor()));
  }

  /** What simulated times are divided by. */
  private double divisor() {
    return options.speedup > 0 ? options.speedup : 1;
  }
}

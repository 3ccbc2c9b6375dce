package dev.warmpath.grpc;

import dev.warmpath.config.GrpcSettings;
import dev.warmpath.config.PartMaker;
import dev.warmpath.config.UmbpSettings;
import dev.warmpath.grpc.umbp.UmbpClient;
import dev.warmpath.index.BlockLocator;
import dev.warmpath.transport.Transport;

/**
 * What a configuration file can name of this module: {@code transports: grpc} and {@code
 * umbp.master}. Found by {@link java.util.ServiceLoader}; applications have the builders.
 */
public final class GrpcParts implements PartMaker {
  /** For {@link java.util.ServiceLoader}. */
  public GrpcParts() {}

  @Override
  public Transport grpc(GrpcSettings settings) {
    return GrpcTransport.builder().settings(ChannelSettings.of(settings)).build();
  }

  @Override
  public BlockLocator umbp(UmbpSettings settings) {
    return UmbpClient.builder(settings.master())
        .maxInFlight(settings.maxInFlight())
        .hitCounting(settings.hitCounting())
        .build();
  }
}

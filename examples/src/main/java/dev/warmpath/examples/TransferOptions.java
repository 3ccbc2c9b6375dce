package dev.warmpath.examples;

import dev.warmpath.fake.FakeEngineBuilder;
import dev.warmpath.fake.handoff.TransferProtocol;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** How fake prefill and decode workers hand KV over. */
final class TransferOptions {
  @Option(
      names = "--transfer",
      paramLabel = "PROTOCOL",
      description =
          "how prefill and decode workers hand KV over: sglang, nixl, nixl-push, mooncake, moriio,"
              + " moriio-read, p2pnccl or atom (default: the engine's usual)")
  private @Nullable String transfer;

  /** The protocol, or null for the engine's usual one. */
  @Nullable TransferProtocol protocol() {
    return transfer == null ? null : TransferProtocol.parse(transfer);
  }

  FakeEngineBuilder apply(FakeEngineBuilder builder) {
    TransferProtocol protocol = protocol();
    return protocol == null ? builder : builder.transfer(protocol);
  }
}

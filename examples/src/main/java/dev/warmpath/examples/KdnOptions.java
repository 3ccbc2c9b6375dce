package dev.warmpath.examples;

import dev.warmpath.fake.kdn.FakeKdn;
import dev.warmpath.fake.kdn.KdnNetwork;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** What a fake knowledge delivery node is like. */
final class KdnOptions {
  @Option(
      names = "--kdn-id",
      paramLabel = "ID",
      defaultValue = "kdn",
      description = "kdn: its id (default: ${DEFAULT-VALUE})")
  private String id = "kdn";

  @Option(
      names = "--control-plane",
      paramLabel = "URL",
      description = "kdn: registers there and sends it heartbeats (default: nowhere)")
  private @Nullable String controlPlane;

  @Option(
      names = "--control-plane-secret-env",
      paramLabel = "NAME",
      description = "kdn: the environment variable that holds what the control plane wants to hear")
  private @Nullable String secretVariable;

  @Option(
      names = "--bandwidth",
      paramLabel = "MB/S",
      description = "kdn: bandwidth of its link (default: 125)")
  private @Nullable Double bandwidth;

  @Option(
      names = "--efficiency",
      paramLabel = "SHARE",
      description = "kdn: share of it that is payload (default: 0.8)")
  private @Nullable Double efficiency;

  @Option(
      names = "--fixed-latency",
      paramLabel = "MS",
      description = "kdn: what each transfer takes on top (default: 10)")
  private @Nullable Double fixedLatency;

  @Option(
      names = "--batch-window",
      paramLabel = "MS",
      description =
          "kdn: how long a batch of transfers that share the link collects (default: 0, no batches)")
  private @Nullable Double batchWindow;

  @Option(
      names = "--texts",
      paramLabel = "DIR",
      description = "kdn: the files of this folder are what it knows (default: nothing)")
  private @Nullable Path texts;

  @Option(
      names = "--kv-model",
      paramLabel = "NAME",
      description = "kdn: there is KV of the texts, for the model of this name (default: none)")
  private @Nullable String kvModel;

  FakeKdn start(int port, double speedup) {
    FakeKdn.Builder builder =
        FakeKdn.builder().id(id).port(port).speedup(speedup).network(network());
    if (controlPlane != null) {
      builder.controlPlane(controlPlane);
    }
    if (secretVariable != null) {
      String secret = System.getenv(secretVariable);
      if (secret == null) {
        throw CommandFailure.usage("there is no environment variable " + secretVariable);
      }
      builder.controlPlaneSecret(secret);
    }
    for (String text : known()) {
      if (kvModel == null) {
        builder.text(text);
      } else {
        builder.ready(text, kvModel);
      }
    }
    return builder.start();
  }

  private KdnNetwork network() {
    KdnNetwork usual = KdnNetwork.DEFAULT;
    return new KdnNetwork(
        bandwidth == null ? usual.megabytesPerSecond() : bandwidth,
        efficiency == null ? usual.efficiency() : efficiency,
        fixedLatency == null ? usual.fixedLatencyMillis() : fixedLatency,
        batchWindow == null ? usual.batchWindowMillis() : batchWindow);
  }

  private List<String> known() {
    if (texts == null) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(texts)) {
      List<Path> regular = files.filter(Files::isRegularFile).sorted().toList();
      List<String> known = new ArrayList<>();
      for (Path file : regular) {
        known.add(InputFiles.text("knowledge", file));
      }
      return known;
    } catch (IOException e) {
      throw CommandFailure.usage("folder '" + texts + "' can't be read");
    }
  }
}

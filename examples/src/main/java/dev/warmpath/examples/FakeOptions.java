package dev.warmpath.examples;

import dev.warmpath.fake.FakeEngineBuilder;
import dev.warmpath.fake.scheduler.CoreOptions;
import dev.warmpath.fake.scheduler.LatencyModel;
import dev.warmpath.worker.EngineKind;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The numbers of a fake engine. */
final class FakeOptions {
  @Option(
      names = "--engine",
      paramLabel = "KIND",
      defaultValue = "sglang",
      description = "sglang, vllm or atom (default: ${DEFAULT-VALUE})")
  private String engine = "sglang";

  @Option(
      names = "--model",
      paramLabel = "NAME",
      defaultValue = "fake-model",
      description = "the served model's name (default: ${DEFAULT-VALUE})")
  private String model = "fake-model";

  @Option(names = "--dp-size", paramLabel = "N", description = "data-parallel ranks (default: 1)")
  private @Nullable Integer dpSize;

  @Option(
      names = "--blocks",
      paramLabel = "N",
      description = "KV blocks of a rank (default: 16384)")
  private @Nullable Integer blocks;

  @Option(
      names = "--block-size",
      paramLabel = "N",
      description = "tokens of a KV block (default: 64, ATOM 16)")
  private @Nullable Integer blockSize;

  @Option(
      names = "--budget",
      paramLabel = "TOKENS",
      description = "token budget of a forward pass (default: 8192)")
  private @Nullable Integer budget;

  @Option(
      names = "--max-seqs",
      paramLabel = "N",
      description = "running requests of a rank (default: 256)")
  private @Nullable Integer maxSeqs;

  @Option(
      names = "--timing",
      paramLabel = "PRESET",
      description =
          "how long forward passes take: polynomial (default), instant,"
              + " constant:prefill=MS,decode=MS, table:FILE, h100-llama-3.1-8b-fp8 or"
              + " mi355x-qwen2.5-7b-fp8")
  private @Nullable String timing;

  String model() {
    return model;
  }

  EngineKind kind() {
    return EngineKind.parse(engine);
  }

  /** Data-parallel ranks of a worker. */
  int ranks() {
    return dpSize == null ? 1 : dpSize;
  }

  LatencyModel timing() {
    return timing == null ? LatencyModel.polynomial() : LatencyModel.parse(timing);
  }

  /** The scheduler's numbers, with the defaults of the engine where none were given. */
  CoreOptions core() {
    CoreOptions.Builder core = CoreOptions.builder();
    core.blockSize(blockSize != null ? blockSize : kind() == EngineKind.ATOM ? 16 : 64);
    if (blocks != null) {
      core.numBlocks(blocks);
    }
    if (budget != null) {
      core.maxNumBatchedTokens(budget);
    }
    if (maxSeqs != null) {
      core.maxNumSeqs(maxSeqs);
    }
    return core.build();
  }

  FakeEngineBuilder apply(FakeEngineBuilder builder, double speedup) {
    builder.kind(kind()).model(model).speedup(speedup);
    if (dpSize != null) {
      builder.dpSize(dpSize);
    }
    if (blocks != null) {
      builder.blocks(blocks);
    }
    if (blockSize != null) {
      builder.blockSize(blockSize);
    }
    if (budget != null) {
      builder.maxBatchedTokens(budget);
    }
    if (maxSeqs != null) {
      builder.maxNumSeqs(maxSeqs);
    }
    if (timing != null) {
      builder.timing(LatencyModel.parse(timing));
    }
    return builder;
  }
}

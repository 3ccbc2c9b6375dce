package dev.warmpath.fake.scheduler;

/**
 * Times from first principles: the arithmetic and the memory traffic of a transformer, over what a
 * GPU can do of each. Nothing in here is a measurement.
 *
 * <ul>
 *   <li>A prompt part costs 2 FLOPs for each weight and token, and for attention 4 FLOPs for each
 *       layer, query dimension and pair of tokens, at the sustained rate; at least one read of the
 *       weights.
 *   <li>A decode step costs the larger of one read of the weights and the arithmetic of one token
 *       for each sequence, plus a read of the KV of all sequences at the memory's bandwidth.
 *   <li>Either costs the same overhead for launches and scheduling.
 * </ul>
 *
 * <p>It knows nothing of tensor parallelism, of CUDA graphs' steps, or of what the CPU does.
 */
public final class PhysicalLatency implements LatencyModel {
  private final String name;
  private final String basis;
  private final Transformer transformer;
  private final Gpu gpu;

  /**
   * What a model costs.
   *
   * @param flopsPerToken arithmetic of the linear layers for one token
   * @param attentionFlops arithmetic of attention for one pair of tokens, over all layers
   * @param weightBytes weights that a step reads
   * @param kvBytesPerToken KV of one token over all layers
   */
  record Transformer(
      double flopsPerToken, double attentionFlops, double weightBytes, double kvBytesPerToken) {}

  /**
   * What a GPU does.
   *
   * @param flopsPerMs sustained arithmetic
   * @param bytesPerMs memory traffic
   * @param overheadMs launches and scheduling, of each part of a pass
   */
  record Gpu(double flopsPerMs, double bytesPerMs, double overheadMs) {}

  PhysicalLatency(String name, String basis, Transformer transformer, Gpu gpu) {
    this.name = name;
    this.basis = basis;
    this.transformer = transformer;
    this.gpu = gpu;
  }

  /** Llama-3.1-8B: 32 layers of 4096, weights in FP8 with a BF16 head, KV in FP8. */
  static Transformer llama8b() {
    return new Transformer(13.96e9, 4.0 * 32 * 4096, 8.03e9, 2.0 * 32 * 8 * 128);
  }

  /**
   * One H100 with Llama-3.1-8B in FP8 (KV in FP8 as well). Peak 1.98 PFLOP/s, of which 47 % are
   * taken as sustained, 3.35 TB/s, 2 ms overhead. The share and the overhead were chosen so that a
   * saturated engine comes within 10 % of the throughput that TensorRT-LLM's performance overview
   * publishes for eight pairs of prompt and answer length; bandwidth and sizes are the data
   * sheet's. A model, not a measurement, and of throughput rather than of single latencies.
   *
   * @return the preset {@code h100-llama-3.1-8b-fp8}
   */
  public static PhysicalLatency h100Llama8b() {
    return new PhysicalLatency(
        "h100-llama-3.1-8b-fp8",
        "data sheet numbers of one H100 for Llama-3.1-8B in FP8, fitted to TensorRT-LLM's published"
            + " throughput within 10 %",
        llama8b(),
        new Gpu(0.47 * 1.98e12, 3.35e9, 2));
  }

  /**
   * One MI355X with Qwen2.5-7B in FP8 (KV in BF16, 57,344 bytes a token). Peak 5.03 PFLOP/s, of
   * which 25 % are taken as sustained (96 thousand prompt tokens a second), 8 TB/s, 3 ms overhead
   * (decode steps of 4 ms at least). No series of measurements was found to check it against: a
   * model from data sheets and assumptions, not a measurement.
   *
   * @return the preset {@code mi355x-qwen2.5-7b-fp8}
   */
  public static PhysicalLatency mi355xQwen7b() {
    return new PhysicalLatency(
        "mi355x-qwen2.5-7b-fp8",
        "data sheet numbers of one MI355X for Qwen2.5-7B in FP8 at an assumed 25 % of peak, checked"
            + " against no measurement",
        new Transformer(13.05e9, 4.0 * 28 * 3584, 7.6e9, 57_344),
        new Gpu(0.25 * 5.03e12, 8e9, 3));
  }

  @Override
  public double prefillMs(int requests, int meanInputTokens, int meanPrefixTokens) {
    double each = (double) meanInputTokens - meanPrefixTokens;
    if (requests <= 0 || each <= 0) {
      return 0;
    }
    double pairs = each * meanPrefixTokens + each * each / 2;
    double linear = requests * each * transformer.flopsPerToken() / gpu.flopsPerMs();
    double attention = requests * pairs * transformer.attentionFlops() / gpu.flopsPerMs();
    return gpu.overheadMs() + Math.max(weightsMs(), linear) + attention;
  }

  @Override
  public double decodeMs(int requests, long activeTokens, int meanContextTokens, long totalTokens) {
    double linear = requests * transformer.flopsPerToken() / gpu.flopsPerMs();
    double context = (double) requests * meanContextTokens;
    return gpu.overheadMs()
        + Math.max(weightsMs(), linear)
        + context * transformer.kvBytesPerToken() / gpu.bytesPerMs();
  }

  private double weightsMs() {
    return transformer.weightBytes() / gpu.bytesPerMs();
  }

  @Override
  public String describe() {
    return basis + "; a model, not a measurement";
  }

  @Override
  public String toString() {
    return name;
  }
}

package dev.warmpath.fake.scheduler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.warmpath.fake.scheduler.PhysicalLatency.Gpu;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PhysicalLatencyTest {
  /** Tokens of FP8 KV beside the weights in 90 % of an H100's 80 GB less 9 GB, and of an H200's. */
  private static final long H100_POOL = 961_000;

  private static final long H200_POOL = 1_798_000;

  /** Sequences that TensorRT-LLM batches at most in those measurements. */
  private static final int MAX_BATCH = 1_024;

  /** Output tokens a second of an engine that is never short of requests. */
  private static double saturated(LatencyModel model, long pool, int input, int output) {
    int batch = (int) Math.min(MAX_BATCH, pool / (input + output));
    int context = input + output / 2;
    double prefills = 8_192.0 / input;
    double prefill =
        prefills >= 1
            ? model.prefillMs((int) prefills, input, 0) / (int) prefills
            : model.prefillMs(1, input, 0);
    double decode = model.decodeMs(batch, (long) batch * context, context, pool) / batch * output;
    return output * 1e3 / (prefill + decode);
  }

  /** TensorRT-LLM's performance overview, Llama-3.1-8B FP8 on one H100, output tokens a second. */
  @ParameterizedTest
  @CsvSource({
    "128, 128, 28312",
    "128, 2048, 22714",
    "500, 2000, 17660",
    "1000, 1000, 15220",
    "2048, 128, 3450",
    "2048, 2048, 9305",
    "5000, 500, 3459",
    "20000, 2000, 1351"
  })
  void h100ComesWithinTenPercentOfPublishedThroughput(int input, int output, double published) {
    assertThat(saturated(PhysicalLatency.h100Llama8b(), H100_POOL, input, output))
        .isCloseTo(published, Percentage.withPercentage(10));
  }

  /** The same overview on one H200: only memory and bandwidth change, and nothing was fitted. */
  @ParameterizedTest
  @CsvSource({
    "128, 128, 27911",
    "128, 2048, 26221",
    "500, 2000, 20770",
    "1000, 1000, 17744",
    "2048, 128, 3538",
    "2048, 2048, 12194",
    "5000, 500, 3902",
    "20000, 2000, 1804"
  })
  void h200ComesWithinTwentyPercentWithoutAFit(int input, int output, double published) {
    PhysicalLatency h200 =
        new PhysicalLatency(
            "h200", "", PhysicalLatency.llama8b(), new Gpu(0.47 * 1.98e12, 4.8e9, 2));
    assertThat(saturated(h200, H200_POOL, input, output))
        .isCloseTo(published, Percentage.withPercentage(20));
  }

  @Test
  void mi355xFollowsItsDataSheet() {
    LatencyModel model = LatencyModel.parse("mi355x-qwen2.5-7b-fp8");
    // 96 thousand prompt tokens a second but for attention, which adds 1.6 % at 1,024 tokens.
    assertThat(8_192 / (model.prefillMs(8, 1_024, 0) - 3) * 1e3)
        .isCloseTo(96_400 / 1.016, Percentage.withPercentage(0.5));
    // 3 ms and 7.6 GB at 8 TB/s, and 7 us for each thousand tokens of context.
    assertThat(model.decodeMs(1, 0, 0, 1)).isEqualTo(3.95, within(1e-9));
    assertThat(model.decodeMs(4, 0, 1_000, 1) - 3.95).isEqualTo(4 * 0.007168, within(1e-9));
  }

  @Test
  void attentionCountsThePrefix() {
    LatencyModel model = PhysicalLatency.h100Llama8b();
    double whole = model.prefillMs(1, 16_384, 0) + 2;
    double halves = model.prefillMs(1, 8_192, 0) + model.prefillMs(1, 16_384, 8_192);
    assertThat(halves).isEqualTo(whole, within(1e-6));
    assertThat(model.prefillMs(1, 4_096, 4_096)).isZero();
    assertThat(model.prefillMs(0, 0, 0)).isZero();
  }

  @Test
  void presetsSayThatTheyAreModels() {
    for (String preset :
        new String[] {"polynomial", "h100-llama-3.1-8b-fp8", "mi355x-qwen2.5-7b-fp8"}) {
      LatencyModel model = LatencyModel.parse(preset);
      assertThat(model).hasToString(preset);
      assertThat(model.describe()).endsWith("a model, not a measurement");
    }
    assertThat(LatencyModel.polynomial().scaled(2, 4).describe())
        .endsWith("prefill times 0.5 and decode times 0.25");
  }
}

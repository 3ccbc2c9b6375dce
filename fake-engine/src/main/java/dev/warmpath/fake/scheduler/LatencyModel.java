package dev.warmpath.fake.scheduler;

import dev.warmpath.worker.WorkerRole;

/**
 * How long a forward pass takes. Implementations are pure functions.
 *
 * <p>All results are milliseconds. A pass costs {@link #prefillMs} for its prompt part plus {@link
 * #decodeMs} if any sequence emits a token.
 */
public interface LatencyModel {

  /**
   * Returns the time to compute the prompt part of a pass.
   *
   * @param requests sequences that compute prompt tokens, at least 1
   * @param meanInputTokens mean number of tokens up to the end of each one's chunk
   * @param meanPrefixTokens mean number of those already in the KV cache
   * @return milliseconds, 0 or more
   */
  double prefillMs(int requests, int meanInputTokens, int meanPrefixTokens);

  /**
   * Returns the time of the decode step of a pass.
   *
   * @param requests sequences that emit a token, at least 1
   * @param activeTokens tokens' worth of KV held by running requests
   * @param meanContextTokens mean length of the emitting sequences
   * @param totalTokens tokens' worth of KV in the pool
   * @return milliseconds, 0 or more
   */
  double decodeMs(int requests, long activeTokens, int meanContextTokens, long totalTokens);

  /**
   * The polynomials of NVIDIA Dynamo's mocker, fitted there to measurements: prefill is quadratic
   * in the tokens computed by the pass (48 thousand tokens a second at best), decode depends on how
   * full the KV pool is (5.74 to 34 ms) and not on the batch. Close to an 8B FP8 model on an H100.
   *
   * @return the default model
   */
  static LatencyModel polynomial() {
    return PolynomialLatency.INSTANCE;
  }

  /**
   * A model without any delay, for tests that care about shapes and not about time.
   *
   * @return a model in which every pass takes 0 ms
   */
  static LatencyModel instant() {
    return constant(0, 0);
  }

  /**
   * A model with a fixed price per prompt token and per decode step.
   *
   * @param prefillMsPerToken milliseconds per computed prompt token
   * @param decodeMs milliseconds per decode step
   * @return the model
   */
  static LatencyModel constant(double prefillMsPerToken, double decodeMs) {
    if (!(prefillMsPerToken >= 0) || !(decodeMs >= 0)) {
      throw new IllegalArgumentException("times must be 0 or more");
    }
    return new LatencyModel() {
      @Override
      public double prefillMs(int requests, int meanInputTokens, int meanPrefixTokens) {
        return prefillMsPerToken * requests * Math.max(0, meanInputTokens - meanPrefixTokens);
      }

      @Override
      public double decodeMs(
          int requests, long activeTokens, int meanContextTokens, long totalTokens) {
        return decodeMs;
      }

      @Override
      public String describe() {
        return "fixed prices, a model of no hardware: "
            + prefillMsPerToken
            + " ms a prompt token, "
            + decodeMs
            + " ms a decode step";
      }

      @Override
      public String toString() {
        return "constant:prefill=" + prefillMsPerToken + ",decode=" + decodeMs;
      }
    };
  }

  /**
   * Parses a preset name as a command line gives it.
   *
   * <ul>
   *   <li>{@code polynomial}: {@link #polynomial()}
   *   <li>{@code instant}: {@link #instant()}
   *   <li>{@code constant:prefill=MS,decode=MS}: {@link #constant}, in milliseconds per prompt
   *       token and per decode step
   *   <li>{@code table:FILE}: {@link TableLatency}, from a JSON file of your own measurements
   *   <li>{@code h100-llama-3.1-8b-fp8}: {@link PhysicalLatency#h100Llama8b()}
   *   <li>{@code mi355x-qwen2.5-7b-fp8}: {@link PhysicalLatency#mi355xQwen7b()}
   * </ul>
   *
   * @param preset one of these
   * @return the model
   * @throws IllegalArgumentException if the text is none of these, or the file is missing or wrong
   */
  static LatencyModel parse(String preset) {
    return LatencyPresets.parse(preset);
  }

  /**
   * Says in one sentence what the times are based on.
   *
   * @return a sentence without a full stop
   */
  default String describe() {
    return "a timing model of the application's own";
  }

  /**
   * Returns this model with its times divided.
   *
   * @param prefillRatio divides prefill times; 0 or less means no scaling
   * @param decodeRatio divides decode times; 0 or less means no scaling
   * @return the scaled model
   */
  default LatencyModel scaled(double prefillRatio, double decodeRatio) {
    double prefill = prefillRatio > 0 ? prefillRatio : 1;
    double decode = decodeRatio > 0 ? decodeRatio : 1;
    return new ScaledLatency(this, 1 / prefill, 1 / decode);
  }

  /**
   * Returns the model of a prefill worker, whose first token belongs to the prefill pass.
   *
   * @return this model without decode time
   */
  default LatencyModel prefillOnly() {
    return new ScaledLatency(this, 1, 0);
  }

  /**
   * Returns the model of a decode worker, which receives its prompts' KV from elsewhere.
   *
   * @return this model without prefill time
   */
  default LatencyModel decodeOnly() {
    return new ScaledLatency(this, 0, 1);
  }

  /**
   * Returns the model of a worker of some role.
   *
   * @param role what the worker computes
   * @return this model without the part that is computed elsewhere
   */
  default LatencyModel forRole(WorkerRole role) {
    return switch (role) {
      case REGULAR -> this;
      case PREFILL -> prefillOnly();
      case DECODE -> decodeOnly();
    };
  }
}

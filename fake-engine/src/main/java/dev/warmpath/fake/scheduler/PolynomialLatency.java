package dev.warmpath.fake.scheduler;

/** Dynamo's polynomial latency model (its {@code perf_model.rs}). */
enum PolynomialLatency implements LatencyModel {
  INSTANCE;

  @Override
  public double prefillMs(int requests, int meanInputTokens, int meanPrefixTokens) {
    double tokens = (double) requests * (meanInputTokens - meanPrefixTokens);
    if (tokens <= 0) {
      return 0;
    }
    return 4.209989e-7 * tokens * tokens + 1.518344e-2 * tokens + 16.50142;
  }

  @Override
  public double decodeMs(int requests, long activeTokens, int meanContextTokens, long totalTokens) {
    double usage = totalTokens == 0 ? 0 : (double) activeTokens / totalTokens;
    return Math.max(1, -25.74 * usage * usage + 54.01 * usage + 5.74);
  }

  @Override
  public String describe() {
    return "the polynomials of NVIDIA Dynamo's mocker, close to an 8B FP8 model on an H100; a model,"
        + " not a measurement";
  }

  @Override
  public String toString() {
    return "polynomial";
  }
}

package dev.warmpath.fake.scheduler;

/** A latency model times a factor for each part. */
record ScaledLatency(LatencyModel model, double prefillFactor, double decodeFactor)
    implements LatencyModel {

  @Override
  public double prefillMs(int requests, int meanInputTokens, int meanPrefixTokens) {
    return model.prefillMs(requests, meanInputTokens, meanPrefixTokens) * prefillFactor;
  }

  @Override
  public double decodeMs(int requests, long activeTokens, int meanContextTokens, long totalTokens) {
    return model.decodeMs(requests, activeTokens, meanContextTokens, totalTokens) * decodeFactor;
  }

  @Override
  public String describe() {
    return model.describe()
        + (prefillFactor == 1 && decodeFactor == 1
            ? ""
            : ", prefill times " + prefillFactor + " and decode times " + decodeFactor);
  }
}

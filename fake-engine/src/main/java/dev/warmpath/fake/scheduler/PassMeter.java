package dev.warmpath.fake.scheduler;

/**
 * Collects {@link ForwardPassMetrics}. What is scheduled is cleared by {@link #begin}; what is
 * queued is kept by whoever moves requests in and out of queues, so that no pass has to walk them.
 */
final class PassMeter {
  private final TokenMoments prefill = new TokenMoments();
  private final TokenMoments decode = new TokenMoments();
  private int computedTokens;
  private long prefixTokens;

  /** Lengths of the sequences whose prompt waits. */
  final TokenMoments queuedPrefill = new TokenMoments();

  /** Lengths of the sequences that wait to go on generating. */
  final TokenMoments queuedDecode = new TokenMoments();

  /** Forgets what the last pass scheduled. */
  void begin() {
    prefill.clear();
    decode.clear();
    computedTokens = 0;
    prefixTokens = 0;
  }

  /** A sequence computes a part of its prompt. */
  void prefill(int promptTokens, int computed, int prefix) {
    prefill.add(promptTokens);
    computedTokens += computed;
    prefixTokens += prefix;
  }

  /** A sequence of this length computes generated tokens. */
  void decode(int length) {
    decode.add(length);
  }

  /** Ends a pass. */
  ForwardPassMetrics end(double wallMs) {
    return new ForwardPassMetrics(
        prefill.count(),
        computedTokens,
        prefill.variance(),
        prefixTokens,
        decode.count(),
        decode.sum(),
        decode.variance(),
        queuedPrefill.count(),
        queuedPrefill.sum(),
        queuedPrefill.variance(),
        queuedDecode.count(),
        queuedDecode.sum(),
        queuedDecode.variance(),
        wallMs);
  }
}

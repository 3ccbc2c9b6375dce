package dev.warmpath.fake.load;

/**
 * One request of a trace in Mooncake's format: it says when, how long, and which blocks, and
 * nothing of the text.
 *
 * @param timestampMillis arrival after the trace's begin
 * @param inputTokens prompt length
 * @param outputTokens answer length
 * @param blockIds one id per 512 prompt tokens, the last block maybe partial; equal ids are equal
 *     blocks
 */
public record TraceRow(double timestampMillis, int inputTokens, int outputTokens, int[] blockIds) {
  /** Tokens of a block. */
  public static final int BLOCK_TOKENS = 512;
}

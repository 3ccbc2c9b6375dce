package dev.warmpath.fake.load;

import java.util.Map;

/**
 * What became of a request log.
 *
 * @param lines lines read, blank ones left out
 * @param rows requests written; a line with several prompts is several requests
 * @param skipped lines without a request, by reason
 * @param uniqueBlocks different blocks written
 * @param forgottenBlocks blocks that were forgotten to stay within memory; one that comes back
 *     counts as new, so that more than none means less reuse than there was
 * @param promptTokens prompt tokens written
 * @param reportedPromptTokens prompt tokens that engines reported, where a line has them
 * @param countedPromptTokens tokens that the encoder counted in those same prompts
 * @param assumedOutputs requests whose answer's length was neither reported nor limited
 */
public record RecordedTrace(
    long lines,
    long rows,
    Map<String, Skipped> skipped,
    long uniqueBlocks,
    long forgottenBlocks,
    long promptTokens,
    long reportedPromptTokens,
    long countedPromptTokens,
    long assumedOutputs) {

  /** Copies {@code skipped}. */
  public RecordedTrace {
    skipped = Map.copyOf(skipped);
  }

  /**
   * Lines that were left out for one reason.
   *
   * @param lines how many
   * @param firstLine the first of them, from 1
   */
  public record Skipped(long lines, long firstLine) {
    Skipped another() {
      return new Skipped(lines + 1, firstLine);
    }
  }

  /**
   * Returns how many lines were left out.
   *
   * @return over all reasons
   */
  public long skippedLines() {
    return skipped.values().stream().mapToLong(Skipped::lines).sum();
  }
}

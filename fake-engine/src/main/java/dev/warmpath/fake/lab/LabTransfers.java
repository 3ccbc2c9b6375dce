package dev.warmpath.fake.lab;

/**
 * What became of the documents in front of a run's prompts.
 *
 * @param held prompts whose worker had the document's KV, or for which another prompt's was awaited
 * @param transfers prompts whose document's KV was sent
 * @param bytes how much that was
 * @param recomputed prompts whose document was computed again
 * @param repeats times that a client asked for KV which the worker had: nodes that don't ask what
 *     is there send it again
 */
public record LabTransfers(long held, long transfers, long bytes, long recomputed, long repeats) {

  /** Of a run without knowledge nodes. */
  public static final LabTransfers NONE = new LabTransfers(0, 0, 0, 0, 0);
}

package dev.warmpath.hash;

/**
 * How a vLLM build puts multimodal items into the extra keys of a block. Builds differ; a worker's
 * own KV events show which one it uses.
 */
public enum MultimodalKeyStyle {
  /** The identifier with the item's offset relative to the block (the newest builds). */
  PAIR,
  /** The identifier alone. */
  BARE
}

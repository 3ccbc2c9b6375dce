package dev.warmpath.hash;

import java.util.List;

/**
 * The complete extra keys of one block, for recomputing a block that a vLLM worker published. They
 * take the place of what the adapter, the salt and the multimodal items would have given.
 *
 * @param block index of the block in the prompt
 * @param keys the keys in the engine's order; empty means none
 */
public record ExtraKeys(int block, List<ExtraKey> keys) implements BlockExtra {

  /** Copies the list. */
  public ExtraKeys {
    if (block < 0) {
      throw new IllegalArgumentException("block " + block);
    }
    keys = List.copyOf(keys);
  }
}

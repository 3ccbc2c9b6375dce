package dev.warmpath.fake.internal.kv;

import org.jspecify.annotations.Nullable;

/**
 * A block under the hash that its engine knows it by.
 *
 * @param reported the 64 bits that the engine reports
 * @param digest the whole digest, or the reported bits where there is no wider one
 * @param parent the block before, or null for the first
 * @param keys what its request separates its cache by
 * @param position place of its first token in the sequence
 * @param tokens its tokens
 */
public record EngineBlock(
    long reported,
    byte[] digest,
    @Nullable EngineBlock parent,
    RequestKeys keys,
    long position,
    int[] tokens) {

  /** Forgets what lies before the parent, so that a chain is not kept alive by its end. */
  EngineBlock severed() {
    return parent == null || parent.parent == null
        ? this
        : new EngineBlock(reported, digest, parent.alone(), keys, position, tokens);
  }

  private EngineBlock alone() {
    return new EngineBlock(reported, digest, null, keys, position, tokens);
  }

  @Override
  public String toString() {
    return "EngineBlock[" + Long.toHexString(reported) + "]";
  }
}

package dev.warmpath.index;

import dev.warmpath.hash.BlockHashes;
import dev.warmpath.prompt.EngineAdapters;
import dev.warmpath.prompt.EngineHashing;
import dev.warmpath.worker.Worker;
import java.util.HexFormat;

/**
 * Names a worker's blocks as a store outside of it does. One for each engine; immutable and thread
 * safe.
 */
@FunctionalInterface
public interface BlockKeyEncoder {
  /**
   * The key of a block.
   *
   * @param hashes made by {@link #hashing}'s scheme, with their digests
   * @param block the block, 0-based
   */
  String key(BlockHashes hashes, int block);

  /** How the worker hashes the blocks that it reports to the store: as in its KV events. */
  default EngineHashing hashing(Worker worker) {
    return EngineAdapters.of(worker).hashing(worker);
  }

  /**
   * The number that the engine reports in its events, in decimal digits and its own signedness: the
   * keys under which SGLang's {@code umbp_store.py} reports blocks ({@code str(block_hash)}), and
   * those that a bridge makes of ATOM's events.
   */
  static BlockKeyEncoder decimal() {
    return BlockHashes::reported;
  }

  /**
   * The whole digest in hexadecimal, then the number of the KV cache group in eight hexadecimal
   * digits: the keys of the KV event bridge for vLLM ({@code umbp_kv_event_bridge.py} of the
   * EmbeddedLLM fork).
   *
   * @param prefix what the bridge was told to put in front, {@code key_prefix}
   * @param group the KV cache group; 0 is full attention
   */
  static BlockKeyEncoder digestAndGroup(String prefix, int group) {
    String suffix = HexFormat.of().toHexDigits(group);
    return (hashes, block) -> prefix + hashes.digestHex(block) + suffix;
  }
}

package dev.warmpath.fake.scheduler;

import dev.warmpath.fake.scheduler.BlockPool.Block;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Makes computed blocks findable and says so: one event for each run of blocks that were not. */
final class Publication {

  private Publication() {}

  /**
   * Publishes a sequence's blocks from one place to another.
   *
   * @param effects where events go, or null for none
   */
  static void publish(
      BlockPool pool,
      BlockHashes sequence,
      List<Block> blocks,
      int from,
      int to,
      @Nullable List<EngineEffect> effects) {
    if (from >= to) {
      return;
    }
    long[] hashes = sequence.first(to);
    int at = from;
    while (at < to) {
      if (!pool.publish(blocks.get(at), hashes, at)) {
        at++;
        continue;
      }
      int end = at + 1;
      while (end < to && pool.publish(blocks.get(end), hashes, end)) {
        end++;
      }
      if (effects != null) {
        long parent = at == 0 ? 0 : hashes[at - 1];
        long[] stored = Arrays.copyOfRange(hashes, at, end);
        effects.add(
            new EngineEffect.BlocksStored(
                StorageTier.DEVICE, parent, at == 0, stored, sequence.tokens(at, end)));
      }
      at = end + 1;
    }
  }
}

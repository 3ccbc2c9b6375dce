package dev.warmpath.index;

import dev.warmpath.hash.BlockHashes;
import org.jspecify.annotations.Nullable;

/** A dispatch as {@link BlockIndex} keeps it, in a list of those under way to the same life. */
final class BlockSpeculation extends Speculation {
  final BlockHashes hashes;
  final long holderId;

  // The fields below belong to the index's writer.
  int life;
  long serial;
  boolean listed;
  int expiry;
  boolean over;
  @Nullable BlockSpeculation older;
  @Nullable BlockSpeculation newer;

  private final @Nullable BlockIndex index;

  BlockSpeculation(@Nullable BlockIndex index, BlockHashes hashes, long holderId) {
    this.index = index;
    this.hashes = hashes;
    this.holderId = holderId;
  }

  @Override
  void confirmed() {
    if (index != null) {
      index.confirm(this);
    }
  }

  @Override
  void withdrawn() {
    if (index != null) {
      index.withdraw(this);
    }
  }
}

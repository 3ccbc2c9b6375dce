package dev.warmpath.fake.study;

import dev.warmpath.fake.virtual.VirtualTime;
import java.util.ArrayDeque;

/**
 * What subscribers to cache events know: every block that a worker has stored or removed, some time
 * later, the same for all of them, and none lost.
 */
final class EventIndex implements Holdings {
  private record Change(double dueMs, int block, int worker, boolean stored) {}

  private final double delayMs;
  private final LongMap holders = new LongMap();
  private final ArrayDeque<Change> onTheWay = new ArrayDeque<>();
  private boolean subscribed;

  EventIndex(int workers, double delayMs) {
    if (workers > Long.SIZE) {
      throw new IllegalArgumentException("at most 64 workers");
    }
    this.delayMs = delayMs;
  }

  /** Somebody listens; before that nothing is kept. */
  EventIndex subscribe() {
    subscribed = true;
    return this;
  }

  /** What a worker's cache tells its changes to. */
  BlockCache.Listener of(int worker, VirtualTime time) {
    return new BlockCache.Listener() {
      @Override
      public void stored(int block) {
        changed(new Change(time.nowMs() + delayMs, block, worker, true));
      }

      @Override
      public void removed(int block) {
        changed(new Change(time.nowMs() + delayMs, block, worker, false));
      }
    };
  }

  private void changed(Change change) {
    if (subscribed) {
      onTheWay.add(change);
    }
  }

  @Override
  public long holders(int block, double nowMs) {
    return holders.get(block, 0);
  }

  @Override
  public void depths(StudyPrompt prompt, double nowMs, int[] into) {
    for (Change next = onTheWay.peek(); next != null && next.dueMs <= nowMs; ) {
      long before = holders.get(next.block, 0);
      long bit = 1L << next.worker;
      holders.put(next.block, next.stored ? before | bit : before & ~bit);
      onTheWay.remove();
      next = onTheWay.peek();
    }
    Holdings.super.depths(prompt, nowMs, into);
  }

  /** Engines tell; nobody needs to assume. */
  @Override
  public void placed(StudyPrompt prompt, int worker, double nowMs) {}
}

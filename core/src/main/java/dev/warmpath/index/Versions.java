package dev.warmpath.index;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Tells readers whether what they read was one state (a sequence lock): the one writer makes the
 * version odd while it changes what readers read.
 */
final class Versions {
  private static final VarHandle VERSION;

  static {
    try {
      VERSION = MethodHandles.lookup().findVarHandle(Versions.class, "version", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private volatile long version;

  /** The writer's: says that changes follow, which they may from then on. */
  void open() {
    long now = version;
    if ((now & 1) == 0) {
      VERSION.setOpaque(this, now + 1);
      VarHandle.fullFence();
    }
  }

  /** The writer's: says that all changes are made. */
  void close() {
    long now = version;
    if ((now & 1) != 0) {
      VERSION.setRelease(this, now + 1);
    }
  }

  /** A reader's: the version, odd if changes are under way. */
  long begin() {
    return (long) VERSION.getAcquire(this);
  }

  /** A reader's: whether all that was read since {@link #begin} was one state. */
  boolean same(long begun) {
    VarHandle.acquireFence();
    return (begun & 1) == 0 && (long) VERSION.getOpaque(this) == begun;
  }
}

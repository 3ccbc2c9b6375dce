package dev.warmpath.prompt.tokenizer.internal.huggingface;

import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Scratches waiting for their next use. A thread takes one for the time of a call; if there is
 * none, it makes one. Not a thread local, since callers may be virtual threads in any number.
 */
final class ScratchPool {
  private static final int SLOTS = 16;

  private final AtomicReferenceArray<Scratch> slots = new AtomicReferenceArray<>(SLOTS);

  Scratch take() {
    int start = (int) Thread.currentThread().getId() & SLOTS - 1;
    for (int i = 0; i < SLOTS; i++) {
      int slot = start + i & SLOTS - 1;
      if (slots.getPlain(slot) != null) {
        Scratch scratch = slots.getAndSet(slot, null);
        if (scratch != null) {
          return scratch;
        }
      }
    }
    return new Scratch();
  }

  void give(Scratch scratch) {
    if (!scratch.isModest()) {
      return;
    }
    int start = (int) Thread.currentThread().getId() & SLOTS - 1;
    for (int i = 0; i < SLOTS; i++) {
      int slot = start + i & SLOTS - 1;
      if (slots.getPlain(slot) == null && slots.compareAndSet(slot, null, scratch)) {
        return;
      }
    }
  }
}

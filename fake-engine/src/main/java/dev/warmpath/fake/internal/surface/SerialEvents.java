package dev.warmpath.fake.internal.surface;

import java.util.Objects;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/** Works through events one at a time, on whichever thread brings one first; none waits. */
final class SerialEvents {
  private final ConcurrentLinkedQueue<Runnable> events = new ConcurrentLinkedQueue<>();
  private final AtomicInteger pending = new AtomicInteger();

  void run(Runnable event) {
    events.add(event);
    if (pending.getAndIncrement() == 0) {
      do {
        Objects.requireNonNull(events.poll()).run();
      } while (pending.decrementAndGet() != 0);
    }
  }
}

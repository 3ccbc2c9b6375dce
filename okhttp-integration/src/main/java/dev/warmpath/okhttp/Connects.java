package dev.warmpath.okhttp;

import java.util.concurrent.atomic.LongAdder;

/** Counts the connections that were made for requests, and what that took. Thread safe. */
final class Connects {
  private final LongAdder made = new LongAdder();
  private final LongAdder nanos = new LongAdder();

  void made(long took) {
    made.increment();
    nanos.add(took);
  }

  long count() {
    return made.sum();
  }

  double seconds() {
    return nanos.sum() / 1e9;
  }
}

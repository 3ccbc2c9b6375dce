package dev.warmpath.fake.internal.surface;

import dev.warmpath.fake.live.RankDriver;
import dev.warmpath.fake.scheduler.EngineRequest;

/** How the sequences of a call get to their rank, and out of it. Thread-safe and non-blocking. */
interface Admission {

  /** Brings a sequence. */
  void submit(Generation generation, EngineRequest request, Generation.Item item);

  /** Drops a sequence; without effect once it has ended. */
  void cancel(long sequenceId);

  /** Straight to the rank, which computes both the prompt and the answer. */
  static Admission direct(RankDriver rank) {
    return new Admission() {
      @Override
      public void submit(Generation generation, EngineRequest request, Generation.Item item) {
        rank.submit(request, item);
      }

      @Override
      public void cancel(long sequenceId) {
        rank.cancel(sequenceId);
      }
    };
  }
}

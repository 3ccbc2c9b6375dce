package dev.warmpath.fake.lab;

import java.util.function.Consumer;

/** Hears what becomes of a run's requests. */
public interface LabObserver {
  /** Hears nothing. */
  LabObserver NONE = new LabObserver() {};

  /**
   * A request that was answered went somewhere.
   *
   * @param decision where to
   */
  default void decided(LabDecision decision) {}

  /**
   * A request was answered.
   *
   * @param answer when and by whom
   */
  default void answered(LabAnswer answer) {}

  /**
   * Lets somebody hear of decisions only.
   *
   * @param consumer hears of them
   * @return an observer
   */
  static LabObserver ofDecisions(Consumer<LabDecision> consumer) {
    return new LabObserver() {
      @Override
      public void decided(LabDecision decision) {
        consumer.accept(decision);
      }
    };
  }
}

package dev.warmpath.fake.lab;

import dev.warmpath.fake.live.RankListener;

/** How a request reaches a rank, and how it is called back. */
interface LabLeg {
  /** The request arrives at its worker. */
  void begin(LabRank target, long engineId, RankListener listener);

  /** The client has given up; the news arrives at the worker. */
  void cancel(LabRank target, long engineId);

  /** A request that one worker answers alone. */
  static LabLeg alone(LabRequest request) {
    return new LabLeg() {
      @Override
      public void begin(LabRank target, long engineId, RankListener listener) {
        target.submit(request.forEngine(engineId), listener);
      }

      @Override
      public void cancel(LabRank target, long engineId) {
        target.cancel(engineId);
      }
    };
  }
}

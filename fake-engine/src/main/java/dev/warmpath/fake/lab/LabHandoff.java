package dev.warmpath.fake.lab;

import dev.warmpath.fake.live.RankListener;
import dev.warmpath.fake.virtual.VirtualHandoff;

/** One request's way from a prefill worker to a decode worker, each of which is told of its leg. */
final class LabHandoff {
  private final LabRequest request;
  private final VirtualHandoff handoff;

  LabHandoff(LabRequest request, VirtualHandoff handoff) {
    this.request = request;
    this.handoff = handoff;
  }

  /** A leg; giving up either ends both. */
  private abstract class Leg implements LabLeg {
    @Override
    public void cancel(LabRank target, long engineId) {
      handoff.cancel();
    }
  }

  /** The leg to the prefill worker, which emits one token. */
  LabLeg source() {
    return new Leg() {
      @Override
      public void begin(LabRank target, long engineId, RankListener listener) {
        LabRequest prompt =
            new LabRequest(
                request.promptTokens(),
                1,
                request.ids(),
                request.tokensPerId(),
                request.document(),
                request.documentTokens());
        handoff.source(target.inVirtualTime(), prompt.forEngine(engineId), listener);
      }
    };
  }

  /** The leg to the decode worker. */
  LabLeg destination() {
    return new Leg() {
      @Override
      public void begin(LabRank target, long engineId, RankListener listener) {
        handoff.destination(target.inVirtualTime(), request.forEngine(engineId), listener);
      }
    };
  }
}

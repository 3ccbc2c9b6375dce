package dev.warmpath.fake.lab;

import dev.warmpath.fake.handoff.HandoffStage;
import dev.warmpath.fake.live.RankListener;
import dev.warmpath.fake.virtual.VirtualHandoff;
import dev.warmpath.fake.virtual.VirtualHandoffs;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** One request's way from a prefill worker to a decode worker, each of which is told of its leg. */
final class LabHandoff {
  private final LabRequest request;
  private final Runnable ended;
  private @Nullable VirtualHandoff handoff;
  private boolean over;

  private LabHandoff(LabRequest request, Runnable ended) {
    this.request = request;
    this.ended = ended;
  }

  /**
   * Opens a handoff that neither side has joined.
   *
   * @param ended runs once, when neither side needs it any more
   */
  static LabHandoff open(LabRequest request, VirtualHandoffs conducted, Runnable ended) {
    LabHandoff made = new LabHandoff(request, ended);
    made.handoff = conducted.open(request.promptTokens(), made::reached);
    return made;
  }

  private void reached(HandoffStage stage) {
    if (stage == HandoffStage.COMPLETED || stage == HandoffStage.CANCELED) {
      over = true;
      ended.run();
    }
  }

  private VirtualHandoff handoff() {
    return Objects.requireNonNull(handoff);
  }

  /** Gives it up, whatever it has come to. */
  void giveUp() {
    handoff().cancel();
  }

  /** A leg; giving up either ends both, and afterwards only the request that runs on. */
  private abstract class Leg implements LabLeg {
    @Override
    public void cancel(LabRank target, long engineId) {
      if (over) {
        target.cancel(engineId);
      } else {
        giveUp();
      }
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
        handoff().source(target.inVirtualTime(), prompt.forEngine(engineId), listener);
      }
    };
  }

  /** The leg to the decode worker. */
  LabLeg destination() {
    return new Leg() {
      @Override
      public void begin(LabRank target, long engineId, RankListener listener) {
        handoff().destination(target.inVirtualTime(), request.forEngine(engineId), listener);
      }
    };
  }
}

package dev.warmpath.pd;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.pd.PdAction.Judgement;
import dev.warmpath.pd.PdAction.Word;
import dev.warmpath.worker.WorkerRole;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A session and all that may happen to it: what the environment can do next depends on what the
 * session asked for. Checks the invariants after every step.
 */
final class SessionModel {
  static final PdPlan CONCURRENT = plan(PdShape.CONCURRENT, false, true);
  static final PdPlan PULL = plan(PdShape.SEQUENTIAL, false, false);

  /** One thing that happens. */
  enum Step {
    SENT_P,
    SENT_D,
    HEADERS_P,
    HEADERS_D,
    PAYLOAD,
    OK_P,
    OK_D,
    EMPTY_P,
    ERROR_P,
    ERROR_D,
    UNREACHED_P,
    UNREACHED_D,
    REFUSED_P,
    REFUSED_D,
    CANCEL,
    RELEASED,
    TIME
  }

  private static final class Side {
    boolean wanted;
    boolean begun;
    boolean headers;
    boolean over;
    boolean dropped;
    boolean aborted;
    int settled;
    LegOutcome outcome;
  }

  final PdSession session;
  private final PdPlan plan;
  private final boolean strict;
  private final int maxAttempts;
  private final Map<WorkerRole, Side> sides = new EnumMap<>(WorkerRole.class);
  final List<Word> words = new ArrayList<>();
  final List<PdAction> all = new ArrayList<>();
  long now;
  private boolean payload;
  private boolean cancelled;
  private boolean releasedToCaller;
  private boolean releaseOut;
  private boolean releaseEver;
  private boolean handedOver;
  private int handOffsReached;
  private int selects;
  private int retired;
  private boolean refused;
  private PdState closed;

  SessionModel(PdPlan plan, boolean strict, int maxAttempts, Duration deadline) {
    this.plan = plan;
    this.strict = strict;
    this.maxAttempts = maxAttempts;
    session =
        new PdSession(
            PdSettings.DEFAULT.withStrict(strict).withMaxAttempts(maxAttempts),
            deadline == null ? null : deadline.toNanos());
    fresh();
    take(session.start(now));
  }

  static PdPlan plan(PdShape shape, boolean finishesPrefill, boolean aborts) {
    return new PdPlan(
        shape,
        false,
        false,
        !finishesPrefill,
        true,
        finishesPrefill,
        aborts,
        Duration.ofSeconds(1),
        Duration.ofMinutes(1));
  }

  private void fresh() {
    sides.put(WorkerRole.PREFILL, new Side());
    sides.put(WorkerRole.DECODE, new Side());
    payload = false;
    handedOver = false;
    handOffsReached = 0;
    releaseEver = false;
  }

  private Side prefill() {
    return sides.get(WorkerRole.PREFILL);
  }

  private Side decode() {
    return sides.get(WorkerRole.DECODE);
  }

  boolean over() {
    return closed != null;
  }

  /** What may happen next. */
  Set<Step> possible(Set<Step> allowed) {
    EnumSet<Step> steps = EnumSet.noneOf(Step.class);
    if (over()) {
      return steps;
    }
    side(steps, prefill(), true);
    side(steps, decode(), false);
    if (!cancelled) {
      steps.add(Step.CANCEL);
    }
    if (releaseOut) {
      steps.add(Step.RELEASED);
    }
    if (session.nextTimeout() != null) {
      steps.add(Step.TIME);
    }
    steps.retainAll(allowed);
    return steps;
  }

  private void side(EnumSet<Step> steps, Side side, boolean p) {
    if (!side.wanted || side.over) {
      return;
    }
    if (!side.begun) {
      steps.add(p ? Step.SENT_P : Step.SENT_D);
      steps.add(p ? Step.UNREACHED_P : Step.UNREACHED_D);
      return;
    }
    if (!side.headers) {
      steps.add(p ? Step.HEADERS_P : Step.HEADERS_D);
      steps.add(p ? Step.REFUSED_P : Step.REFUSED_D);
    } else {
      if (p) {
        steps.add(Step.OK_P);
        if (plan.shape() == PdShape.SEQUENTIAL) {
          steps.add(Step.EMPTY_P);
        }
      } else if (!payload) {
        steps.add(Step.PAYLOAD);
      } else {
        steps.add(Step.OK_D);
      }
    }
    steps.add(p ? Step.ERROR_P : Step.ERROR_D);
  }

  void step(Step step) {
    WorkerRole role =
        step.name().endsWith("_P")
            ? WorkerRole.PREFILL
            : step.name().endsWith("_D") ? WorkerRole.DECODE : WorkerRole.REGULAR;
    Side side = sides.get(role);
    now += 1_000_000;
    LegResult end = null;
    List<PdAction> actions = List.of();
    switch (step) {
      case SENT_P, SENT_D -> {
        side.begun = true;
        actions = session.sent(role, now);
        if (role == WorkerRole.DECODE && handedOver) {
          handOffsReached++;
        }
      }
      case HEADERS_P, HEADERS_D -> {
        side.headers = true;
        actions = session.headers(role);
      }
      case PAYLOAD -> {
        payload = true;
        actions = session.payload(now);
      }
      case OK_P -> {
        handedOver = plan.shape() == PdShape.SEQUENTIAL;
        end = LegResult.ok(handedOver);
      }
      case EMPTY_P, OK_D -> end = LegResult.ok(false);
      case ERROR_P, ERROR_D -> end = LegResult.broken(LegOutcome.IO_ERROR, true, "reset");
      case UNREACHED_P, UNREACHED_D ->
          end = LegResult.broken(LegOutcome.IO_ERROR, false, "refused");
      case REFUSED_P, REFUSED_D -> {
        refused |= session.state() != PdState.ABORTING && !side.dropped;
        end = LegResult.status(400, PdEvidence.NONE, null);
        if (role == WorkerRole.DECODE) {
          handOffsReached = 0; // it was turned down at the door
        }
      }
      case CANCEL -> {
        cancelled = true;
        actions = session.cancel(now);
      }
      case RELEASED -> {
        releaseOut = false;
        actions = session.released();
      }
      case TIME -> {
        now = Math.max(now, session.nextTimeout());
        actions = session.tick(now, now - Duration.ofMinutes(5).toNanos());
      }
    }
    if (end != null) {
      side.over = true;
      boolean beforeFirstByte = !releasedToCaller && side.settled == 0;
      actions = session.ended(role, end, now);
      if (role == WorkerRole.PREFILL && end.outcome() != LegOutcome.OK && beforeFirstByte) {
        victimIsDroppedAtOnce(actions);
      }
      if (actions.stream().noneMatch(a -> a instanceof PdAction.SelectDecode)) {
        assertThat(session.ended(role, end, now)).as("I1: a second end").isEmpty();
      }
    }
    take(actions);
  }

  /** I4. */
  private void victimIsDroppedAtOnce(List<PdAction> actions) {
    Side victim = decode();
    boolean now =
        actions.contains(new PdAction.Drop(WorkerRole.DECODE))
            || actions.stream()
                .anyMatch(a -> a instanceof PdAction.Settled s && s.role() == WorkerRole.DECODE);
    assertThat(now || victim.settled > 0 || victim.dropped || over())
        .as("I4: decode is dropped at once")
        .isTrue();
  }

  private void take(List<PdAction> actions) {
    for (PdAction action : actions) {
      assertThat(closed).as("nothing after the end, but %s", action).isNull();
      all.add(action);
      if (action instanceof PdAction.Select select) {
        assertThat(releasedToCaller).as("I10: retried after the first byte").isFalse();
        assertThat(refused).as("I10: a 4xx is retried").isFalse();
        assertThat(select.attempt()).as("I10: budget").isLessThanOrEqualTo(maxAttempts);
        assertThat(select.attempt()).isEqualTo(++selects);
        assertThat(retired).as("both legs of the last attempt ended").isEqualTo(selects - 1);
        fresh();
        take(session.paired(plan, now));
      } else if (action instanceof PdAction.SelectDecode) {
        assertThat(handOffsReached).as("I9: the hand-off may be claimed").isZero();
        sides.put(WorkerRole.DECODE, new Side());
        take(session.decodePaired());
      } else if (action instanceof PdAction.Send send) {
        assertThat(sides.get(send.role()).wanted).isFalse();
        sides.get(send.role()).wanted = true;
      } else if (action instanceof PdAction.Drop drop) {
        sides.get(drop.role()).dropped = true;
      } else if (action instanceof PdAction.Abort abort) {
        assertThat(plan.aborts()).isTrue();
        sides.get(abort.role()).aborted = true;
      } else if (action instanceof PdAction.Release) {
        assertThat(handOffsReached).as("I9: released and claimed").isZero();
        assertThat(releaseEver).isFalse();
        releaseEver = true;
        releaseOut = true;
      } else if (action instanceof PdAction.Settled settled) {
        settled(settled);
      } else if (action instanceof PdAction.Retire) {
        retired++;
        assertThat(prefill().settled).as("I1: prefill ends once").isEqualTo(1);
        assertThat(decode().settled).as("I1: decode ends once").isEqualTo(1);
        noOrphan();
      } else if (action instanceof PdAction.Tell tell) {
        assertThat(words.stream().anyMatch(w -> w != Word.RELEASED)).as("I2").isFalse();
        words.add(tell.word());
        releasedToCaller |= tell.word() == Word.RELEASED;
        assertThat(tell.failure() != null)
            .isEqualTo(tell.word() == Word.FAILED || tell.word() == Word.REFUSED);
      } else if (action instanceof PdAction.Close close) {
        closed = close.end();
      }
    }
    if (!over() && session.state() != PdState.SELECTING && session.state() != PdState.NEW) {
      assertThat(session.nextTimeout()).as("I23: a timer in %s", session.state()).isNotNull();
    }
    if (over()) {
      atEnd();
    }
  }

  private void settled(PdAction.Settled settled) {
    Side side = sides.get(settled.role());
    side.settled++;
    side.outcome = settled.outcome();
    if (settled.outcome() == LegOutcome.CANCELLED || settled.outcome() == LegOutcome.NOT_SENT) {
      assertThat(settled.judgement()).as("I12: the victim").isEqualTo(Judgement.NEUTRAL);
    }
    if (settled.outcome() == LegOutcome.NOT_SENT) {
      assertThat(side.begun && !side.over).as("I3, I4: taken for never sent").isFalse();
      side.over = true;
    }
  }

  /** I3, for an attempt whose legs have ended. */
  private void noOrphan() {
    Side p = prefill();
    boolean answered = p.outcome == LegOutcome.HTTP_ERROR || p.outcome == LegOutcome.NOT_SENT;
    boolean gone = p.dropped || p.outcome == LegOutcome.IO_ERROR;
    boolean told = !plan.aborts() || p.aborted || !p.begun || session.state() == PdState.COMPLETED;
    assertThat(p.outcome == LegOutcome.OK || answered || (gone && told) || p.dropped)
        .as("I3: prefill ended %s, dropped %s, aborted %s", p.outcome, p.dropped, p.aborted)
        .isTrue();
    if (handedOver && p.outcome == LegOutcome.OK) {
      assertThat(handOffsReached > 0 || releaseEver || all.contains(lateDrop()))
          .as("I3: a hand-off is fetched or released")
          .isTrue();
    }
  }

  private static PdAction lateDrop() {
    return new PdAction.Drop(WorkerRole.PREFILL);
  }

  private void atEnd() {
    assertThat(session.state()).isEqualTo(closed);
    assertThat(session.state().terminal()).isTrue();
    assertThat(session.nextTimeout()).isNull();
    Word last = words.get(words.size() - 1);
    switch (closed) {
      case COMPLETED -> assertThat(last).isEqualTo(Word.ENDED);
      case FAILED -> assertThat(last).isIn(Word.FAILED, Word.REFUSED);
      case CANCELLED -> assertThat(last).isEqualTo(Word.CANCELLED);
      default -> throw new AssertionError(closed);
    }
    if (cancelled && last == Word.CANCELLED) {
      assertThat(closed).as("I13").isEqualTo(PdState.CANCELLED);
    }
    if (strict && closed == PdState.COMPLETED && words.contains(Word.ENDED)) {
      assertThat(decode().outcome).isEqualTo(LegOutcome.OK);
    }
  }
}

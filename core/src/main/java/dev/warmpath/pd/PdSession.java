package dev.warmpath.pd;

import dev.warmpath.pd.PdAction.Judgement;
import dev.warmpath.pd.PdAction.Word;
import dev.warmpath.pd.PdFailure.Phase;
import dev.warmpath.pd.PdTimers.Kind;
import dev.warmpath.pd.PdVerdict.Blame;
import dev.warmpath.worker.WorkerRole;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The state machine of one request's two legs: events in, actions out. It does no I/O and reads no
 * clock; every event carries the time, and {@link #nextTimeout} says when {@link #tick} is due at
 * the latest. Ids, permits and connections are its owner's.
 *
 * <p>It promises that each leg ends exactly once, that the caller hears one last word, that nothing
 * is retried after the caller has had a byte, and that no leg that was sent is left running. Used
 * by one thread at a time.
 */
final class PdSession {
  private final PdSettings settings;
  private final PdTimers timers = new PdTimers();
  private final List<PdAction> out = new ArrayList<>();

  private PdState state = PdState.NEW;
  private @Nullable PdPlan plan;
  private final PdLegs legs = new PdLegs(out);
  private final PdReport report = new PdReport(legs, out);
  private int attempts;

  /** Decode has answered, and prefill's end is waited for. */
  private boolean payloadHeld;

  /** Prefill's hand-off is at hand and no decode worker can have claimed it. */
  private boolean handOffHeld;

  private boolean repicked;
  private boolean corrupted;
  private @Nullable PdVerdict verdict;

  /** How the session ends once its legs have, where that is settled already. */
  private @Nullable PdState endsAs;

  /**
   * Creates a session that has not begun.
   *
   * @param deadline when the request has to be over, by the clock of the events; null for never
   */
  PdSession(PdSettings settings, @Nullable Long deadline) {
    this.settings = settings;
    if (deadline != null) {
      timers.armAt(Kind.DEADLINE, deadline);
    }
  }

  PdState state() {
    return state;
  }

  PdLeg leg(WorkerRole role) {
    return legs.of(role);
  }

  /** Pairs chosen so far. */
  int attempts() {
    return attempts;
  }

  /** When {@link #tick} is due, or null while nothing is waited for. */
  @Nullable Long nextTimeout() {
    return timers.next();
  }

  private List<PdAction> actions() {
    List<PdAction> made = List.copyOf(out);
    out.clear();
    return made;
  }

  /** Begins. */
  List<PdAction> start(long now) {
    if (state == PdState.NEW) {
      if (timers.due(Kind.DEADLINE, now)) {
        deadline(now);
      } else {
        state = PdState.SELECTING;
        out.add(new PdAction.Select(1));
      }
    }
    return actions();
  }

  /** A pair was chosen; its owner holds both permits and both places. */
  List<PdAction> paired(PdPlan chosen, long now) {
    if (state != PdState.SELECTING) {
      throw new IllegalStateException("no pair is wanted in " + state);
    }
    plan = chosen;
    attempts++;
    legs.renew(chosen.aborts());
    payloadHeld = false;
    handOffHeld = false;
    repicked = false;
    timers.clear();
    if (chosen.direct()) {
      legs.notSent(WorkerRole.PREFILL);
      state = PdState.STARTING_DECODE;
      timers.arm(Kind.FIRST_PAYLOAD, now, chosen.firstPayload());
      out.add(new PdAction.Send(WorkerRole.DECODE));
      return actions();
    }
    timers.arm(Kind.PREFILL, now, settings.timeouts().prefill());
    out.add(new PdAction.Send(WorkerRole.PREFILL));
    if (chosen.shape() == PdShape.CONCURRENT) {
      state = PdState.DISPATCHING;
      timers.arm(Kind.RENDEZVOUS, now, settings.timeouts().rendezvous());
      out.add(new PdAction.Send(WorkerRole.DECODE));
    } else {
      state = PdState.PREFILLING;
    }
    return actions();
  }

  /** Another decode worker was chosen for the hand-off that is held. */
  List<PdAction> decodePaired() {
    if (state == PdState.HOLDING) {
      out.add(new PdAction.Send(WorkerRole.DECODE));
    }
    return actions();
  }

  /**
   * Nobody can be sent to.
   *
   * @param verdict what the caller is told of it
   */
  List<PdAction> noPair(PdVerdict verdict, String error, long now) {
    if (state == PdState.SELECTING) {
      PdFailure last = report.failure();
      finishFailed(last != null ? last : report.failure(Phase.SELECT, verdict, 0, error));
    } else if (state == PdState.HOLDING) {
      legs.notSent(WorkerRole.DECODE);
      abandon(Objects.requireNonNull(this.verdict), now);
    }
    return actions();
  }

  /** A leg's request is on its way. */
  List<PdAction> sent(WorkerRole role, long now) {
    leg(role).reached(PdLeg.Progress.SENT);
    if (state == PdState.DISPATCHING
        && legs.prefill().progress() != PdLeg.Progress.IDLE
        && legs.decode().progress() != PdLeg.Progress.IDLE) {
      state = PdState.AWAITING;
    } else if (state == PdState.HOLDING && role == WorkerRole.DECODE) {
      state = PdState.STARTING_DECODE;
      timers.disarm(Kind.HANDOFF);
      timers.arm(Kind.FIRST_PAYLOAD, now, plan().firstPayload());
    }
    return actions();
  }

  /** A leg's response began with success. */
  List<PdAction> headers(WorkerRole role) {
    leg(role).reached(PdLeg.Progress.HEADERS);
    return actions();
  }

  /** Decode's first payload is at hand. Later ones need no event: see {@link #tick}. */
  List<PdAction> payload(long now) {
    legs.decode().reached(PdLeg.Progress.BODY);
    firstPayload(now);
    return actions();
  }

  private void firstPayload(long now) {
    switch (state) {
      case DISPATCHING, AWAITING -> {
        if (payloadHeld) {
          return;
        }
        if (legs.prefill().ok() || !settings.strict()) {
          release(now);
        } else {
          payloadHeld = true;
          timers.disarm(Kind.RENDEZVOUS);
          timers.arm(Kind.GRACE, now, plan().grace());
        }
      }
      case STARTING_DECODE -> release(now);
      default -> {
        // released before, or no longer wanted
      }
    }
  }

  private void release(long now) {
    handOffHeld = false;
    state = PdState.STREAMING;
    timers.disarm(Kind.GRACE);
    timers.disarm(Kind.RENDEZVOUS);
    timers.disarm(Kind.FIRST_PAYLOAD);
    timers.arm(Kind.IDLE, now, settings.timeouts().idle());
    report.release();
    if (legs.decode().ok()) {
      decodeDone(now);
    }
  }

  /** A leg has ended. An end that comes after another one of the same leg does nothing. */
  List<PdAction> ended(WorkerRole role, LegResult result, long now) {
    PdLeg leg = leg(role);
    if (state.terminal() || state == PdState.SELECTING || leg.ended()) {
      return actions();
    }
    if (result.reached()) {
      leg.reached(PdLeg.Progress.SENT);
    }
    if (result.outcome() == LegOutcome.OK) {
      legs.settle(role, LegOutcome.OK, Judgement.SUCCEEDED);
      if (role == WorkerRole.PREFILL) {
        prefillOk(result.handOff(), now);
      } else {
        decodeOk(now);
      }
    } else if (state == PdState.ABORTING) {
      legs.settle(role, LegOutcome.CANCELLED, PdLegs.judgement(role, verdict));
      if (role == WorkerRole.DECODE && !result.begun()) {
        releaseHeld();
      }
      resolveIfEnded();
    } else {
      PdVerdict found = PdVerdict.of(role, result, corrupted);
      corrupted |= result.evidence() == PdEvidence.CORRUPTION;
      legs.settle(role, result.outcome(), PdLegs.judgement(role, found));
      failed(role, result, found, now);
    }
    return actions();
  }

  private void prefillOk(boolean handOff, long now) {
    timers.disarm(Kind.PREFILL);
    handOffHeld = handOff;
    switch (state) {
      case DISPATCHING, AWAITING -> {
        timers.disarm(Kind.RENDEZVOUS);
        if (payloadHeld) {
          release(now);
        } else {
          timers.arm(Kind.FIRST_PAYLOAD, now, plan().firstPayload());
        }
      }
      case PREFILLING -> {
        if (!handOff && !plan().recomputes()) {
          legs.notSent(WorkerRole.DECODE);
          PdVerdict nothing = new PdVerdict(Blame.PREFILL, false, false);
          report.failed(Phase.HANDOFF, nothing, 502, "prefill handed nothing over");
          abandon(nothing, now);
          return;
        }
        state = PdState.HOLDING;
        timers.arm(Kind.HANDOFF, now, settings.timeouts().handOff());
        out.add(new PdAction.Send(WorkerRole.DECODE));
      }
      case RELEASING -> {
        if (handOff) {
          beginRelease(now);
        } else {
          resolve();
        }
      }
      case DRAINING -> complete();
      case ABORTING -> {
        if (legs.decode().outcome() == LegOutcome.NOT_SENT) {
          releaseHeld();
        }
        resolveIfEnded();
      }
      default -> {
        // streaming already: nothing waits for it
      }
    }
  }

  private void decodeOk(long now) {
    switch (state) {
      case STREAMING -> decodeDone(now);
      case DISPATCHING, AWAITING, STARTING_DECODE -> firstPayload(now);
      case ABORTING -> resolveIfEnded();
      default -> {
        // its end was not waited for
      }
    }
  }

  private void decodeDone(long now) {
    report.last(Word.ENDED, null);
    if (legs.prefill().ended()) {
      complete();
    } else {
      state = PdState.DRAINING;
      timers.clear();
      timers.arm(Kind.DRAIN, now, settings.timeouts().drain());
    }
  }

  private void complete() {
    out.add(new PdAction.Retire());
    finish(PdState.COMPLETED);
  }

  private void failed(WorkerRole role, LegResult result, PdVerdict found, long now) {
    switch (state) {
      case DRAINING -> complete();
      case RELEASING -> resolve();
      case STREAMING -> {
        if (role == WorkerRole.PREFILL && !settings.strict()) {
          return;
        }
        report.last(
            Word.FAILED,
            report.failed(Phase.DECODE_STREAM, found, result.status(), result.error()));
        abandon(found, now);
      }
      case HOLDING, STARTING_DECODE -> {
        report.failed(Phase.DECODE_START, found, result.status(), result.error());
        if (result.begun()) {
          handOffHeld = false;
        }
        if (handOffHeld
            && !result.reached()
            && !repicked
            && !plan().boundToDecode()
            && !found.equals(PdVerdict.DEADLINE)) {
          repicked = true;
          verdict = found;
          legs.renewDecode();
          timers.clear();
          timers.arm(Kind.HANDOFF, now, settings.timeouts().handOff());
          state = PdState.HOLDING;
          out.add(new PdAction.Exclude(Blame.DECODE));
          out.add(new PdAction.SelectDecode());
          return;
        }
        abandon(found, now);
      }
      default -> {
        report.failed(
            state == PdState.PREFILLING ? Phase.PREFILL : Phase.RENDEZVOUS,
            found,
            result.status(),
            result.error());
        abandon(found, now);
      }
    }
  }

  /** The caller wants no more. */
  List<PdAction> cancel(long now) {
    giveUp(Word.CANCELLED, null, PdState.CANCELLED, now);
    return actions();
  }

  private void deadline(long now) {
    timers.disarm(Kind.DEADLINE);
    if (state == PdState.DRAINING) {
      return; // the caller has its answer, and draining has a limit of its own
    }
    Phase phase =
        switch (state) {
          case PREFILLING -> Phase.PREFILL;
          case DISPATCHING, AWAITING -> Phase.RENDEZVOUS;
          case HOLDING -> Phase.HANDOFF;
          case STARTING_DECODE -> Phase.DECODE_START;
          case STREAMING -> Phase.DECODE_STREAM;
          default -> Phase.SELECT;
        };
    giveUp(
        Word.FAILED,
        report.failure(phase, PdVerdict.DEADLINE, 0, "deadline passed"),
        PdState.FAILED,
        now);
  }

  /** Ends the session early, by the caller's wish or its deadline. */
  private void giveUp(Word word, @Nullable PdFailure why, PdState end, long now) {
    if (state.terminal() || report.over()) {
      return;
    }
    endsAs = end;
    report.last(word, why);
    switch (state) {
      case NEW, SELECTING -> finish(end);
      case ABORTING -> {
        // its legs are ending already
      }
      case PREFILLING -> {
        legs.notSent(WorkerRole.DECODE);
        if (plan().finishesPrefill() && legs.prefill().running()) {
          state = PdState.RELEASING;
        } else {
          abandon(new PdVerdict(Blame.NONE, false, false), now);
        }
      }
      case HOLDING -> {
        legs.notSent(WorkerRole.DECODE);
        if (handOffHeld && plan().releases()) {
          beginRelease(now);
        } else {
          handOffHeld = false;
          resolve();
        }
      }
      default -> abandon(new PdVerdict(Blame.NONE, false, false), now);
    }
  }

  private void beginRelease(long now) {
    handOffHeld = false;
    state = PdState.RELEASING;
    timers.clear();
    timers.arm(Kind.RELEASE, now, settings.timeouts().release());
    out.add(new PdAction.Release());
  }

  /** The touch that releases KV is over, well or not. */
  List<PdAction> released() {
    if (state == PdState.RELEASING && legs.prefill().ended()) {
      resolve();
    }
    return actions();
  }

  /** Frees what prefill holds and decode has not begun to fetch, beside whatever comes next. */
  private void releaseHeld() {
    if (handOffHeld && plan().releases()) {
      out.add(new PdAction.Release());
    }
    handOffHeld = false;
  }

  /** Gives the attempt up: whatever runs is told to end, decode first. */
  private void abandon(PdVerdict found, long now) {
    verdict = found;
    timers.clear();
    out.add(new PdAction.Exclude(found.blame()));
    legs.drop(WorkerRole.DECODE);
    legs.drop(WorkerRole.PREFILL);
    if (legs.decode().ended()) {
      releaseHeld();
    }
    if (legs.ended()) {
      resolve();
    } else {
      state = PdState.ABORTING;
      timers.arm(Kind.SETTLE, now, settings.timeouts().settle());
    }
  }

  /**
   * Time has passed.
   *
   * @param silentSince since when decode has kept a caller waiting that listens; now, where none
   *     does
   */
  List<PdAction> tick(long now, long silentSince) {
    if (timers.due(Kind.DEADLINE, now)) {
      deadline(now);
    }
    if (timers.due(Kind.GRACE, now)) {
      timers.disarm(Kind.GRACE);
      release(now);
    }
    if (timers.due(Kind.PREFILL, now)) {
      timers.disarm(Kind.PREFILL);
      timedOut(WorkerRole.PREFILL, "prefill did not end in time", now);
    }
    if (timers.due(Kind.RENDEZVOUS, now)) {
      timers.disarm(Kind.RENDEZVOUS);
      noRendezvous(now);
    }
    if (timers.due(Kind.HANDOFF, now)) {
      timers.disarm(Kind.HANDOFF);
      PdVerdict late = new PdVerdict(Blame.NONE, false, true);
      report.failed(Phase.HANDOFF, late, 0, "decode was not sent in time");
      abandon(late, now);
    }
    if (timers.due(Kind.FIRST_PAYLOAD, now)) {
      timers.disarm(Kind.FIRST_PAYLOAD);
      timedOut(WorkerRole.DECODE, "decode did not begin in time", now);
    }
    if (timers.due(Kind.IDLE, now)) {
      long due = silentSince + settings.timeouts().idle().toNanos();
      if (due - now > 0) {
        timers.armAt(Kind.IDLE, due);
      } else {
        timers.disarm(Kind.IDLE);
        timedOut(WorkerRole.DECODE, "decode fell silent", now);
      }
    }
    if (timers.due(Kind.DRAIN, now)) {
      out.add(new PdAction.Drop(WorkerRole.PREFILL));
      legs.settle(WorkerRole.PREFILL, LegOutcome.CANCELLED, Judgement.NEUTRAL);
      complete();
    }
    if (timers.due(Kind.SETTLE, now)) {
      for (WorkerRole role : new WorkerRole[] {WorkerRole.DECODE, WorkerRole.PREFILL}) {
        legs.settle(role, LegOutcome.CANCELLED, PdLegs.judgement(role, verdict));
      }
      resolve();
    }
    if (timers.due(Kind.RELEASE, now)) {
      resolve();
    }
    return actions();
  }

  private void timedOut(WorkerRole role, String error, long now) {
    PdLeg leg = leg(role);
    if (leg.ended()) {
      return;
    }
    boolean reached = leg.progress() != PdLeg.Progress.IDLE;
    LegOutcome end = reached ? LegOutcome.TIMED_OUT : LegOutcome.NOT_SENT;
    LegResult result = LegResult.broken(end, reached, error);
    PdVerdict found =
        reached
            ? PdVerdict.of(role, result, corrupted)
            : new PdVerdict(Blame.NONE, false, true); // this client did not get to it
    if (reached) {
      legs.abort(role);
    }
    out.add(new PdAction.Drop(role));
    legs.settle(role, end, PdLegs.judgement(role, found));
    failed(role, result, found, now);
  }

  /** Neither has got anywhere: the one that did not even answer is more likely at fault. */
  private void noRendezvous(long now) {
    boolean prefillAnswers = legs.prefill().progress().compareTo(PdLeg.Progress.HEADERS) >= 0;
    boolean decodeAnswers = legs.decode().progress().compareTo(PdLeg.Progress.HEADERS) >= 0;
    Blame blame =
        prefillAnswers == decodeAnswers
            ? Blame.PAIR
            : prefillAnswers ? Blame.DECODE : Blame.PREFILL;
    PdVerdict found = new PdVerdict(blame, false, true);
    report.failed(Phase.RENDEZVOUS, found, 0, "the workers did not meet in time");
    abandon(found, now);
  }

  private void resolveIfEnded() {
    if (legs.ended()) {
      resolve();
    }
  }

  /** Both legs have ended: another attempt, or the end. */
  private void resolve() {
    handOffHeld = false;
    out.add(new PdAction.Retire());
    PdState end = endsAs;
    PdVerdict found = verdict;
    if (end != null) {
      finish(end);
    } else if (found != null
        && found.retryable()
        && !report.released()
        && attempts < settings.maxAttempts()) {
      state = PdState.SELECTING;
      timers.clear();
      out.add(new PdAction.Select(attempts + 1));
    } else {
      finishFailed(
          Objects.requireNonNull(report.failure())
              .ended(legs.prefill().outcome(), legs.decode().outcome()));
    }
  }

  private void finishFailed(PdFailure why) {
    report.lastFailure(why);
    finish(PdState.FAILED);
  }

  private void finish(PdState end) {
    state = end;
    timers.clearAll();
    out.add(new PdAction.Close(end));
  }

  private PdPlan plan() {
    return Objects.requireNonNull(plan);
  }
}

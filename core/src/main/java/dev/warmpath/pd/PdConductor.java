package dev.warmpath.pd;

import dev.warmpath.api.PdInfo;
import dev.warmpath.api.RouterTracer.HopTrace;
import dev.warmpath.api.Usage;
import dev.warmpath.dispatch.PairDispatch;
import dev.warmpath.dispatch.WorkerClaim;
import dev.warmpath.pd.PdAction.Word;
import dev.warmpath.policy.Candidate;
import dev.warmpath.transport.OutboundRequest;
import dev.warmpath.transport.PromptTokens;
import dev.warmpath.transport.Timeouts;
import dev.warmpath.worker.WorkerRole;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Carries one {@link PdSession} out: chooses pairs, mints ids, holds places and permits, and does
 * what the session wants through a {@link PdPort}. Events may come from any thread; {@link PdTurns}
 * takes them one at a time.
 */
final class PdConductor {
  private final PdShared shared;
  private final PdSettings settings;
  private final PairDispatch request;
  private final Original original;
  private final PdPairing pairing;
  private final PdLedger ledger;
  private final PdPort port;
  private final boolean headersOnly;
  private final PdSession session;
  private final PdTurns turns;
  private volatile @Nullable PdAttempt attempt;
  private volatile @Nullable RuntimeException refusal;
  private volatile long silentSince;
  private volatile boolean listening = true;
  private @Nullable PdFailure failure;

  /**
   * Creates the conductor of a session that has not begun.
   *
   * @param headersOnly whether the port sees no more of decode's answer than its headers, which
   *     then count as its first payload
   */
  PdConductor(
      PdShared shared,
      PdRules rules,
      PairDispatch request,
      Original original,
      String path,
      PdPort port,
      boolean headersOnly) {
    this.shared = shared;
    this.settings = rules.settings();
    this.request = request;
    this.original = original;
    this.ledger = new PdLedger(shared, request);
    this.pairing = new PdPairing(shared, rules, request, original, path);
    this.port = port;
    this.headersOnly = headersOnly;
    Duration left = request.remaining();
    this.session = new PdSession(settings, left == null ? null : now() + left.toNanos());
    this.turns = new PdTurns(shared.scheduler(), this::perform, session::nextTimeout, this::tick);
  }

  private long now() {
    return shared.scheduler().nanoTime();
  }

  /** Begins. The first choice is made on the calling thread. */
  void start() {
    turns.post(
        () -> {
          if (session.state() == PdState.NEW) { // and not cancelled before it began
            shared.live().add(this);
          }
          return session.start(now());
        });
  }

  /** The caller wants no more. */
  void cancel() {
    turns.post(() -> session.cancel(now()));
  }

  /** What the last attempt is or was, or null before the first. */
  @Nullable PdAttempt attempt() {
    return attempt;
  }

  /** What choosing a pair threw last, or null. */
  @Nullable RuntimeException refusal() {
    return refusal;
  }

  /** How the pair shows in decisions; null before there is one. */
  @Nullable PdInfo info() {
    PdAttempt current = attempt;
    return current == null ? null : current.info();
  }

  /** The prefill worker has reported token counts. */
  void reported(Usage usage) {
    PdAttempt at = attempt;
    if (at == null) {
      return;
    }
    at.prefillReported(usage);
    WorkerClaim claim = at.claim(WorkerRole.PREFILL);
    if (claim != null) {
      request.prefilled(claim, usage);
    }
  }

  /** The tokens that go to a worker with its leg, where its engine reads no text. */
  @Nullable PromptTokens tokens(Candidate candidate) {
    return shared.dispatcher().tokens(candidate.target().worker(), request.prompt());
  }

  /** What follows a leg that is about to be sent to {@code candidate}. */
  HopTrace trace(Candidate candidate, int number) {
    return request.hop(candidate, number);
  }

  /** The headers that a leg takes along for the worker's own trace. */
  Map<String, String> headers(HopTrace traced) {
    return request.headers(traced);
  }

  /** Where the session stands; for tests and views. */
  PdState state() {
    return session.state();
  }

  void sent(LegCall leg) {
    turns.post(() -> current(leg) ? session.sent(leg.role(), now()) : List.of());
  }

  void headers(LegCall leg) {
    turns.post(() -> current(leg) ? session.headers(leg.role()) : List.of());
  }

  /** Whether decode's next payload is waited for: a caller that is busy takes it for no silence. */
  void listening(boolean on) {
    silentSince = now();
    listening = on;
  }

  void payload(LegCall leg) {
    silentSince = now();
    PdAttempt at = attempt;
    if (leg.role() == WorkerRole.DECODE && at != null && !at.answered()) {
      turns.post(
          () -> {
            if (!current(leg)) {
              return List.of();
            }
            at.firstPayload(now());
            return session.payload(now());
          });
    }
  }

  void ended(LegCall leg, LegResult result, byte @Nullable [] handOff) {
    turns.post(() -> current(leg) ? legEnded(leg, result, handOff) : List.of());
  }

  private List<PdAction> legEnded(LegCall leg, LegResult result, byte @Nullable [] handOff) {
    PdAttempt at = Objects.requireNonNull(attempt);
    if (leg.role() == WorkerRole.PREFILL) {
      at.prefillEnded(now());
      if (result.outcome() == LegOutcome.OK) {
        at.handOff(handOff);
        ledger.prefilled(at, now());
      }
    } else {
      at.decodeEnded(now());
    }
    return session.ended(leg.role(), result, now());
  }

  private boolean current(LegCall leg) {
    PdAttempt at = attempt;
    return at != null && at.leg(leg.role()) == leg;
  }

  private void perform(List<PdAction> actions) {
    for (PdAction action : actions) {
      if (action instanceof PdAction.Select select) {
        select(select.attempt());
      } else if (action instanceof PdAction.SelectDecode) {
        perform(selectDecode());
      } else if (action instanceof PdAction.Send send) {
        send(send.role());
      } else if (action instanceof PdAction.Drop drop) {
        LegCall leg = Objects.requireNonNull(attempt).leg(drop.role());
        if (leg != null) {
          leg.drop();
        }
      } else if (action instanceof PdAction.Abort abort) {
        abort(abort.role());
      } else if (action instanceof PdAction.Release) {
        release();
      } else if (action instanceof PdAction.Settled settled) {
        ledger.settled(Objects.requireNonNull(attempt), settled, now());
      } else if (action instanceof PdAction.Exclude exclude) {
        pairing.passOver(exclude.blame(), Objects.requireNonNull(attempt).pair());
      } else if (action instanceof PdAction.Retire) {
        ledger.retired(Objects.requireNonNull(attempt), failure, now());
      } else if (action instanceof PdAction.Tell tell) {
        tell(tell.word(), tell.failure());
      } else if (action instanceof PdAction.Close close) {
        close(close.end());
      }
    }
  }

  private void select(int number) {
    if (number > 1) {
      if (!request.repeatable() || !request.payRetry()) {
        perform(session.noPair(nobody(), "it may not be sent again", now()));
        return;
      }
      long wait = request.backoffNanos(number - 1);
      if (wait > 0) {
        turns.postAfter(wait, () -> choose(number));
        return;
      }
    }
    perform(choose(number));
  }

  private static PdVerdict nobody() {
    return new PdVerdict(PdVerdict.Blame.NONE, false, true);
  }

  private List<PdAction> choose(int number) {
    if (session.state() != PdState.SELECTING) {
      return List.of(); // it was given up meanwhile
    }
    long began = now();
    PdAttempt made;
    try {
      made = pairing.attempt(number);
    } catch (RuntimeException e) {
      refusal = e;
      return session.noPair(nobody(), "no pair could be chosen", now());
    }
    attempt = made;
    ledger.paired(made, now() - began);
    return session.paired(plan(made), now());
  }

  private PdPlan plan(PdAttempt at) {
    PdProtocol protocol = at.protocol();
    PdTimeouts limits = settings.timeouts();
    Timeouts timeouts = request.timeouts();
    return new PdPlan(
        protocol.shape(),
        at.direct(),
        protocol.boundToDecode(),
        protocol.recomputes(),
        protocol.shape() == PdShape.SEQUENTIAL,
        protocol.finishesPrefill(),
        protocol.aborts(),
        headersOnly ? limits.rendezvous() : limits.grace(),
        original.stream() && !at.direct() ? limits.firstPayload() : timeouts.firstToken());
  }

  private List<PdAction> selectDecode() {
    PdAttempt at = Objects.requireNonNull(attempt);
    WorkerClaim other;
    try {
      other = pairing.anotherDecode(at);
    } catch (RuntimeException e) {
      refusal = e;
      other = null;
    }
    if (other == null) {
      return session.noPair(nobody(), "no other decode worker", now());
    }
    at.redirect(other);
    request.attempting(at.number(), at.workers());
    return session.decodePaired();
  }

  private void send(WorkerRole role) {
    PdAttempt at = Objects.requireNonNull(attempt);
    if (role == WorkerRole.DECODE && at.recomputes()) {
      shared.counters().recomputes.increment();
    }
    Duration left = request.remaining();
    Timeouts given = request.timeouts();
    PdTimeouts limits = settings.timeouts();
    // The session has timers of its own, with more to go by; these only bound what it forgot.
    Timeouts timeouts =
        role == WorkerRole.PREFILL
            ? new Timeouts(given.connect(), limits.prefill(), limits.prefill(), left)
            : given.withTotal(left);
    try {
      port.send(at.makeLeg(this, role, timeouts));
    } catch (RuntimeException e) {
      refusal = e;
      LegResult unsent =
          LegResult.broken(LegOutcome.IO_ERROR, false, "not sent: " + e.getClass().getName());
      perform(session.ended(role, unsent, now()));
    }
  }

  private void abort(WorkerRole role) {
    PdAttempt at = Objects.requireNonNull(attempt);
    LegCall leg = at.leg(role);
    if (leg != null) {
      leg.abortedBy(shared.aborts().abort(role, leg.outbound().target(), at.ids().rid(), now()));
    }
  }

  private void release() {
    PdAttempt at = Objects.requireNonNull(attempt);
    PdPair by;
    try {
      by = pairing.toucher(at);
    } catch (RuntimeException e) {
      refusal = e;
      by = at.pair();
    }
    OutboundRequest touch = at.touch(by, settings.timeouts().release());
    shared.releases().touch(touch, () -> turns.post(session::released));
  }

  private void tell(Word word, @Nullable PdFailure why) {
    if (word == Word.RELEASED) {
      ledger.released(Objects.requireNonNull(attempt), now());
    }
    failure = why == null ? failure : why;
    port.tell(word, why);
  }

  private void close(PdState end) {
    turns.end();
    shared.live().remove(this);
    ledger.closed(attempt, end, failure);
  }

  private List<PdAction> tick() {
    long now = now();
    return session.tick(now, listening ? silentSince : now);
  }
}

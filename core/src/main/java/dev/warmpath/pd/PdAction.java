package dev.warmpath.pd;

import dev.warmpath.worker.WorkerRole;
import org.jspecify.annotations.Nullable;

/** What a {@link PdSession} wants done, in this order. None of it blocks. */
sealed interface PdAction {

  /**
   * Choose a pair and answer with {@link PdSession#paired} or {@link PdSession#noPair}.
   *
   * @param attempt the attempt's number, from 1
   */
  record Select(int attempt) implements PdAction {}

  /** Choose another decode worker for the hand-off that is held, and answer likewise. */
  record SelectDecode() implements PdAction {}

  /** Send a leg. */
  record Send(WorkerRole role) implements PdAction {}

  /**
   * Make the engine's abort call for a leg. It goes before a {@link Drop} of the same leg: an
   * engine that notices a disconnect first may no longer know the id.
   */
  record Abort(WorkerRole role) implements PdAction {}

  /** Drop a leg's connection, once an abort call that is under way for it has been answered. */
  record Drop(WorkerRole role) implements PdAction {}

  /** Let a worker free KV that nobody will fetch, and answer with {@link PdSession#released}. */
  record Release() implements PdAction {}

  /**
   * A leg has ended: what it held is given back, once.
   *
   * @param judgement what its worker's breaker is told
   */
  record Settled(WorkerRole role, LegOutcome outcome, Judgement judgement) implements PdAction {}

  /** Prefer others from now on. */
  record Exclude(PdVerdict.Blame blame) implements PdAction {}

  /** Both legs of the attempt have ended: its ids are done with. */
  record Retire() implements PdAction {}

  /**
   * Tell the caller.
   *
   * @param failure why, with {@link Word#FAILED} and {@link Word#REFUSED}
   */
  record Tell(Word word, @Nullable PdFailure failure) implements PdAction {}

  /** The session is over. */
  record Close(PdState end) implements PdAction {}

  /** What the caller is told. One of the last four is the last it hears. */
  enum Word {
    /** What decode sends may be handed on from now. */
    RELEASED,
    /** The answer is whole. */
    ENDED,
    /** A worker refused the request as the caller's own fault: its answer is the answer. */
    REFUSED,
    FAILED,
    CANCELLED
  }

  /** What a circuit breaker is told of a leg. */
  enum Judgement {
    SUCCEEDED,
    FAILED,
    /** A victim, or not the worker's fault. */
    NEUTRAL
  }
}

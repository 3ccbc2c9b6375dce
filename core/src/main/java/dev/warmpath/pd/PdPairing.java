package dev.warmpath.pd;

import dev.warmpath.dispatch.PairDispatch;
import dev.warmpath.dispatch.WorkerClaim;
import dev.warmpath.prompt.StageTimers;
import dev.warmpath.worker.WorkerRole;
import org.jspecify.annotations.Nullable;

/**
 * Finds the pairs of one session, attempt by attempt: by the rules that it began with, passing over
 * who has failed it, with ids that no other attempt has. Used by one thread at a time.
 */
final class PdPairing {
  private final PdShared shared;
  private final PdRules rules;
  private final PairDispatch request;
  private final Original original;
  private final String path;
  private final PdExclusions exclusions = new PdExclusions();

  PdPairing(PdShared shared, PdRules rules, PairDispatch request, Original original, String path) {
    this.shared = shared;
    this.rules = rules;
    this.request = request;
    this.original = original;
    this.path = path;
  }

  private PdWanted wanted() {
    return PdWanted.of(rules, request, shared.dispatcher(), original.path());
  }

  /** Prefer others from now on. */
  void passOver(PdVerdict.Blame blame, PdPair pair) {
    exclusions.add(blame, pair);
  }

  /**
   * Chooses a pair, takes both places and mints its ids.
   *
   * @throws RuntimeException when there is none, or a policy or a worker's protocol fails; no place
   *     is held then
   */
  PdAttempt attempt(int number) {
    StageTimers timers = shared.dispatcher().timers();
    long begun = timers.begin();
    PdChoice choice = shared.selector().choose(wanted(), exclusions);
    timers.end(StageTimers.Stage.SELECT, begun);
    try {
      long now = shared.scheduler().nanoTime();
      return new PdAttempt(number, choice, mint(choice.pair(), now), original, path, now);
    } catch (RuntimeException e) {
      WorkerClaim prefill = choice.prefill();
      if (prefill != null) {
        prefill.neutral(null);
      }
      choice.decode().neutral(null);
      throw e;
    }
  }

  private AttemptIds mint(PdPair pair, long now) {
    PdProtocol protocol = pair.decodeTraits().protocol();
    PdTraits source = pair.prefillTraits();
    long max = protocol.maxRoom(pair);
    long room =
        source == null || max == 0
            ? 0
            : shared.registry().mint(max, pair.prefillRank(), source.ranks(), now);
    String rid = request.newId();
    return new AttemptIds(rid, room, "xfer-" + rid, protocol.requestId(pair, rid));
  }

  /**
   * Another decode worker for an attempt's hand-off, its place taken; null where there is none.
   *
   * @throws RuntimeException when a policy fails
   */
  @Nullable WorkerClaim anotherDecode(PdAttempt at) {
    return shared.selector().chooseDecode(at.pair(), wanted(), exclusions);
  }

  /**
   * Who is to fetch what nobody will: the decode worker, or another where it can't be reached or
   * has refused.
   *
   * @throws RuntimeException when a policy fails
   */
  PdPair toucher(PdAttempt at) {
    LegCall leg = at.leg(WorkerRole.DECODE);
    LegResult end = leg == null ? null : leg.result();
    if (end == null || end.begun() || at.protocol().boundToDecode()) {
      return at.pair();
    }
    WorkerClaim other = anotherDecode(at);
    if (other == null) {
      return at.pair();
    }
    other.neutral(null);
    return at.pair().with(other.candidate());
  }
}

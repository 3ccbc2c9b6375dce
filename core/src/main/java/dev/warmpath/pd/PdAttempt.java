package dev.warmpath.pd;

import dev.warmpath.api.AttemptRecord;
import dev.warmpath.api.FailurePhase;
import dev.warmpath.api.Headers;
import dev.warmpath.api.PdInfo;
import dev.warmpath.api.RouterTracer.HopTrace;
import dev.warmpath.api.Usage;
import dev.warmpath.dispatch.WorkerClaim;
import dev.warmpath.policy.Candidate;
import dev.warmpath.transport.OutboundRequest;
import dev.warmpath.transport.Timeouts;
import dev.warmpath.worker.WorkerRole;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One attempt of a session: its pair, ids, legs and times. Written by the conductor's turn; read by
 * decisions at any time.
 */
final class PdAttempt {
  private static final long NEVER = Long.MIN_VALUE;

  private final int number;
  private final PdChoice choice;
  private final AttemptIds ids;
  private final Original original;
  private final String path;
  private final long begun;
  private volatile @Nullable AttemptRecord ended;
  private volatile PdPair pair;
  private volatile @Nullable LegCall prefill;
  private volatile @Nullable LegCall decode;
  private volatile @Nullable WorkerClaim redirected;
  private byte @Nullable [] handOff;
  private volatile long prefillEnded = NEVER;
  private volatile long firstPayload = NEVER;
  private volatile long decodeEnded = NEVER;
  private volatile @Nullable Usage prefillUsage;

  PdAttempt(
      int number, PdChoice choice, AttemptIds ids, Original original, String path, long begun) {
    this.number = number;
    this.choice = choice;
    this.ids = ids;
    this.original = original;
    this.path = path;
    this.begun = begun;
    this.pair = choice.pair();
  }

  int number() {
    return number;
  }

  AttemptIds ids() {
    return ids;
  }

  PdPair pair() {
    return pair;
  }

  long begun() {
    return begun;
  }

  PdProtocol protocol() {
    return pair.decodeTraits().protocol();
  }

  boolean direct() {
    return choice.direct() != null;
  }

  /** The leg of a role, once it was asked for. */
  @Nullable LegCall leg(WorkerRole role) {
    return role == WorkerRole.PREFILL ? prefill : decode;
  }

  /** The place of a role; null for a prefill that there is not. */
  @Nullable WorkerClaim claim(WorkerRole role) {
    WorkerClaim other = redirected;
    return role == WorkerRole.PREFILL ? choice.prefill() : other == null ? choice.decode() : other;
  }

  /** Makes a role's leg, ready to be sent. */
  LegCall makeLeg(PdConductor conductor, WorkerRole role, Timeouts timeouts) {
    LegRequest request =
        role == WorkerRole.PREFILL
            ? protocol().prefill(pair, ids, original)
            : protocol().decode(pair, ids, original, handOff);
    WorkerClaim claim = Objects.requireNonNull(claim(role));
    HopTrace traced = conductor.trace(claim.candidate(), number);
    OutboundRequest outbound = outbound(conductor, claim, request, timeouts, traced);
    LegCall made = new LegCall(conductor, role, number, outbound, claim, traced);
    if (role == WorkerRole.PREFILL) {
      prefill = made;
    } else {
      decode = made;
    }
    return made;
  }

  private OutboundRequest outbound(
      PdConductor conductor,
      WorkerClaim claim,
      LegRequest request,
      Timeouts timeouts,
      HopTrace traced) {
    return new OutboundRequest(
        claim.candidate().target(),
        "POST",
        path,
        request.headers().replacing(conductor.headers(traced)),
        request.body(),
        request.stream(),
        false,
        rid(claim, request),
        timeouts,
        conductor.tokens(claim.candidate()));
  }

  /** Over HTTP transports would abort by it themselves, which is the session's to do. */
  private static @Nullable String rid(WorkerClaim claim, LegRequest request) {
    return claim.candidate().target().worker().id().scheme().startsWith("http")
        ? null
        : request.rid();
  }

  /** Another decode worker takes over the hand-off. */
  void redirect(WorkerClaim claim) {
    pair = pair.with(claim.candidate());
    decode = null;
    redirected = claim;
  }

  /** A decode request for one token, which only makes its worker fetch and free the KV. */
  OutboundRequest touch(PdPair by, Duration timeout) {
    LegRequest request = protocol().decode(by, ids, original, handOff);
    JsonFields body = Objects.requireNonNull(JsonFields.find(request.body()));
    JsonFields.Added added = new JsonFields.Added().number("max_tokens", 1).raw("stream", "false");
    byte[] small =
        body.edit(
            Set.of("max_tokens", "max_completion_tokens", "min_tokens", "stream", "stream_options"),
            added);
    Headers headers = request.headers();
    return new OutboundRequest(
        by.decode().target(),
        "POST",
        path,
        headers,
        small,
        false,
        false,
        null,
        new Timeouts(timeout, timeout, timeout, timeout));
  }

  void handOff(byte @Nullable [] params) {
    handOff = params;
  }

  /** Whether decode computes the prompt although there was a prefill. */
  boolean recomputes() {
    return !direct() && protocol().handsOver() && handOff == null;
  }

  void prefillEnded(long now) {
    prefillEnded = now;
  }

  void firstPayload(long now) {
    if (firstPayload == NEVER) {
      firstPayload = now;
    }
  }

  boolean answered() {
    return firstPayload != NEVER;
  }

  void decodeEnded(long now) {
    decodeEnded = now;
  }

  /** How long decode took to its first payload; NaN where there was none. */
  double firstPayloadMillis() {
    return millis(begun, firstPayload);
  }

  /** What the attempt's record tells, where the session has no word on it. */
  PdFailure failure(
      @Nullable LegCall prefillLeg, @Nullable LegCall decodeLeg, @Nullable PdFailure known) {
    if (known != null) {
      return known;
    }
    LegResult first = prefillLeg == null ? null : prefillLeg.result();
    LegResult second = decodeLeg == null ? null : decodeLeg.result();
    LegResult told = second != null && second.outcome() != LegOutcome.CANCELLED ? second : first;
    return new PdFailure(
        PdFailure.Phase.RENDEZVOUS,
        new PdVerdict(PdVerdict.Blame.NONE, false, true),
        first == null ? null : first.outcome(),
        second == null ? null : second.outcome(),
        told == null ? 0 : told.status(),
        answered(),
        told == null || told.error().isEmpty() ? "given up" : told.error());
  }

  /** The prefill worker has reported token counts. */
  void prefillReported(Usage usage) {
    prefillUsage = usage;
  }

  /** How long ago prefill ended, in nanoseconds; negative where it has not. */
  long sincePrefill(long now) {
    return prefillEnded == NEVER ? -1 : now - prefillEnded;
  }

  private static double millis(long from, long to) {
    return from == NEVER || to == NEVER ? Double.NaN : (to - from) / 1e6;
  }

  private static @Nullable Integer rank(int rank) {
    return rank < 0 ? null : rank;
  }

  PdInfo info() {
    PdPair now = pair;
    Candidate source = now.prefill();
    return new PdInfo(
        source == null ? null : source.target().worker().id().value(),
        rank(now.prefillRank()),
        now.decode().target().worker().id().value(),
        rank(now.decodeRank()),
        protocol().name(),
        ids.room(),
        ids.requestId(),
        number,
        choice.direct(),
        choice.uncachedTokens(),
        millis(begun, prefillEnded),
        millis(prefillEnded, firstPayload),
        millis(begun, firstPayload),
        millis(firstPayload, decodeEnded),
        prefillUsage);
  }

  /** The pair's names, as attempts list them. */
  String workers() {
    PdPair now = pair;
    Candidate source = now.prefill();
    return (source == null ? "" : source.target() + " > ") + now.decode().target();
  }

  /** How it shows once it is over. */
  AttemptRecord record(@Nullable PdFailure failure, long now) {
    AttemptRecord made = recorded(failure, now);
    ended = made;
    return made;
  }

  /**
   * How it shows among those that are over: the one that answers is told before it has ended.
   *
   * @return null before its first payload
   */
  @Nullable AttemptRecord shown(long now) {
    AttemptRecord last = ended;
    return last != null || !answered() ? last : recorded(null, now);
  }

  private AttemptRecord recorded(@Nullable PdFailure failure, long now) {
    FailurePhase phase =
        failure == null
            ? null
            : failure.status() > 0
                ? FailurePhase.STATUS
                : failure.partialOutput() ? FailurePhase.BODY : FailurePhase.AWAIT_FIRST_BYTE;
    return new AttemptRecord(
        workers(),
        pair.decode().step(),
        phase,
        failure == null ? 0 : failure.status(),
        failure == null ? null : failure.error(),
        Duration.ofNanos(now - begun));
  }
}

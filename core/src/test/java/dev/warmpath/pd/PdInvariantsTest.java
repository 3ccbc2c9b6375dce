package dev.warmpath.pd;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.dispatch.Dispatch;
import dev.warmpath.pd.PdAction.Judgement;
import dev.warmpath.pd.PdAction.Word;
import dev.warmpath.transport.OutboundRequest;
import dev.warmpath.worker.WorkerRank;
import dev.warmpath.worker.WorkerRole;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Single invariants of sessions, each in the plainest case that could break it. */
class PdInvariantsTest {
  private static final PdPlan ATOM = SessionModel.plan(PdShape.SEQUENTIAL, true, false);
  private static final LegResult RESET = LegResult.broken(LegOutcome.IO_ERROR, true, "reset");

  private static PdSession session(PdPlan plan) {
    PdSession session = new PdSession(PdSettings.DEFAULT.withMaxAttempts(1), null);
    session.start(0);
    session.paired(plan, 0);
    return session;
  }

  private static List<PdAction> all(PdSession session, Consumer<List<PdAction>> steps) {
    List<PdAction> actions = new ArrayList<>();
    steps.accept(actions);
    assertThat(session).isNotNull();
    return actions;
  }

  private static PdSession concurrent(PdLeg.Progress both) {
    PdSession session = session(SessionModel.CONCURRENT);
    if (both != PdLeg.Progress.IDLE) {
      session.sent(WorkerRole.PREFILL, 1);
      session.sent(WorkerRole.DECODE, 1);
    }
    return session;
  }

  private static PdSession streaming() {
    PdSession session = concurrent(PdLeg.Progress.SENT);
    session.headers(WorkerRole.DECODE);
    session.ended(WorkerRole.PREFILL, LegResult.ok(false), 2);
    session.payload(3);
    assertThat(session.state()).isEqualTo(PdState.STREAMING);
    return session;
  }

  @Test
  void i1_the_first_end_of_a_leg_is_its_only_one() {
    PdSession session = concurrent(PdLeg.Progress.SENT);
    List<PdAction> first = session.ended(WorkerRole.PREFILL, LegResult.ok(false), 2);
    assertThat(first)
        .contains(new PdAction.Settled(WorkerRole.PREFILL, LegOutcome.OK, Judgement.SUCCEEDED));
    assertThat(session.ended(WorkerRole.PREFILL, RESET, 3)).isEmpty();
    assertThat(session.leg(WorkerRole.PREFILL).outcome()).isEqualTo(LegOutcome.OK);
    PdLeg leg = new PdLeg();
    assertThat(leg.end(LegOutcome.CANCELLED)).isTrue();
    assertThat(leg.end(LegOutcome.OK)).isFalse();
    leg.reached(PdLeg.Progress.BODY);
    assertThat(leg.progress()).as("an ended leg stays where it was").isEqualTo(PdLeg.Progress.IDLE);
  }

  @Test
  void i2_nothing_is_told_after_the_last_word() {
    PdSession session = streaming();
    assertThat(session.ended(WorkerRole.DECODE, LegResult.ok(false), 4))
        .contains(new PdAction.Tell(Word.ENDED, null), new PdAction.Close(PdState.COMPLETED));
    assertThat(session.cancel(5)).isEmpty();
    assertThat(session.payload(5)).isEmpty();
    assertThat(session.ended(WorkerRole.DECODE, RESET, 5)).isEmpty();
    assertThat(session.tick(Duration.ofHours(1).toNanos(), 0)).isEmpty();
  }

  @Test
  void i2_a_failure_is_told_once_however_often_the_session_comes_to_it() {
    PdSession session = streaming();
    List<PdAction> actions = new ArrayList<>(session.ended(WorkerRole.DECODE, RESET, 4));
    actions.addAll(session.cancel(5));
    assertThat(session.state()).isEqualTo(PdState.FAILED);
    assertThat(actions)
        .filteredOn(action -> action instanceof PdAction.Tell)
        .singleElement()
        .matches(tell -> ((PdAction.Tell) tell).word() == Word.FAILED);
  }

  @Test
  void i3_a_hand_off_that_no_decode_will_fetch_is_released() {
    PdSession session = session(SessionModel.PULL);
    session.sent(WorkerRole.PREFILL, 1);
    session.ended(WorkerRole.PREFILL, LegResult.ok(true), 2);
    assertThat(session.state()).isEqualTo(PdState.HOLDING);
    assertThat(session.cancel(3)).contains(new PdAction.Release());
    assertThat(session.state()).isEqualTo(PdState.RELEASING);
    assertThat(session.released()).contains(new PdAction.Close(PdState.CANCELLED));
  }

  /** A decode session whose decode leg has been sent, with a hand-off that it is to fetch. */
  private static PdSession startingDecode() {
    PdSession session = session(SessionModel.PULL);
    session.sent(WorkerRole.PREFILL, 1);
    session.ended(WorkerRole.PREFILL, LegResult.ok(true), 2);
    session.sent(WorkerRole.DECODE, 3);
    assertThat(session.state()).isEqualTo(PdState.STARTING_DECODE);
    return session;
  }

  @ParameterizedTest
  @ValueSource(ints = {400, 404, 413, 422, 429})
  void i3_a_hand_off_whose_decode_was_turned_down_is_released(int status) {
    PdSession session = startingDecode();
    LegResult refused = LegResult.status(status, PdEvidence.NONE, null);
    assertThat(session.ended(WorkerRole.DECODE, refused, 4))
        .containsOnlyOnce(new PdAction.Release())
        .doesNotContain(new PdAction.SelectDecode());
  }

  @Test
  void i3_a_busy_decode_has_fetched_nothing_and_a_failing_one_may_have() {
    LegResult busy = LegResult.status(503, PdEvidence.NONE, Duration.ofSeconds(1));
    assertThat(startingDecode().ended(WorkerRole.DECODE, busy, 4)).contains(new PdAction.Release());
    for (LegResult unclear :
        List.of(
            LegResult.status(500, PdEvidence.NONE, null),
            LegResult.status(503, PdEvidence.NONE, null),
            LegResult.status(408, PdEvidence.NONE, null),
            LegResult.status(400, PdEvidence.of("Lost connection with prefill instance"), null))) {
      assertThat(startingDecode().ended(WorkerRole.DECODE, unclear, 4))
          .as("I9: it would be fetched twice after %s", unclear)
          .doesNotContain(new PdAction.Release());
    }
  }

  @Test
  void i3_a_hand_off_is_released_although_its_decode_is_turned_down_after_the_cancellation() {
    PdSession session = startingDecode();
    assertThat(session.cancel(4))
        .contains(new PdAction.Drop(WorkerRole.DECODE))
        .doesNotContain(new PdAction.Release());
    LegResult refused = LegResult.status(429, PdEvidence.NONE, null);
    assertThat(session.ended(WorkerRole.DECODE, refused, 5))
        .contains(new PdAction.Release(), new PdAction.Close(PdState.CANCELLED));
  }

  @Test
  void i9_a_hand_off_is_not_sent_after_its_deadline() {
    PdSession session = session(SessionModel.PULL);
    session.sent(WorkerRole.PREFILL, 1);
    assertThat(session.ended(WorkerRole.PREFILL, LegResult.ok(true), 2))
        .contains(new PdAction.Send(WorkerRole.DECODE));
    long late = 2 + PdTimeouts.DEFAULT.handOff().toNanos();
    assertThat(session.nextTimeout()).as("decode has not got to it").isEqualTo(late);
    List<PdAction> actions = new ArrayList<>(session.tick(late, 0));
    assertThat(actions)
        .contains(
            new PdAction.Settled(WorkerRole.DECODE, LegOutcome.NOT_SENT, Judgement.NEUTRAL),
            new PdAction.Release())
        .doesNotContain(new PdAction.Send(WorkerRole.DECODE));
    assertThat(session.sent(WorkerRole.DECODE, late + 1)).as("and is told nothing").isEmpty();
    assertThat(session.state()).isEqualTo(PdState.FAILED);
  }

  @Test
  void i3_a_prefill_whose_engine_keeps_aborted_kv_is_let_to_its_end_and_released() {
    PdSession session = session(ATOM);
    session.sent(WorkerRole.PREFILL, 1);
    List<PdAction> cancelled = session.cancel(2);
    assertThat(cancelled)
        .contains(new PdAction.Tell(Word.CANCELLED, null))
        .doesNotContain(new PdAction.Drop(WorkerRole.PREFILL));
    assertThat(session.ended(WorkerRole.PREFILL, LegResult.ok(true), 3))
        .contains(new PdAction.Release());
    assertThat(session.released()).contains(new PdAction.Close(PdState.CANCELLED));
  }

  @ParameterizedTest
  @ValueSource(strings = {"reset", "bootstrap", "lost"})
  void i12_the_victim_is_never_judged_and_the_evidence_names_the_culprit(String how) {
    PdSession session = concurrent(PdLeg.Progress.SENT);
    LegResult result =
        switch (how) {
          case "bootstrap" ->
              LegResult.status(
                  500, PdEvidence.of("Prefill bootstrap failed ... KVPoll.Bootstrapping"), null);
          case "lost" ->
              LegResult.status(500, PdEvidence.of("Lost connection with prefill instance"), null);
          default -> RESET;
        };
    WorkerRole role = how.equals("lost") ? WorkerRole.DECODE : WorkerRole.PREFILL;
    WorkerRole other = role == WorkerRole.PREFILL ? WorkerRole.DECODE : WorkerRole.PREFILL;
    List<PdAction> actions = new ArrayList<>(session.ended(role, result, 2));
    actions.addAll(
        session.ended(other, LegResult.broken(LegOutcome.CANCELLED, true, "cancelled"), 3));
    boolean selfBlamed = how.equals("reset");
    assertThat(actions)
        .contains(
            new PdAction.Settled(
                role, result.outcome(), selfBlamed ? Judgement.FAILED : Judgement.NEUTRAL),
            new PdAction.Settled(
                other, LegOutcome.CANCELLED, selfBlamed ? Judgement.NEUTRAL : Judgement.FAILED));
  }

  static Stream<Arguments> cancellations() {
    PdAction dropP = new PdAction.Drop(WorkerRole.PREFILL);
    PdAction dropD = new PdAction.Drop(WorkerRole.DECODE);
    PdAction abortP = new PdAction.Abort(WorkerRole.PREFILL);
    PdAction abortD = new PdAction.Abort(WorkerRole.DECODE);
    PdAction release = new PdAction.Release();
    return Stream.of(
        Arguments.of(PdState.NEW, List.of()),
        Arguments.of(PdState.SELECTING, List.of()),
        Arguments.of(PdState.DISPATCHING, List.of(abortP, dropP)),
        Arguments.of(PdState.AWAITING, List.of(abortD, dropD, abortP, dropP)),
        Arguments.of(PdState.PREFILLING, List.of(dropP)),
        Arguments.of(PdState.HOLDING, List.of(release)),
        Arguments.of(PdState.STARTING_DECODE, List.of(dropD)),
        Arguments.of(PdState.STREAMING, List.of(abortD, dropD)));
  }

  private static PdSession in(PdState state) {
    return switch (state) {
      case NEW -> new PdSession(PdSettings.DEFAULT, null);
      case SELECTING -> {
        PdSession session = new PdSession(PdSettings.DEFAULT, null);
        session.start(0);
        yield session;
      }
      case DISPATCHING -> {
        PdSession session = session(SessionModel.CONCURRENT);
        session.sent(WorkerRole.PREFILL, 1);
        yield session;
      }
      case AWAITING -> concurrent(PdLeg.Progress.SENT);
      case PREFILLING, HOLDING, STARTING_DECODE -> {
        PdSession session = session(SessionModel.PULL);
        session.sent(WorkerRole.PREFILL, 1);
        if (state != PdState.PREFILLING) {
          session.ended(WorkerRole.PREFILL, LegResult.ok(true), 2);
        }
        if (state == PdState.STARTING_DECODE) {
          session.sent(WorkerRole.DECODE, 3);
        }
        yield session;
      }
      case STREAMING -> streaming();
      default -> throw new IllegalArgumentException(state.name());
    };
  }

  @ParameterizedTest
  @MethodSource("cancellations")
  void i13_a_cancellation_in_any_state_aborts_what_it_should_and_nothing_else(
      PdState state, List<PdAction> expected) {
    PdSession session = in(state);
    assertThat(session.state()).isEqualTo(state);
    List<PdAction> actions =
        all(
            session,
            taken -> {
              taken.addAll(session.cancel(10));
              Long due = session.nextTimeout();
              while (due != null) {
                assertThat(due - 10).isLessThanOrEqualTo(Duration.ofSeconds(5).toNanos());
                taken.addAll(session.tick(due, 0));
                due = session.nextTimeout();
              }
            });
    assertThat(session.state()).isEqualTo(PdState.CANCELLED);
    assertThat(
            actions.stream()
                .filter(
                    action ->
                        action instanceof PdAction.Drop
                            || action instanceof PdAction.Abort
                            || action instanceof PdAction.Release)
                .toList())
        .isEqualTo(expected);
    assertThat(actions).contains(new PdAction.Tell(Word.CANCELLED, null));
  }

  @Test
  void i21_a_burst_of_cancellations_sends_one_abort_per_id_and_keeps_to_the_limit() {
    List<OutboundRequest> sent = new ArrayList<>();
    PdCounters counters = new PdCounters();
    AbortDesk desk =
        new AbortDesk(
            (request, done) -> {
              sent.add(request);
              done.accept(true);
            },
            counters,
            PdSettings.DEFAULT);
    try (PdFixture fixture =
        new PdFixture(
            1,
            PdSettings.DEFAULT,
            (request, done) -> done.accept(true),
            "http://d0:1;role=decode;model=m;engine=sglang",
            "http://d1:1;role=decode;model=m;engine=sglang")) {
      WorkerRank one = fixture.registry.current().ranks().get(0);
      WorkerRank other = fixture.registry.current().ranks().get(1);
      for (int i = 0; i < 50; i++) {
        desk.abort(WorkerRole.DECODE, one, "same", 0);
      }
      assertThat(sent).hasSize(1);
      for (int i = 0; i < 1_000; i++) {
        desk.abort(WorkerRole.DECODE, one, "rid-" + i, i);
      }
      assertThat(sent).hasSize(100);
      desk.abort(WorkerRole.DECODE, other, "same", 1_000);
      assertThat(sent).as("each worker has a limit of its own").hasSize(101);
      desk.abort(WorkerRole.DECODE, one, "later", Duration.ofSeconds(1).toNanos());
      assertThat(sent).hasSize(102);
      desk.abort(WorkerRole.DECODE, one, "", Duration.ofSeconds(2).toNanos());
      assertThat(sent).as("an empty id would end every request").hasSize(102);
      assertThat(counters.stats(0, 0, 0).aborts())
          .containsEntry("decode/sent", 102L)
          .containsEntry("decode/limited", 901L);
    }
  }

  @Test
  void i3_a_burst_of_cancellations_releases_all_kv_a_few_calls_at_a_time() {
    List<Consumer<Boolean>> out = new ArrayList<>();
    AtomicBoolean held = new AtomicBoolean(true);
    PdCounters counters = new PdCounters();
    int most = 2;
    ReleaseDesk desk =
        new ReleaseDesk(
            (request, done) -> {
              if (held.get()) {
                out.add(done);
              } else {
                done.accept(false);
              }
            },
            counters,
            most);
    try (PdFixture fixture =
        new PdFixture(
            1,
            PdSettings.DEFAULT,
            (request, done) -> done.accept(true),
            "http://d0:1;role=decode;model=m;engine=atom")) {
      OutboundRequest request = fixture.touch();
      AtomicInteger over = new AtomicInteger();
      for (int i = 0; i < 10; i++) {
        desk.touch(request, over::incrementAndGet);
      }
      for (int ended = 0; ended < 10; ended++) {
        assertThat(out).hasSize(Math.min(10, ended + most));
        assertThat(over).hasValue(ended);
        out.get(ended).accept(true);
      }
      assertThat(over).hasValue(10);

      int all = most + ReleaseDesk.WAITING + 5;
      for (int i = 0; i < all; i++) {
        desk.touch(request, over::incrementAndGet);
      }
      assertThat(over).as("what is too much is over at once").hasValue(10 + 5);
      held.set(false);
      out.get(10).accept(true);
      out.get(11).accept(true);
      assertThat(over).hasValue(10 + all);
      assertThat(counters.releases.sum()).isEqualTo(10 + all - 5);
      assertThat(counters.releasesDropped.sum()).isEqualTo(5);
    }
  }

  @Test
  void i22_a_prefill_that_does_not_end_is_dropped_by_the_drain_deadline_without_an_abort() {
    PdSession session = concurrent(PdLeg.Progress.SENT);
    session.payload(1);
    assertThat(session.state())
        .as("strict: prefill's end is waited for")
        .isEqualTo(PdState.AWAITING);
    long grace = Duration.ofSeconds(1).toNanos() + 1;
    assertThat(session.tick(grace, 1)).contains(new PdAction.Tell(Word.RELEASED, null));
    assertThat(session.ended(WorkerRole.DECODE, LegResult.ok(false), grace + 1))
        .contains(new PdAction.Tell(Word.ENDED, null))
        .as("it may still end well")
        .doesNotContain(
            new PdAction.Drop(WorkerRole.PREFILL), new PdAction.Abort(WorkerRole.PREFILL));
    assertThat(session.state()).isEqualTo(PdState.DRAINING);
    List<PdAction> drained = session.tick(session.nextTimeout(), 1);
    assertThat(drained)
        .contains(
            new PdAction.Drop(WorkerRole.PREFILL),
            new PdAction.Settled(WorkerRole.PREFILL, LegOutcome.CANCELLED, Judgement.NEUTRAL),
            new PdAction.Close(PdState.COMPLETED))
        .doesNotContain(new PdAction.Abort(WorkerRole.PREFILL));
  }

  @ParameterizedTest
  @ValueSource(longs = {0, -1, Long.MIN_VALUE / 2})
  void i23_a_deadline_that_has_passed_ends_the_session_before_anything_is_sent(long left) {
    PdSession session = new PdSession(PdSettings.DEFAULT, 1_000 + left);
    List<PdAction> actions = session.start(1_000);
    assertThat(session.state()).isEqualTo(PdState.FAILED);
    assertThat(actions).hasSize(2).last().isEqualTo(new PdAction.Close(PdState.FAILED));
    assertThat(((PdAction.Tell) actions.get(0)).failure().verdict()).isEqualTo(PdVerdict.DEADLINE);
  }

  @Test
  void i23_a_clock_that_jumps_or_wraps_leaves_no_session_without_a_timer() {
    long start = Long.MAX_VALUE - 10;
    PdSession session =
        new PdSession(PdSettings.DEFAULT.withMaxAttempts(1), start + Duration.ofHours(1).toNanos());
    session.start(start);
    session.paired(SessionModel.CONCURRENT, start);
    assertThat(session.nextTimeout() - start).isPositive();
    assertThat(session.tick(start + 5, 0)).as("nothing is due yet").isEmpty();
    session.tick(start - Duration.ofDays(1).toNanos(), 0);
    assertThat(session.nextTimeout()).as("back in time").isNotNull();
    List<PdAction> late = session.tick(start + Duration.ofDays(1).toNanos(), 0);
    assertThat(late).as("a jump ahead ends it").anyMatch(a -> a instanceof PdAction.Tell);
    while (session.nextTimeout() != null) {
      session.tick(session.nextTimeout(), 0);
    }
    assertThat(session.state()).isEqualTo(PdState.FAILED);
  }

  @Test
  void i3_kv_whose_decodes_cannot_be_reached_is_released_by_another() {
    List<LegCall> legs = new ArrayList<>();
    List<OutboundRequest> touches = new ArrayList<>();
    List<Word> words = new ArrayList<>();
    String decode = ":1;role=decode;model=m;engine=atom";
    try (PdFixture fixture =
        new PdFixture(
            1,
            PdSettings.DEFAULT.withMaxAttempts(1),
            (request, done) -> {
              touches.add(request);
              done.accept(true);
            },
            "http://p0:1;role=prefill;model=m;engine=atom",
            "http://d0" + decode,
            "http://d1" + decode,
            "http://d2" + decode)) {
      Dispatch dispatch = fixture.begin(PdFixture.WHOLE, null);
      PdConductor conductor =
          fixture.conductor(
              dispatch,
              new PdPort() {
                @Override
                public void send(LegCall leg) {
                  legs.add(leg);
                }

                @Override
                public void tell(Word word, PdFailure failure) {
                  words.add(word);
                  dispatch.pairing().failed(null);
                }
              });
      conductor.start();
      assertThat(legs.get(0).sending(() -> {})).isTrue();
      byte[] params = "{\"transfer_id\":1}".getBytes(java.nio.charset.StandardCharsets.UTF_8);
      legs.get(0).ended(LegResult.ok(true), params);
      LegResult refused = LegResult.broken(LegOutcome.IO_ERROR, false, "refused");
      legs.get(1).ended(refused, null);
      legs.get(2).ended(refused, null);
      assertThat(words).containsExactly(Word.FAILED);
      assertThat(touches).hasSize(1);
      assertThat(touches.get(0).target())
          .as("the one that nobody has tried")
          .isNotIn(legs.get(1).outbound().target(), legs.get(2).outbound().target());
      assertThat(new String(touches.get(0).body(), java.nio.charset.StandardCharsets.UTF_8))
          .contains("\"max_tokens\":1")
          .contains("\"transfer_id\":1");
      assertThat(fixture.inFlight()).isZero();
    }
  }

  @Test
  void only_a_leg_that_is_listened_to_falls_silent() {
    List<LegCall> legs = new ArrayList<>();
    List<Word> words = new ArrayList<>();
    try (PdFixture fixture =
        new PdFixture(
            1,
            PdSettings.DEFAULT,
            (request, done) -> done.accept(true),
            "http://p0:1;role=prefill;model=m;engine=vllm",
            "http://d0:1;role=decode;model=m;engine=vllm")) {
      Dispatch dispatch = fixture.begin(PdFixture.STREAMED, null);
      PdConductor conductor =
          fixture.conductor(
              dispatch,
              new PdPort() {
                @Override
                public void send(LegCall leg) {
                  legs.add(leg);
                }

                @Override
                public void tell(Word word, PdFailure failure) {
                  words.add(word);
                  if (word == Word.FAILED) {
                    dispatch.pairing().failed(null);
                  }
                }
              });
      conductor.start();
      assertThat(legs.get(0).sending(() -> {})).isTrue();
      legs.get(0).ended(LegResult.ok(true), new byte[] {'{', '}'});
      LegCall decode = legs.get(1);
      assertThat(decode.sending(() -> {})).isTrue();
      decode.headers();
      decode.listening(false);
      decode.payload();
      Duration idle = PdTimeouts.DEFAULT.idle();
      fixture.scheduler.advance(idle.multipliedBy(10));
      assertThat(words).as("its caller is busy").containsExactly(Word.RELEASED);

      decode.listening(true);
      fixture.scheduler.advance(idle.minusMillis(1));
      assertThat(words).as("not longer than it may").containsExactly(Word.RELEASED);
      fixture.scheduler.advance(idle);
      assertThat(words).containsExactly(Word.RELEASED, Word.FAILED);
      decode.ended(LegResult.broken(LegOutcome.CANCELLED, true, "dropped"), null);
      assertThat(fixture.inFlight()).isZero();
    }
  }

  @Test
  void i11_places_are_given_back_leg_by_leg() {
    List<LegCall> legs = new ArrayList<>();
    try (PdFixture fixture =
        new PdFixture(
            1,
            PdSettings.DEFAULT,
            (request, done) -> done.accept(true),
            "http://p0:1;role=prefill;model=m;engine=sglang",
            "http://d0:1;role=decode;model=m;engine=sglang")) {
      Dispatch dispatch = fixture.begin(PdFixture.STREAMED, null);
      PdConductor conductor =
          fixture.conductor(
              dispatch,
              new PdPort() {
                @Override
                public void send(LegCall leg) {
                  legs.add(leg);
                }

                @Override
                public void tell(Word word, PdFailure failure) {
                  if (word == Word.ENDED) {
                    dispatch.pairing().completed(null);
                  }
                }
              });
      conductor.start();
      assertThat(fixture.inFlight()).isEqualTo(2);
      assertThat(fixture.dispatcher.inFlight()).as("admitted once").isEqualTo(1);
      assertThat(fixture.prefillTokens()).isPositive();
      assertThat(legs.get(0).sending(() -> {})).isTrue();
      assertThat(legs.get(1).sending(() -> {})).isTrue();
      legs.get(0).ended(LegResult.ok(false), null);
      assertThat(fixture.inFlight()).as("prefill's place returns at its end").isEqualTo(1);
      assertThat(fixture.prefillTokens()).isZero();
      legs.get(1).payload();
      legs.get(1).ended(LegResult.ok(false), null);
      assertThat(fixture.inFlight()).isZero();
      assertThat(fixture.dispatcher.inFlight()).isZero();
      assertThat(conductor.state()).isEqualTo(PdState.COMPLETED);
      assertThat(fixture.scheduler.pending()).as("no timer is left").isZero();
    }
  }
}

package dev.warmpath.pd;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.dispatch.Dispatch;
import dev.warmpath.pd.PdAction.Word;
import dev.warmpath.pd.StubWorld.Fault;
import dev.warmpath.pd.StubWorld.Kind;
import dev.warmpath.worker.WorkerRole;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * I24: many sessions over the whole fault matrix (role, moment, shape, streaming, cancellation,
 * deadline), in memory and in virtual time, leave nothing behind. System property {@code
 * warmpath.pd.soak} sets how many; where {@code skipLong} is set, the default is a tenth of them.
 */
class PdSoakTest {
  private static final int SESSIONS =
      Integer.getInteger(
          "warmpath.pd.soak", System.getProperty("skipLong") == null ? 100_000 : 10_000);

  private static String[] workers(Kind kind) {
    String engine =
        switch (kind) {
          case ROOMS -> "sglang;dp=2";
          case LEASES -> "vllm;pd=nixl";
          case FOR_EVER -> "atom";
        };
    List<String> workers = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      workers.add("http://p" + i + ":1;role=prefill;model=m;engine=" + engine);
      workers.add("http://d" + i + ":1;role=decode;model=m;engine=" + engine);
    }
    return workers.toArray(new String[0]);
  }

  /** What one run came to. */
  private record Outcome(
      TreeMap<String, Integer> ends, long digest, int leasesExpired, int touches) {}

  private static final class Session implements PdPort {
    private final StubWorld world;
    private final Kind kind;
    private final Fault prefill;
    private final Fault decode;
    private final boolean onlyOnce;
    private final List<Word> words = new ArrayList<>();
    private Dispatch dispatch;
    private PdConductor conductor;
    private Set<Long> rooms = new HashSet<>();

    Session(StubWorld world, Kind kind, Fault prefill, Fault decode, boolean onlyOnce) {
      this.world = world;
      this.kind = kind;
      this.prefill = prefill;
      this.decode = decode;
      this.onlyOnce = onlyOnce;
    }

    @Override
    public void send(LegCall leg) {
      boolean faulty = leg.attempt() == 1 || !onlyOnce;
      Fault fault = leg.role() == WorkerRole.PREFILL ? prefill : decode;
      if (kind == Kind.ROOMS && leg.role() == WorkerRole.PREFILL) {
        PdAttempt at = conductor.attempt();
        assertThat(rooms.add(at.ids().room())).as("I7: a room of its own").isTrue();
      }
      world.send(leg, kind, faulty ? fault : Fault.NONE);
    }

    @Override
    public void tell(Word word, PdFailure failure) {
      assertThat(words.stream().anyMatch(w -> w != Word.RELEASED)).as("I2").isFalse();
      words.add(word);
      switch (word) {
        case ENDED, REFUSED -> dispatch.pairing().completed(null);
        case FAILED -> dispatch.pairing().failed(null);
        default -> {
          // nothing has ended, or it was cancelled
        }
      }
    }
  }

  private static Outcome run(Kind kind, long seed, int sessions) {
    SplittableRandom random = new SplittableRandom(seed);
    StubWorld[] world = new StubWorld[1];
    try (PdFixture fixture =
        new PdFixture(
            seed, PdSettings.DEFAULT, (call, done) -> world[0].call(call, done), workers(kind))) {
      world[0] = new StubWorld(fixture.scheduler, random.split()::nextLong);
      Fault[] faults = Fault.values();
      List<Session> all = new ArrayList<>();
      for (int i = 0; i < sessions; i++) {
        Fault p = random.nextInt(3) == 0 ? faults[random.nextInt(faults.length)] : Fault.NONE;
        Fault d = random.nextInt(3) == 0 ? faults[random.nextInt(faults.length)] : Fault.NONE;
        Session session = new Session(world[0], kind, p, d, random.nextInt(4) > 0);
        Duration deadline =
            random.nextInt(10) == 0 ? Duration.ofMillis(1 + random.nextInt(100)) : null;
        String body = random.nextBoolean() ? PdFixture.STREAMED : PdFixture.WHOLE;
        session.dispatch = fixture.begin(body, deadline);
        session.conductor = fixture.conductor(session.dispatch, session);
        session.conductor.start();
        if (random.nextInt(5) == 0) {
          fixture.scheduler.schedule(
              Duration.ofMillis(random.nextInt(80)), session.dispatch::cancel);
        }
        all.add(session);
        fixture.scheduler.advance(Duration.ofMillis(random.nextInt(4)));
      }
      fixture.scheduler.advance(Duration.ofMinutes(30));
      TreeMap<String, Integer> ends = new TreeMap<>();
      long digest = 0;
      for (Session session : all) {
        PdState end = session.conductor.state();
        assertThat(end.terminal()).as("a session in %s: %s", end, session.words).isTrue();
        assertThat(session.words).as("a session that says nothing").isNotEmpty();
        assertThat(session.words.get(session.words.size() - 1)).isNotEqualTo(Word.RELEASED);
        ends.merge(end.name(), 1, Integer::sum);
        digest = digest * 31 + (session.words + end.name()).hashCode();
      }
      assertThat(world[0].held()).as("held blocks").isZero();
      assertThat(world[0].rooms()).as("rooms at the engines").isZero();
      assertThat(world[0].claimedTwice()).as("I9").isEmpty();
      assertThat(fixture.shared.registry().live()).as("live rooms").isZero();
      assertThat(fixture.shared.live()).as("live sessions").isEmpty();
      assertThat(fixture.dispatcher.inFlight()).as("requests in flight").isZero();
      assertThat(fixture.inFlight()).as("I11: places").isZero();
      assertThat(fixture.prefillTokens()).as("I11: tokens").isZero();
      assertThat(fixture.scheduler.pending()).as("timers").isZero();
      return new Outcome(ends, digest, world[0].leasesExpired, world[0].touches);
    }
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void i24_nothing_is_left_of_any_session(Kind kind) {
    Outcome outcome = run(kind, 42, SESSIONS / Kind.values().length + 1);
    assertThat(outcome.ends().keySet()).contains("COMPLETED", "FAILED", "CANCELLED");
    assertThat(outcome.ends().get("COMPLETED")).isGreaterThan(SESSIONS / 10);
    if (kind == Kind.FOR_EVER) {
      assertThat(outcome.touches()).as("KV is released where no decode came").isPositive();
    }
  }

  @Test
  void the_same_seed_gives_the_same_outcomes() {
    Outcome one = run(Kind.ROOMS, 7, 300);
    Outcome other = run(Kind.ROOMS, 7, 300);
    assertThat(one).isEqualTo(other);
    assertThat(run(Kind.ROOMS, 8, 300).digest()).isNotEqualTo(one.digest());
  }
}

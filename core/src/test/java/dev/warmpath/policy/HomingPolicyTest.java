package dev.warmpath.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.warmpath.api.RouteDecision.CandidateView;
import dev.warmpath.api.RouteOptions;
import dev.warmpath.health.Availability;
import dev.warmpath.index.BranchTrie;
import dev.warmpath.prompt.Prompt;
import dev.warmpath.prompt.TestPrompts;
import dev.warmpath.worker.WorkerRank;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** When a prompt stays at home, where it goes instead, and what is said of it. */
class HomingPolicyTest {
  private static final int WORKERS = 8;

  private final Map<String, Integer> told = new HashMap<>();
  private final TestFleet fleet = new TestFleet(WORKERS);
  private final AtomicLong time = new AtomicLong();
  private final BranchTrie trie = BranchTrie.builder().ticker(time::get).build();
  private final RoutingEnvironment environment =
      RoutingEnvironment.builder().prefixes(this::query).branches(trie).build();
  private final HomingFeedback feedback = new HomingFeedback(environment);
  private long seed;

  private PrefixSource.Query query() {
    return new PrefixSource.Query() {
      @Override
      public void match(Prompt prompt) {}

      @Override
      public int tokens(long holderId) {
        return told.getOrDefault(name(holderId), 0);
      }

      @Override
      public boolean authoritative(long holderId) {
        return told.containsKey(name(holderId));
      }

      @Override
      public boolean anyAuthoritative() {
        return !told.isEmpty();
      }

      private String name(long holderId) {
        for (WorkerRank rank : fleet.candidates().asList()) {
          if (rank.holderId() == holderId) {
            return rank.toString();
          }
        }
        return "";
      }
    };
  }

  @AfterEach
  void close() {
    fleet.close();
  }

  private RouteContext context(Prompt prompt, RouteOptions options) {
    return new RouteContext(
        fleet.view(), fleet.candidates(), prompt, options, environment, fleet.now, seed++, false);
  }

  private Candidate first(RoutingPolicy policy, Prompt prompt) {
    return policy.plan(context(prompt, RouteOptions.NONE)).next();
  }

  private int number(Candidate candidate) {
    return fleet.candidates().asList().indexOf(candidate.target());
  }

  private int home(Prompt prompt) {
    return number(first(Policies.homing(), prompt));
  }

  private void idle() {
    for (int i = 0; i < WORKERS; i++) {
      fleet.availability(i, Availability.UP).load(i, 0, 0);
    }
  }

  private static final Prompt LONG = HomingPrompts.of("abcdefghijklmnopqrstuvwxyz");

  @Test
  void aPromptStaysAtHomeWhateverTheDecisionsChance() {
    idle();
    Set<Integer> homes = new HashSet<>();
    for (int i = 0; i < 50; i++) {
      homes.add(home(LONG));
    }
    assertThat(homes).hasSize(1);
  }

  @Test
  void promptsThatShareAPrefixAndAreNeverSentAgainShareAHome() {
    idle();
    int home = home(HomingPrompts.of("document"));
    for (char question = 'A'; question <= 'Z'; question++) {
      Prompt asked = HomingPrompts.of("document" + question);
      assertThat(home(asked)).isEqualTo(home);
      feedback.dispatched(asked).served(0, WORKERS);
      time.addAndGet(60_000_000_000L);
    }
  }

  @Test
  void aShortQueueAtHomeIsWaitedForAndALongOneIsNot() {
    idle();
    int home = home(LONG);
    fleet.load(home, 3, 0);
    assertThat(home(LONG)).isEqualTo(home);
    fleet.load(home, 3, 20);
    assertThat(home(LONG)).isNotEqualTo(home);
  }

  @Test
  void whereItGoesInsteadIsTheKeysOwnSecondChoice() {
    idle();
    Set<Integer> second = new HashSet<>();
    for (int i = 0; i < 200; i++) {
      Prompt prompt = HomingPrompts.of("" + (char) (0x4000 + i));
      int home = home(prompt);
      fleet.load(home, 3, 50);
      int other = home(prompt);
      assertThat(other).isNotEqualTo(home);
      second.add(other);
      fleet.load(home, 0, 0);
    }
    assertThat(second).hasSize(WORKERS);
  }

  @Test
  void ownPromptsOnTheirWayCountLikeThoseThatTelemetryShows() {
    idle();
    int home = home(LONG);
    fleet.own(home, 20, 4_000);
    assertThat(home(LONG)).isNotEqualTo(home);
  }

  @Test
  void workersThatNothingIsKnownOfAreNotTakenForIdle() {
    for (int i = 0; i < WORKERS; i++) {
      fleet.availability(i, Availability.UP);
    }
    int home = home(LONG);
    for (int i = 0; i < WORKERS; i++) {
      if (i != home) {
        fleet.load(i, 2, 4);
      }
    }
    assertThat(home(LONG)).isEqualTo(home);
    fleet.load(home, 2, 4);
    assertThat(home(LONG)).isEqualTo(home);
  }

  @Test
  void aSickHomeIsLeftForTheNextAndComesBack() {
    idle();
    int home = home(LONG);
    fleet.availability(home, Availability.DOWN);
    int next = home(LONG);
    assertThat(next).isNotEqualTo(home);
    fleet.availability(home, Availability.UP);
    assertThat(home(LONG)).isEqualTo(home);
  }

  @Test
  void whatManyAskForHasMoreThanOneHome() {
    idle();
    for (int i = 0; i < 200; i++) {
      feedback.dispatched(LONG).served(LONG.tokens() / 2, WORKERS);
    }
    RouteExplanation explanation = Policies.homing().explain(context(LONG, RouteOptions.NONE));
    assertThat(explanation.steps()).anySatisfy(step -> assertThat(step).contains("replicas 8"));
    Set<Integer> used = new HashSet<>();
    for (int i = 0; i < 40; i++) {
      Candidate chosen = first(Policies.homing(), LONG);
      used.add(number(chosen));
      fleet.own(number(chosen), 1, 1_000);
    }
    assertThat(used).hasSizeGreaterThan(3);
  }

  @Test
  void aSessionKeyIsTheKeyWhereThereIsOne() {
    idle();
    RouteOptions options = TestFleet.session("s-1");
    int home = number(Policies.homing().plan(context(LONG, options)).next());
    for (int i = 0; i < 20; i++) {
      Prompt prompt = HomingPrompts.of("other" + i);
      assertThat(number(Policies.homing().plan(context(prompt, options)).next())).isEqualTo(home);
    }
    Set<Integer> others = new HashSet<>();
    for (int i = 0; i < 50; i++) {
      RouteOptions other = TestFleet.session("t-" + i);
      others.add(number(Policies.homing().plan(context(LONG, other)).next()));
    }
    assertThat(others.size()).isGreaterThan(4);
  }

  @Test
  void aPromptThatIsTooShortForAKeyGoesAnywhere() {
    idle();
    Set<Integer> homes = new HashSet<>();
    for (int i = 0; i < 100; i++) {
      homes.add(home(TestPrompts.ofTokens(20)));
    }
    assertThat(homes).hasSize(WORKERS);
  }

  @Test
  void ranksThatReportTheirCachesAreBelieved() {
    idle();
    int home = home(LONG);
    for (int i = 0; i < WORKERS; i++) {
      told.put(TestFleet.name(i), 0);
    }
    int other = (home + 1) % WORKERS;
    told.put(TestFleet.name(other), LONG.tokens() - 1);
    Candidate chosen = first(Policies.homing(), LONG);
    assertThat(number(chosen)).isEqualTo(other);
    assertThat(chosen.matchedTokens()).isEqualTo(LONG.tokens() - 1);
  }

  @Test
  void presetLocalityStaysAtHomeLonger() {
    idle();
    int home = home(LONG);
    int left = 0;
    int stayed = 0;
    for (int waiting = 1; waiting < 40; waiting++) {
      for (int i = 0; i < WORKERS; i++) {
        environment.prefills().computed(500);
      }
      fleet.load(home, 0, waiting);
      left += number(first(Policies.homing(), LONG)) == home ? 0 : 1;
      Candidate local = first(Policies.homing(HomingSettings.LOCALITY), LONG);
      stayed += number(local) == home ? 0 : 1;
    }
    assertThat(stayed).isLessThan(left);
  }

  @Test
  void theTermsOfEachCandidateAddUpToItsScore() {
    for (int i = 0; i < WORKERS; i++) {
      fleet.availability(i, Availability.UP).load(i, i, i % 3, 0.9 + 0.01 * i, 0);
    }
    RouteExplanation explanation = Policies.homing().explain(context(LONG, RouteOptions.NONE));
    assertThat(explanation.candidates()).hasSize(WORKERS);
    for (CandidateView view : explanation.candidates()) {
      double sum = view.terms().values().stream().mapToDouble(Double::doubleValue).sum();
      assertThat(sum).isCloseTo(view.score(), within(1e-6));
    }
  }

  @Test
  void explainTellsKeyOrderAndWhyItLeftHome() {
    for (int round = 0; round < 2; round++) {
      for (String branch : new String[] {"SYSa", "SYSb", "SYSc"}) {
        feedback.dispatched(HomingPrompts.of(branch)).served(round * 256, WORKERS);
      }
    }
    idle();
    Prompt prompt = HomingPrompts.of("SYSxyz");
    int home = home(prompt);
    assertThat(note(prompt)).contains("hub at token 192 of 384", "key ", "replicas 1", "at home");
    fleet.load(home, 4, 60);
    assertThat(note(prompt)).contains("away from home " + TestFleet.name(home), " ms rather than ");
    assertThat(note(TestPrompts.ofTokens(9))).contains("too short");
    assertThat(
            Policies.homing().explain(context(prompt, TestFleet.session("s"))).steps().toString())
        .contains("keyed by the session")
        .doesNotContain("SYS");
  }

  private String note(Prompt prompt) {
    List<String> notes =
        new ArrayList<>(Policies.homing().explain(context(prompt, RouteOptions.NONE)).steps());
    notes.removeIf(step -> !step.startsWith("homing: "));
    assertThat(notes).hasSize(1);
    return notes.get(0);
  }

  @Test
  void equalSeedsAndStateGiveEqualPlans() {
    idle();
    for (int i = 0; i < 20; i++) {
      Prompt prompt = i == 0 ? TestPrompts.ofTokens(9) : HomingPrompts.of("p" + i);
      long before = seed;
      List<String> one = TestFleet.walk(Policies.homing().plan(context(prompt, RouteOptions.NONE)));
      seed = before;
      List<String> other =
          TestFleet.walk(Policies.homing().plan(context(prompt, RouteOptions.NONE)));
      assertThat(one).isEqualTo(other).hasSize(WORKERS);
    }
  }

  @Test
  void settingsOutOfRangeAreRefused() {
    assertThatThrownBy(() -> HomingSettings.builder().ranks(0).build())
        .hasMessageContaining("ranks=0");
    assertThatThrownBy(() -> HomingSettings.builder().load(-1).build())
        .hasMessageContaining("load=-1.0");
    assertThatThrownBy(() -> HomingSettings.builder().millisPerToken(0).build())
        .hasMessageContaining("millisPerToken");
    assertThat(HomingSettings.builder().build()).isEqualTo(HomingSettings.DEFAULT);
  }
}

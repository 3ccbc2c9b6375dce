package dev.warmpath.pd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.warmpath.api.Headers;
import dev.warmpath.api.NoWorkerAvailableException;
import dev.warmpath.api.RouteDecision;
import dev.warmpath.api.RouteOptions;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.index.BlockLocations;
import dev.warmpath.policy.KnowledgeChoice;
import dev.warmpath.policy.Policies;
import dev.warmpath.policy.RouteContext;
import dev.warmpath.policy.RouteExplanation;
import dev.warmpath.policy.RoutePlan;
import dev.warmpath.policy.RoutingPolicy;
import dev.warmpath.prompt.Prompt;
import dev.warmpath.worker.EngineKind;
import dev.warmpath.worker.Worker;
import dev.warmpath.worker.WorkerCapabilities;
import dev.warmpath.worker.WorkerRole;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PdSelectorTest {
  private static final String P = "http://p%d:1;role=prefill;model=m;engine=sglang%s";
  private static final String D = "http://d%d:1;role=decode;model=m;engine=sglang%s";
  private static final String PATH = RouterRequest.CHAT_COMPLETIONS;

  private static String[] fleet(int prefills, int decodes, String more) {
    String[] workers = new String[prefills + decodes];
    for (int i = 0; i < prefills; i++) {
      workers[i] = P.formatted(i, more);
    }
    for (int i = 0; i < decodes; i++) {
      workers[prefills + i] = D.formatted(i, more);
    }
    return workers;
  }

  private static PdFixture fixture(PdSettings settings, String... workers) {
    return new PdFixture(1, settings, (call, done) -> done.accept(true), workers);
  }

  private static Prompt prompt(PdFixture fixture) {
    return fixture.dispatcher.read(RouterRequest.chatCompletions(PdFixture.WHOLE));
  }

  private static PdChoice choose(PdFixture fixture, Prompt prompt, PdExclusions passOver) {
    return fixture
        .shared
        .selector()
        .choose(
            new PdWanted(
                fixture.shared.selector().rules(),
                prompt,
                RouteOptions.NONE,
                BlockLocations.NONE,
                PATH,
                null),
            passOver);
  }

  private static String pair(PdChoice choice) {
    choice.decode().neutral(null);
    if (choice.prefill() != null) {
      choice.prefill().neutral(null);
    }
    return choice.pair().prefill().target() + " " + choice.pair().decode().target();
  }

  @ParameterizedTest
  @CsvSource({"2, 2", "4, 4", "2, 3", "4, 6", "1, 5", "5, 1"})
  void i18_round_robin_visits_every_pair_evenly(int prefills, int decodes) {
    try (PdFixture fixture = fixture(PdSettings.DEFAULT, fleet(prefills, decodes, ""))) {
      Prompt prompt = prompt(fixture);
      Map<String, Integer> pairs = new TreeMap<>();
      int rounds = 6;
      for (int i = 0; i < prefills * decodes * rounds; i++) {
        pairs.merge(pair(choose(fixture, prompt, new PdExclusions())), 1, Integer::sum);
      }
      assertThat(pairs)
          .hasSize(prefills * decodes)
          .allSatisfy((p, n) -> assertThat(n).isEqualTo(rounds));
    }
  }

  @Test
  void i18_round_robin_walks_all_ranks_of_both_roles() {
    try (PdFixture fixture = fixture(PdSettings.DEFAULT, fleet(2, 2, ";dp=2"))) {
      Prompt prompt = prompt(fixture);
      Map<String, Integer> pairs = new TreeMap<>();
      for (int i = 0; i < 16 * 3; i++) {
        pairs.merge(pair(choose(fixture, prompt, new PdExclusions())), 1, Integer::sum);
      }
      assertThat(pairs).hasSize(16).allSatisfy((p, n) -> assertThat(n).isEqualTo(3));
    }
  }

  @Test
  void i18_round_robin_visits_all_four_pairs_evenly_under_concurrency() throws Exception {
    try (PdFixture fixture = fixture(PdSettings.DEFAULT, fleet(2, 2, ""))) {
      Prompt prompt = prompt(fixture);
      ConcurrentHashMap<String, LongAdder> pairs = new ConcurrentHashMap<>();
      int threads = 4;
      int each = 2_000;
      ExecutorService pool = Executors.newFixedThreadPool(threads);
      CountDownLatch done = new CountDownLatch(threads);
      for (int t = 0; t < threads; t++) {
        pool.execute(
            () -> {
              for (int i = 0; i < each; i++) {
                String pair = pair(choose(fixture, prompt, new PdExclusions()));
                pairs.computeIfAbsent(pair, unused -> new LongAdder()).increment();
              }
              done.countDown();
            });
      }
      assertThat(done.await(60, TimeUnit.SECONDS)).isTrue();
      pool.shutdown();
      assertThat(pairs).hasSize(4);
      // Every turn is given once, so the walk is as even as that of one thread.
      assertThat(pairs).allSatisfy((p, n) -> assertThat(n.sum()).isEqualTo(threads * each / 4));
      assertThat(fixture.inFlight()).isZero();
    }
  }

  @Test
  void i18_one_policy_object_for_both_roles_is_no_shared_counter() {
    RoutingPolicy shared = Policies.roundRobin();
    try (PdFixture fixture =
        new PdFixture(
            1,
            PdSettings.DEFAULT,
            (call, done) -> done.accept(true),
            shared,
            shared,
            fleet(4, 4, ""))) {
      Prompt prompt = prompt(fixture);
      Map<String, Integer> workers = new TreeMap<>();
      for (int i = 0; i < 80; i++) {
        for (String worker : pair(choose(fixture, prompt, new PdExclusions())).split(" ", -1)) {
          workers.merge(worker, 1, Integer::sum);
        }
      }
      assertThat(workers).hasSize(8).allSatisfy((worker, n) -> assertThat(n).isEqualTo(20));
    }
  }

  @ParameterizedTest
  @CsvSource({
    ";kv-transport=mori, ;kv-transport=nixl, kv-transport",
    ";kv-dtype=fp8, ;kv-dtype=bf16, kv-dtype",
    ";block=16, ;block=64, page size"
  })
  void i19_a_pair_that_is_known_to_differ_is_never_chosen(String one, String other, String why) {
    try (PdFixture fixture =
        fixture(
            PdSettings.DEFAULT,
            P.formatted(0, one),
            P.formatted(1, other),
            D.formatted(0, one),
            D.formatted(1, other))) {
      Prompt prompt = prompt(fixture);
      for (int i = 0; i < 20; i++) {
        PdChoice choice = choose(fixture, prompt, new PdExclusions());
        String pair = pair(choice);
        assertThat(pair).isIn("http://p0:1 http://d0:1", "http://p1:1 http://d1:1");
      }
    }
    try (PdFixture fixture =
        fixture(PdSettings.DEFAULT, P.formatted(0, one), D.formatted(0, other))) {
      assertThatThrownBy(() -> choose(fixture, prompt(fixture), new PdExclusions()))
          .isInstanceOf(NoWorkerAvailableException.class)
          .hasMessageContaining(why);
    }
    try (PdFixture fixture = fixture(PdSettings.DEFAULT, P.formatted(0, one), D.formatted(0, ""))) {
      assertThat(pair(choose(fixture, prompt(fixture), new PdExclusions())))
          .as("what is not known is no difference")
          .isNotEmpty();
    }
  }

  @Test
  void i14_the_wrong_shape_for_a_worker_is_refused_at_selection() {
    try (PdFixture fixture =
        fixture(
            PdSettings.DEFAULT,
            "http://p0:1;role=prefill;model=m;engine=sglang",
            "http://d0:1;role=decode;model=m;engine=vllm;pd=nixl")) {
      NoWorkerAvailableException refused =
          catchThrowableOfType(
              NoWorkerAvailableException.class,
              () -> choose(fixture, prompt(fixture), new PdExclusions()));
      assertThat(refused.reasons().get("http://p0:1")).contains("speaks sglang and not nixl");
    }
    try (PdFixture fixture =
        fixture(
            PdSettings.DEFAULT,
            "http://p0:1;role=prefill;model=m;engine=sglang;pd=nixl",
            "http://d0:1;role=decode;model=m;engine=vllm;pd=mooncake")) {
      NoWorkerAvailableException refused =
          catchThrowableOfType(
              NoWorkerAvailableException.class,
              () -> choose(fixture, prompt(fixture), new PdExclusions()));
      assertThat(refused.reasons().get("http://p0:1"))
          .contains("pd=nixl is no protocol of sglang workers");
    }
  }

  @Test
  void i14_what_a_workers_transport_cannot_carry_is_refused_at_selection() {
    try (PdFixture fixture = fixture(PdSettings.DEFAULT, fleet(2, 2, ""))) {
      Set<String> unable = new HashSet<>(Set.of("http://p0:1", "http://d1:1"));
      PdWanted wanted =
          new PdWanted(
              fixture.shared.selector().rules(),
              prompt(fixture),
              RouteOptions.NONE,
              BlockLocations.NONE,
              PATH,
              worker -> unable.contains(worker.id().value()) ? "no words for it" : null);
      PdExclusions passOver = new PdExclusions();
      for (int i = 0; i < 4; i++) {
        PdChoice choice = fixture.shared.selector().choose(wanted, passOver);
        passOver.add(PdVerdict.Blame.PREFILL, choice.pair());
        passOver.add(PdVerdict.Blame.DECODE, choice.pair());
        assertThat(pair(choice))
            .as("not even where all others have failed")
            .isEqualTo("http://p1:1 http://d0:1");
      }
      unable.add("http://d0:1");
      NoWorkerAvailableException refused =
          catchThrowableOfType(
              NoWorkerAvailableException.class,
              () -> fixture.shared.selector().choose(wanted, passOver));
      assertThat(refused.reasons())
          .containsEntry("http://p0:1", "no words for it")
          .containsEntry("http://d0:1", "no words for it")
          .doesNotContainKey("http://p1:1");
      assertThat(fixture.inFlight()).isZero();
    }
  }

  private static WorkerCapabilities told(EngineKind engine, WorkerRole role, int ranks) {
    return new WorkerCapabilities(engine, null, role, List.of(), ranks, null, null, null, null);
  }

  private static void tell(PdFixture fixture, String worker, WorkerCapabilities told) {
    Worker known =
        fixture.registry.current().workers().stream()
            .filter(each -> each.id().value().equals(worker))
            .findFirst()
            .orElseThrow();
    assertThat(fixture.registry.discovered(known.id(), known.epoch(), told)).isTrue();
  }

  @ParameterizedTest
  @CsvSource({"SGLANG, DECODE", "SGLANG, REGULAR", "ATOM, DECODE"})
  void i14_a_worker_that_says_it_is_another_shape_than_configured_is_refused_at_selection(
      EngineKind engine, WorkerRole role) {
    String kind = engine.label();
    try (PdFixture fixture =
        fixture(
            PdSettings.DEFAULT,
            "http://p0:1;role=prefill;model=m;engine=" + kind,
            "http://d0:1;role=decode;model=m;engine=" + kind)) {
      assertThat(pair(choose(fixture, prompt(fixture), new PdExclusions()))).contains("p0");
      tell(fixture, "http://p0:1", told(engine, role, 1));
      NoWorkerAvailableException refused =
          catchThrowableOfType(
              NoWorkerAvailableException.class,
              () -> choose(fixture, prompt(fixture), new PdExclusions()));
      assertThat(refused.reasons().get("http://p0:1"))
          .contains("configured as prefill and says that it is " + role.label());
      tell(fixture, "http://p0:1", told(engine, WorkerRole.PREFILL, 1));
      assertThat(pair(choose(fixture, prompt(fixture), new PdExclusions()))).contains("p0");
    }
  }

  @Test
  void mooncakes_engines_are_those_that_its_bootstrap_server_told_rank_by_rank() {
    try (PdFixture fixture =
        fixture(
            PdSettings.DEFAULT,
            "http://p0:1;role=prefill;model=m;engine=vllm;pd=mooncake",
            "http://d0:1;role=decode;model=m;engine=vllm;pd=mooncake")) {
      WorkerCapabilities two = told(EngineKind.VLLM, null, 2);
      tell(fixture, "http://p0:1", two.withTransfer(Map.of("engine-id-0", "a")));
      assertThatThrownBy(() -> choose(fixture, prompt(fixture), new PdExclusions()))
          .as("one rank has not told yet")
          .hasMessageContaining(";engine-id=");
      tell(
          fixture, "http://p0:1", two.withTransfer(Map.of("engine-id-0", "a", "engine-id-1", "b")));
      Original original =
          new Original(
              PATH,
              Headers.EMPTY,
              JsonFields.find(PdFixture.WHOLE.getBytes(StandardCharsets.UTF_8)),
              false);
      Set<String> named = new HashSet<>();
      for (int i = 0; i < 4; i++) {
        PdChoice choice = choose(fixture, prompt(fixture), new PdExclusions());
        pair(choice);
        String sent =
            new String(
                PdProtocols.MOONCAKE
                    .decode(choice.pair(), new AttemptIds("r", 0, "x", "r"), original, null)
                    .body(),
                StandardCharsets.UTF_8);
        String expected = choice.pair().prefillRank() == 0 ? "a" : "b";
        assertThat(sent).contains("\"remote_engine_id\":\"" + expected + "\"");
        named.add(expected);
      }
      assertThat(named).hasSize(2);
    }
  }

  @Test
  void what_a_protocol_needs_is_asked_for_by_name() {
    try (PdFixture fixture =
        fixture(
            PdSettings.DEFAULT,
            "http://p0:1;role=prefill;model=m;engine=vllm;pd=mooncake",
            "http://d0:1;role=decode;model=m;engine=vllm;pd=mooncake")) {
      assertThatThrownBy(() -> choose(fixture, prompt(fixture), new PdExclusions()))
          .hasMessageContaining(";engine-id=");
    }
  }

  @Test
  void i11_a_throw_in_the_choice_of_the_second_role_gives_the_first_ones_place_back() {
    RoutingPolicy broken =
        new RoutingPolicy() {
          @Override
          public String name() {
            return "broken";
          }

          @Override
          public RoutePlan plan(RouteContext context) {
            throw new IllegalStateException("broken");
          }

          @Override
          public RouteExplanation explain(RouteContext context) {
            throw new IllegalStateException("broken");
          }
        };
    try (PdFixture fixture =
        new PdFixture(
            1,
            PdSettings.DEFAULT,
            (call, done) -> done.accept(true),
            Policies.roundRobin(),
            broken,
            fleet(1, 1, ""))) {
      assertThatThrownBy(() -> choose(fixture, prompt(fixture), new PdExclusions()))
          .isInstanceOf(IllegalStateException.class);
      assertThat(fixture.inFlight()).isZero();
      assertThat(fixture.prefillTokens()).isZero();
    }
  }

  @Test
  void who_failed_is_passed_over_unless_nobody_else_is_left() {
    try (PdFixture fixture = fixture(PdSettings.DEFAULT, fleet(2, 2, ""))) {
      Prompt prompt = prompt(fixture);
      PdExclusions passOver = new PdExclusions();
      PdChoice first = choose(fixture, prompt, passOver);
      String failed = pair(first);
      passOver.add(PdVerdict.Blame.PAIR, first.pair());
      for (int i = 0; i < 16; i++) {
        assertThat(pair(choose(fixture, prompt, passOver))).isNotEqualTo(failed);
      }
      passOver.add(PdVerdict.Blame.PREFILL, first.pair());
      passOver.add(PdVerdict.Blame.DECODE, first.pair());
      String others = pair(choose(fixture, prompt, passOver));
      assertThat(others.split(" ", -1)).doesNotContain(failed.split(" ", -1));
      PdChoice second = choose(fixture, prompt, passOver);
      pair(second);
      passOver.add(PdVerdict.Blame.PREFILL, second.pair());
      passOver.add(PdVerdict.Blame.DECODE, second.pair());
      assertThat(pair(choose(fixture, prompt, passOver))).isNotEmpty();
    }
  }

  @Test
  void a_short_prompt_goes_to_a_decode_worker_that_can_prefill() {
    String[] vllm = {
      "http://p0:1;role=prefill;model=m;engine=vllm", "http://d0:1;role=decode;model=m;engine=vllm"
    };
    PdSettings direct = PdSettings.DEFAULT.withDirectBelowTokens(50);
    try (PdFixture fixture = fixture(direct, vllm)) {
      PdChoice choice = choose(fixture, prompt(fixture), new PdExclusions());
      choice.decode().neutral(null);
      assertThat(choice.prefill()).isNull();
      assertThat(choice.direct()).contains("uncached tokens are fewer than 50");
      RouteDecision why = explain(fixture);
      assertThat(why.pd().prefill()).isNull();
      assertThat(why.pd().direct()).isEqualTo(choice.direct());
    }
    try (PdFixture fixture = fixture(direct, fleet(1, 1, ""))) {
      assertThat(pair(choose(fixture, prompt(fixture), new PdExclusions())))
          .as("an SGLang decode worker refuses requests without a room")
          .isEqualTo("http://p0:1 http://d0:1");
    }
    try (PdFixture fixture = fixture(PdSettings.DEFAULT.withDirectBelowTokens(1), vllm)) {
      assertThat(pair(choose(fixture, prompt(fixture), new PdExclusions()))).isNotEmpty();
    }
  }

  @Test
  void explain_names_a_decode_worker_that_can_prefill_where_others_come_first() {
    String[] mixed = {
      P.formatted(0, ""),
      D.formatted(0, ""),
      "http://q0:1;role=prefill;model=m;engine=vllm",
      "http://e0:1;role=decode;model=m;engine=vllm"
    };
    try (PdFixture fixture = fixture(PdSettings.DEFAULT.withDirectBelowTokens(50), mixed)) {
      RouteDecision why = explain(fixture);
      assertThat(why.pd().decode()).isEqualTo("http://e0:1").isEqualTo(why.chosen().worker());
      assertThat(why.pd().protocol()).isEqualTo("nixl");
      PdChoice choice = choose(fixture, prompt(fixture), new PdExclusions());
      choice.decode().neutral(null);
      assertThat(why.pd().direct()).isNotNull().isEqualTo(choice.direct());
      assertThat(choice.pair().decode().target().worker().id().value()).isEqualTo("http://e0:1");
    }
  }

  private static RouteDecision explain(PdFixture fixture) {
    RouterRequest request = RouterRequest.chatCompletions(PdFixture.WHOLE);
    return fixture
        .shared
        .selector()
        .explain(request, fixture.dispatcher.read(request), PATH, KnowledgeChoice.NONE);
  }

  @Test
  void explain_shows_both_choices_and_takes_no_turn() {
    try (PdFixture fixture = fixture(PdSettings.DEFAULT, fleet(2, 2, ""))) {
      RouteDecision why = explain(fixture);
      assertThat(explain(fixture).pd()).isEqualTo(why.pd());
      assertThat(why.candidates().stream().map(RouteDecision.CandidateView::role).toList())
          .isEqualTo(List.of("prefill", "prefill", "decode", "decode"));
      assertThat(why.policy()).isEqualTo("prefill: round_robin, decode: round_robin");
      assertThat(why.chosen().worker()).isEqualTo(why.pd().decode());
      assertThat(pair(choose(fixture, prompt(fixture), new PdExclusions())))
          .isEqualTo(why.pd().prefill() + " " + why.pd().decode());
    }
  }

  @Test
  void mixed_fleets_prefer_what_is_configured() {
    String[] mixed = {
      "http://r0:1;role=regular;model=m;engine=sglang", P.formatted(0, ""), D.formatted(0, "")
    };
    try (PdFixture fixture = fixture(PdSettings.DEFAULT, mixed)) {
      assertThat(takes(fixture)).isTrue();
    }
    try (PdFixture fixture = fixture(PdSettings.DEFAULT.withPairsFirst(false), mixed)) {
      assertThat(takes(fixture)).isFalse();
    }
    try (PdFixture fixture = fixture(PdSettings.DEFAULT, P.formatted(0, ""))) {
      assertThat(takes(fixture)).as("one role alone is no pair").isFalse();
    }
  }

  private static boolean takes(PdFixture fixture) {
    return fixture.shared.selector().takes(fixture.dispatcher.view(), prompt(fixture), PATH);
  }
}

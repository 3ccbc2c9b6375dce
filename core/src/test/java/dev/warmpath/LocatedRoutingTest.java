package dev.warmpath;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.ScriptedTransport.Script;
import dev.warmpath.api.DeadlineExceededException;
import dev.warmpath.api.LookupInfo;
import dev.warmpath.api.RouteDecision;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.index.BlockAnswer;
import dev.warmpath.index.BlockAnswer.Kind;
import dev.warmpath.index.BlockLocator;
import dev.warmpath.index.BlockLookup;
import dev.warmpath.index.BlockQuery;
import dev.warmpath.index.BlockTiers;
import dev.warmpath.index.LookupSettings;
import dev.warmpath.index.NodeIdMap;
import dev.warmpath.index.Tier;
import dev.warmpath.policy.Policies;
import dev.warmpath.prompt.ModelFiles;
import dev.warmpath.prompt.tokenizer.Tokenizer;
import dev.warmpath.prompt.tokenizer.Tokenizers;
import dev.warmpath.transport.OutboundRequest;
import dev.warmpath.worker.Scheduler;
import dev.warmpath.worker.VirtualScheduler;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Requests whose blocks are looked up outside of the client, from the body to the choice, over a
 * transport and a locator without sockets, in virtual time.
 */
class LocatedRoutingTest {
  private static final ModelFiles FILES =
      ModelFiles.of(
          tokenizer(), "{% for m in messages %}<|im_start|>{{ m.content }}{% endfor %}", Map.of());
  private static final String QUESTION = "tell me about the long way home ".repeat(24);
  private static final Duration DEADLINE = Duration.ofMillis(20);

  private final Clock clock = new Clock();
  private final List<BlockQuery> asked = new ArrayList<>();
  private int closed;
  private @Nullable RouterClient router;

  private static Tokenizer tokenizer() {
    try {
      return Tokenizers.load(
          Path.of(
              Objects.requireNonNull(Tokenizers.class.getResource("chatml/tokenizer.json"))
                  .toURI()));
    } catch (URISyntaxException e) {
      throw new AssertionError(e);
    }
  }

  /** Virtual time that passes while somebody waits. */
  private static final class Clock implements Scheduler {
    private static final Duration STEP = Duration.ofMillis(1);
    private final VirtualScheduler time = new VirtualScheduler();

    @Override
    public long nanoTime() {
      return time.nanoTime();
    }

    @Override
    public Task schedule(Duration delay, Runnable task) {
      return time.schedule(delay, task);
    }

    @Override
    public boolean await(CountDownLatch latch, long nanos) {
      for (long left = nanos; latch.getCount() > 0 && left > 0; left -= STEP.toNanos()) {
        time.advance(Duration.ofNanos(Math.min(left, STEP.toNanos())));
      }
      return latch.getCount() == 0;
    }

    @Override
    public void close() {
      time.close();
    }
  }

  /** A locator that does what it is told. */
  private final class Scripted implements BlockLocator {
    private final Function<BlockQuery, CompletableFuture<BlockAnswer>> script;

    Scripted(Function<BlockQuery, CompletableFuture<BlockAnswer>> script) {
      this.script = script;
    }

    @Override
    public String name() {
      return "umbp";
    }

    @Override
    public CompletableFuture<BlockAnswer> locate(BlockQuery query) {
      asked.add(query);
      return script.apply(query);
    }

    @Override
    public void close() {
      closed++;
    }
  }

  private RouterClient client(
      Function<OutboundRequest, Script> scripts,
      LookupSettings settings,
      Function<BlockQuery, CompletableFuture<BlockAnswer>> locator,
      String... workers) {
    RouterClient.Builder builder =
        RouterClient.builder()
            .transport(new ScriptedTransport(scripts))
            .policy(Policies.umbp())
            .model("m", FILES)
            .blockLocator(new Scripted(locator))
            .lookup(settings)
            .scheduler(clock)
            .healthExecutor(Runnable::run)
            .seed(3);
    for (String worker : workers) {
      builder.worker(worker);
    }
    router = builder.build();
    clock.time.advance(Duration.ofSeconds(1));
    return router;
  }

  private RouterClient client(
      Function<OutboundRequest, Script> scripts,
      Function<BlockQuery, CompletableFuture<BlockAnswer>> locator) {
    return client(scripts, LookupSettings.DEFAULT, locator, worker(0), worker(1), worker(2));
  }

  private static String worker(int i) {
    return "http://w" + i + ":1;engine=sglang;model=m;block=16";
  }

  private static Script ok(OutboundRequest request) {
    return Script.ok("{\"choices\":[]}");
  }

  private static RouterRequest chat(String more) {
    return RouterRequest.chatCompletions(
        "{\"model\":\"m\","
            + more
            + "\"messages\":[{\"role\":\"user\",\"content\":\""
            + QUESTION
            + "\"}]}");
  }

  private static CompletableFuture<BlockAnswer> told(BlockAnswer answer) {
    return CompletableFuture.completedFuture(answer);
  }

  private static BlockAnswer.Node node(String id, BlockQuery query, Tier... tiers) {
    BlockTiers blocks = new BlockTiers(query.blocks());
    for (int i = 0; i < tiers.length; i++) {
      blocks.add(i, tiers[i]);
    }
    return new BlockAnswer.Node(id, "", blocks);
  }

  private static BlockAnswer answer(BlockQuery query, BlockAnswer.Node... nodes) {
    return new BlockAnswer(List.of(nodes), query.blocks(), null);
  }

  private static LookupInfo lookup(RouteDecision decision) {
    return Objects.requireNonNull(decision.lookup());
  }

  private static String chosen(RouteDecision decision) {
    return Objects.requireNonNull(decision.chosen()).worker();
  }

  @AfterEach
  void close() {
    if (router != null) {
      assertThat(router.stats().inFlight()).isZero();
      router.close();
      router.close();
      assertThat(closed).isEqualTo(1);
    }
  }

  @Test
  void goesWhereTheBlocksAreAndSaysSo() {
    RouterClient client =
        client(
            LocatedRoutingTest::ok,
            query ->
                told(
                    answer(
                        query,
                        node("http://w0:1", query, Tier.SSD, Tier.SSD, Tier.SSD, Tier.SSD),
                        node("w2:dp0:pp0:tp0", query, Tier.HBM, Tier.DRAM, Tier.HBM))));
    RouteDecision decision = client.send(chat("")).decision();
    assertThat(chosen(decision)).isEqualTo("http://w2:1");
    assertThat(decision.chosen().step()).isEqualTo("umbp");
    assertThat(decision.chosen().matchedTokens()).isEqualTo(48);
    LookupInfo lookup = lookup(decision);
    assertThat(lookup.outcome()).isEqualTo("found");
    assertThat(lookup.detail()).isNull();
    assertThat(lookup.askedBlocks()).isEqualTo(decision.prompt().blocks());
    assertThat(lookup.match("http://w2:1", null))
        .isEqualTo(new LookupInfo.Match("http://w2:1", null, 3, 48, Map.of("hbm", 2, "dram", 1)));
    assertThat(lookup.match("http://w0:1", null).tiers()).isEqualTo(Map.of("ssd", 4));
    assertThat(lookup.match("http://w1:1", null)).isNull();
  }

  @Test
  void keysAreTheEnginesOwnAndWorkedOutWhenAskedFor() {
    client(LocatedRoutingTest::ok, query -> told(answer(query))).send(chat(""));
    BlockQuery query = asked.get(0);
    assertThat(query.timeout()).isEqualTo(DEADLINE);
    assertThat(Long.parseLong(query.key(0))).isNotEqualTo(Long.parseLong(query.key(1)));
    assertThat(query.toString()).doesNotContain(query.key(0));
  }

  /** What may go wrong with a locator. */
  private enum Trouble {
    DOWN,
    HUNG,
    LATE,
    BREAKS,
    THROWS,
    EMPTY;

    CompletableFuture<BlockAnswer> answer(BlockQuery query, Clock clock) {
      return switch (this) {
        case DOWN -> told(BlockAnswer.failed(Kind.UNAVAILABLE, "refused"));
        case HUNG -> new CompletableFuture<>();
        case LATE -> {
          CompletableFuture<BlockAnswer> late = new CompletableFuture<>();
          BlockAnswer found =
              LocatedRoutingTest.answer(query, node("http://w2:1", query, Tier.HBM));
          clock.schedule(Duration.ofMillis(25), () -> late.complete(found));
          yield late;
        }
        case BREAKS -> CompletableFuture.failedFuture(new IllegalStateException("broken"));
        case THROWS -> throw new IllegalStateException("thrown");
        case EMPTY -> told(LocatedRoutingTest.answer(query));
      };
    }

    String outcome() {
      return this == EMPTY ? "empty" : "failed";
    }

    @Nullable String detail() {
      return switch (this) {
        case DOWN -> "unavailable: refused";
        case HUNG, LATE -> "deadline: none within 20 ms";
        case BREAKS, THROWS -> "error: IllegalStateException";
        case EMPTY -> null;
      };
    }

    Duration waits() {
      return this == HUNG || this == LATE ? DEADLINE : Duration.ZERO;
    }
  }

  @ParameterizedTest
  @EnumSource
  void whateverIsWrongWithItRequestsGoByTheOwnIndexWithinTheDeadline(Trouble trouble) {
    RouterClient client = client(LocatedRoutingTest::ok, query -> trouble.answer(query, clock));
    String first = chosen(client.send(chat("")).decision());
    for (int i = 0; i < 3; i++) {
      long before = clock.nanoTime();
      RouteDecision decision = client.send(chat("")).decision();
      assertThat(Duration.ofNanos(clock.nanoTime() - before)).isEqualTo(trouble.waits());
      assertThat(chosen(decision)).isEqualTo(first);
      assertThat(decision.chosen().step()).isEqualTo("cache_aware");
      assertThat(lookup(decision).outcome()).isEqualTo(trouble.outcome());
      assertThat(lookup(decision).detail()).isEqualTo(trouble.detail());
      assertThat(lookup(decision).millis()).isEqualTo((double) trouble.waits().toMillis());
      assertThat(lookup(decision).matches()).isEmpty();
    }
    RouteDecision why = client.explain(chat(""));
    assertThat(why.steps()).anyMatch(step -> step.startsWith("umbp "));
    BlockLookup.Stats stats = client.stats().lookups();
    assertThat(trouble == Trouble.EMPTY ? stats.empty() : stats.failed()).isEqualTo(5);
  }

  @Test
  void answersThatComeInTimeAreWaitedForAndNoLonger() {
    RouterClient client =
        client(
            LocatedRoutingTest::ok,
            query -> {
              CompletableFuture<BlockAnswer> soon = new CompletableFuture<>();
              clock.schedule(
                  Duration.ofMillis(7),
                  () -> soon.complete(answer(query, node("http://w1:1", query, Tier.HBM))));
              return soon;
            });
    RouteDecision decision = client.send(chat("")).decision();
    assertThat(lookup(decision).millis()).isEqualTo(7);
    assertThat(chosen(decision)).isEqualTo("http://w1:1");
  }

  @Test
  void whatItNamesWronglyIsIgnoredAndCounted() {
    RouterClient client =
        client(
            LocatedRoutingTest::ok,
            LookupSettings.builder()
                .nodes(NodeIdMap.builder().node("ghost", "http://gone:1").build())
                .build(),
            query ->
                told(
                    answer(
                        query,
                        node("nobody", query, Tier.HBM, Tier.HBM),
                        node("ghost", query, Tier.HBM, Tier.HBM),
                        // a worker, but of another engine: its blocks have other names
                        node("http://v0:1", query, Tier.HBM, Tier.HBM),
                        node("http://w0:1#9", query, Tier.HBM, Tier.HBM),
                        node("http://w1:1", query, Tier.SSD))),
            "http://w0:1;engine=sglang;model=m;block=16;dp=2",
            worker(1),
            "http://v0:1;engine=vllm;model=m;block=16");
    RouteDecision decision = client.send(chat("")).decision();
    assertThat(chosen(decision)).isEqualTo("http://w1:1");
    assertThat(lookup(decision).ignoredNodes()).isEqualTo(4);
    assertThat(lookup(decision).matches())
        .extracting(LookupInfo.Match::worker)
        .containsExactly("http://w1:1");
    assertThat(client.stats().lookups().ignoredNodes()).isEqualTo(4);
    assertThat(client.explain(chat("")).steps()).anyMatch(step -> step.contains("named 4 nodes"));
  }

  @Test
  void ranksAreToldApartAndPartsOfARankAddUp() {
    RouterClient client =
        client(
            LocatedRoutingTest::ok,
            LookupSettings.DEFAULT,
            query -> {
              BlockAnswer.Node second = node("w0:dp1:pp0:tp1", query);
              second.blocks().add(1, Tier.DRAM);
              second.blocks().add(3, Tier.HBM); // behind a gap
              return told(
                  answer(
                      query,
                      node("w0:dp1:pp0:tp0", query, Tier.HBM),
                      second,
                      node("http://w1:1", query, Tier.HBM)));
            },
            "http://w0:1;engine=sglang;model=m;block=16;dp=2",
            "http://w1:1;engine=sglang;model=m;block=16;dp=2");
    LookupInfo lookup = lookup(client.explain(chat("")));
    assertThat(lookup.match("http://w0:1", 0)).isNull();
    assertThat(lookup.match("http://w0:1", 1).tiers()).isEqualTo(Map.of("hbm", 1, "dram", 1));
    // The node names no rank: it is all of them.
    assertThat(lookup.match("http://w1:1", 0).blocks()).isEqualTo(1);
    assertThat(lookup.match("http://w1:1", 1).blocks()).isEqualTo(1);
  }

  @Test
  void aRequestAsksOnceHoweverOftenItIsTriedAndOnlyThenIsCounted() {
    RouterClient client =
        client(
            request ->
                request.target().worker().id().value().equals("http://w1:1")
                    ? ok(request)
                    : Script.status(503),
            query -> told(answer(query, node("http://w0:1", query, Tier.HBM))));
    RouteDecision decision = client.send(chat("")).decision();
    assertThat(decision.attempts().size()).isGreaterThan(1);
    assertThat(asked).hasSize(1).allMatch(BlockQuery::counted);
    client.explain(chat(""));
    assertThat(asked).hasSize(2);
    assertThat(asked.get(1).counted()).isFalse();
  }

  @Test
  void theRequestsOwnDeadlineComesFirst() {
    RouterClient client = client(LocatedRoutingTest::ok, query -> new CompletableFuture<>());
    RouterRequest request =
        RouterRequest.builder(RouterRequest.CHAT_COMPLETIONS)
            .body(new String(chat("").body(), StandardCharsets.UTF_8))
            .deadline(Duration.ofMillis(5))
            .build();
    long before = clock.nanoTime();
    assertThatThrownBy(() -> client.send(request)).isInstanceOf(DeadlineExceededException.class);
    assertThat(Duration.ofNanos(clock.nanoTime() - before)).isEqualTo(Duration.ofMillis(5));
    assertThat(asked.get(0).timeout()).isEqualTo(Duration.ofMillis(5));
  }

  @Test
  void whatGivesNoFaithfulKeysIsNotAskedFor() {
    RouterClient client = client(LocatedRoutingTest::ok, query -> told(answer(query)));
    LookupInfo estimated =
        lookup(client.explain(RouterRequest.chatCompletions("{\"model\":\"m\",\"messages\":7}")));
    assertThat(estimated.outcome()).isEqualTo("skipped");
    assertThat(estimated.detail()).contains("estimated");
    // SGLang's event hashes cover no adapter: another tenant's blocks would match.
    LookupInfo adapted = lookup(client.explain(chat("\"lora_path\":\"a\",")));
    assertThat(adapted.outcome()).isEqualTo("skipped");
    assertThat(adapted.detail()).contains("adapter");
    LookupInfo small =
        lookup(
            client.explain(
                RouterRequest.chatCompletions(
                    "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}")));
    assertThat(small.detail()).contains("shorter than a block");
    assertThat(asked).isEmpty();
  }

  @Test
  void anEngineThatTellsNotHowItHashesIsNotAskedFor() {
    RouterClient client =
        client(
            LocatedRoutingTest::ok,
            LookupSettings.DEFAULT,
            query -> told(answer(query)),
            "http://v0:1;engine=vllm;model=m;block=16");
    assertThat(lookup(client.explain(chat(""))).detail())
        .contains("http://v0:1")
        .contains("neither configured nor confirmed");
    assertThat(asked).isEmpty();
  }

  @Test
  void longPromptsAreAskedForInPart() {
    RouterClient client =
        client(
            LocatedRoutingTest::ok,
            LookupSettings.builder().maxBlocks(2).build(),
            query -> told(answer(query, node("http://w0:1", query, Tier.HBM, Tier.HBM))),
            worker(0),
            worker(1));
    LookupInfo lookup = lookup(client.explain(chat("")));
    assertThat(lookup.askedBlocks()).isEqualTo(2);
    assertThat(lookup.match("http://w0:1", null).tokens()).isEqualTo(32);
  }

  @Test
  void prefillWorkersAreChosenByItToo() {
    RouterClient.Builder builder =
        RouterClient.builder()
            .transport(new ScriptedTransport(LocatedRoutingTest::ok))
            .prefillPolicy(Policies.umbp())
            .model("m", FILES)
            .blockLocator(
                new Scripted(
                    query -> told(answer(query, node("http://p1:1", query, Tier.HBM, Tier.HBM)))))
            .scheduler(clock)
            .healthExecutor(Runnable::run)
            .seed(3);
    for (String name : List.of("p0:1;role=prefill", "p1:1;role=prefill", "d0:1;role=decode")) {
      builder.worker("http://" + name + ";engine=sglang;model=m;block=16");
    }
    router = builder.build();
    clock.time.advance(Duration.ofSeconds(1));
    RouteDecision decision = router.explain(chat(""));
    assertThat(Objects.requireNonNull(decision.pd()).prefill()).isEqualTo("http://p1:1");
    assertThat(lookup(decision).matches()).hasSize(1);
    assertThat(decision.steps()).anyMatch(step -> step.startsWith("umbp knows 1 of the ranks"));
  }

  @Test
  void workersStayWhatTheyAreWithoutALocator() {
    router =
        RouterClient.builder()
            .transport(new ScriptedTransport(LocatedRoutingTest::ok))
            .worker(worker(0))
            .scheduler(clock)
            .healthExecutor(Runnable::run)
            .build();
    assertThat(router.send(chat("")).decision().lookup()).isNull();
    assertThat(router.stats().lookups()).isEqualTo(BlockLookup.Stats.NONE);
    router.close();
    router = null;
  }
}

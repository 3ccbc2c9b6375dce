package dev.warmpath.knowledge;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.knowledge.KvInjector.Result;
import dev.warmpath.knowledge.SteppedThreads.Stepped;
import dev.warmpath.transport.KnowledgeTransport.KvInjected;
import dev.warmpath.transport.KnowledgeTransport.KvOrder;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Requests that need the same KV at the same moment, one step after another. */
class KvInjectorTest {
  private static final URI ENDPOINT = URI.create("http://w:9002");
  private static final long RANK = 17;
  private static final Result LATE = new Result(false, "failed: deadline", 0);
  private static final Result RESTS = new Result(false, "left alone after a failure", 0);

  private final SteppedThreads threads = new SteppedThreads();
  private final ScriptedNodes nodes = new ScriptedNodes();
  private final KvInjector injector =
      new KvInjector(
          new KnowledgeRegistry(
              RegistrySettings.DEFAULT, InstantSource.fixed(Instant.EPOCH), threads::nanoTime),
          nodes,
          InjectionSettings.DEFAULT,
          threads,
          threads);

  private Stepped<Result> request(String piece) {
    return request(piece, RANK, null);
  }

  private Stepped<Result> request(String piece, long rank, @Nullable Duration left) {
    KvOrder order = new KvOrder(1, "10.0.0.1:9101", "m", List.of(piece));
    return threads.start(() -> injector.inject(ENDPOINT, rank, order, left));
  }

  private void delivers(String piece) {
    nodes.injected = new KvInjected(List.of(piece), List.of(), List.of(), 100);
  }

  @AfterEach
  void close() {
    threads.close();
  }

  @Test
  void oneTransferServesAllAndCountsOnce() {
    delivers("a");
    Stepped<Result> first = request("a");
    Stepped<Result> second = request("a");
    threads.begin();

    assertThat(first.goOn()).isEqualTo(new Result(true, "injected", 100));
    assertThat(second.goOn()).isEqualTo(new Result(true, "injected with another request's", 0));
    assertThat(injector.injected()).isEqualTo(1);
    assertThat(injector.shared()).isEqualTo(1);
    assertThat(injector.bytes()).isEqualTo(100);
    assertThat(nodes.calls).hasSize(1);
    assertThat(injector.places().seen(RANK, "a")).isEqualTo(KvPlaces.Evidence.HELD);
  }

  @Test
  void whoLookedBeforeItWasThereAndComesAfterNeedsNoneOfItsOwn() {
    delivers("a");
    request("a");
    threads.begin();

    assertThat(request("a").result())
        .isEqualTo(new Result(true, "injected with another request's", 0));
    assertThat(nodes.calls).hasSize(1);
  }

  @Test
  void aFailureIsForThoseWhoWaitedAndNotKept() {
    Stepped<Result> first = request("a");
    Stepped<Result> second = request("a");
    threads.begin();
    Result failed = new Result(false, "failed: connect", 0);
    assertThat(first.goOn()).isEqualTo(failed);
    assertThat(second.goOn()).isEqualTo(failed);
    assertThat(injector.failed()).isEqualTo(1);
    assertThat(request("a").result()).isEqualTo(RESTS);

    threads.advance(RegistrySettings.DEFAULT.rest());
    delivers("a");
    Stepped<Result> third = request("a");
    threads.begin();

    assertThat(third.goOn().done()).isTrue();
  }

  @Test
  void ranksAreGivenItEach() {
    delivers("a");
    Stepped<Result> one = request("a", 1, null);
    Stepped<Result> two = request("a", 2, null);
    threads.begin();
    threads.begin();

    assertThat(one.goOn().bytes()).isEqualTo(100);
    assertThat(two.goOn().bytes()).isEqualTo(100);
  }

  @Test
  void eachWaitsForAQuarterOfItsTimeAtMostAndTheTransferHasItsOwn() {
    delivers("a");
    Stepped<Result> hasty = request("a", RANK, Duration.ofMillis(400));
    Stepped<Result> patient = request("a", RANK, null);
    Duration whole = InjectionSettings.DEFAULT.kvTimeout();
    assertThat(threads.waits).containsExactly(Duration.ofMillis(100), whole);

    assertThat(hasty.goOn()).isEqualTo(LATE);
    threads.begin();

    assertThat(patient.goOn().done()).isTrue();
    assertThat(nodes.timeouts).containsExactly(whole);
  }

  /** One that hangs holds up few requests; one that others wait for may still be well. */
  @Test
  void anInstanceThatAllGaveUpIsLeftAlone() {
    Stepped<Result> first = request("a");
    Stepped<Result> second = request("a");

    assertThat(first.goOn()).isEqualTo(LATE);
    Stepped<Result> third = request("a");
    assertThat(third.waits()).isTrue();
    assertThat(second.goOn()).isEqualTo(LATE);
    assertThat(third.goOn()).isEqualTo(LATE);

    assertThat(request("a").result()).isEqualTo(RESTS);
    threads.begin();
    assertThat(nodes.calls).isEmpty();
  }

  @Test
  void aRequestThatIsCancelledSaysNothingOfTheInstance() {
    assertThat(request("a").interrupt()).isEqualTo(new Result(false, "failed: cancelled", 0));

    assertThat(request("a").waits()).isTrue();
  }

  @Test
  void whatWasUnderWayWhenACacheWasEmptiedIsJoinedByNobody() {
    request("a");
    injector.emptied(RANK);
    request("a");

    assertThat(threads.tasks).hasSize(2);
  }
}

package dev.warmpath.fake.lab;

import dev.warmpath.RouterClient;
import dev.warmpath.Workers;
import dev.warmpath.api.RouteDecision;
import dev.warmpath.api.RouterException;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.api.RouterStream;
import dev.warmpath.api.StreamEvent;
import dev.warmpath.api.Usage;
import dev.warmpath.fake.handoff.HandoffOrder;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/**
 * What one replica of a service has: a router client, or in a fleet of prefill and decode workers
 * one for each role, so that each role has a policy, cursors and indexes of its own.
 */
final class LabClient implements AutoCloseable {
  private final LabClock clock;
  private final HandoffOrder order;
  private final List<RouterClient> routers;

  /**
   * Creates a client.
   *
   * @param routers one for everything, or those for prefill and for decode
   */
  LabClient(LabClock clock, HandoffOrder order, List<RouterClient> routers) {
    this.clock = clock;
    this.order = order;
    this.routers = List.copyOf(routers);
  }

  /**
   * An answer that came to its end.
   *
   * @param firstNanos when its first token came
   * @param endNanos when its last token came
   * @param chosen who computed the prompt
   * @param usage what was counted
   */
  record Answer(
      long firstNanos, long endNanos, RouteDecision.@Nullable CandidateView chosen, Usage usage) {}

  /**
   * Sends a request and reads the answer.
   *
   * @throws RouterException when there is none
   */
  Answer ask(RouterRequest request) {
    if (routers.size() == 1) {
      return read(routers.get(0), request);
    }
    return order == HandoffOrder.SOURCE_FIRST ? oneAfterTheOther(request) : atOnce(request);
  }

  private Answer read(RouterClient router, RouterRequest request) {
    try (RouterStream stream = router.stream(request)) {
      long first = clock.nanoTime();
      for (StreamEvent event = stream.next(); event != null; event = stream.next()) {
        // The last one carries the counts.
      }
      Usage usage = stream.usage();
      return new Answer(
          first,
          clock.nanoTime(),
          stream.decision().chosen(),
          usage == null ? new Usage(null, null, null) : usage);
    }
  }

  private Answer oneAfterTheOther(RouterRequest request) {
    Answer prefill = read(routers.get(0), request);
    return joined(prefill, read(routers.get(1), request));
  }

  /** The prefill leg on a turn of its own; the answer needs both. */
  private Answer atOnce(RouterRequest request) {
    Prefill prefill = new Prefill();
    clock.startTurn(
        () -> {
          try {
            prefill.answer = read(routers.get(0), request);
          } catch (RouterException e) {
            prefill.failure = e;
          } finally {
            prefill.done.countDown();
          }
        });
    Answer decode = read(routers.get(1), request);
    boolean unused = clock.await(prefill.done, Duration.ofHours(1).toNanos());
    RouterException failure = prefill.failure;
    if (failure != null) {
      throw failure;
    }
    Answer answer = prefill.answer;
    return answer == null ? decode : joined(answer, decode);
  }

  private static final class Prefill {
    private final CountDownLatch done = new CountDownLatch(1);
    private @Nullable Answer answer;
    private @Nullable RouterException failure;
  }

  private static Answer joined(Answer prefill, Answer decode) {
    return new Answer(
        decode.firstNanos(),
        decode.endNanos(),
        prefill.chosen(),
        new Usage(
            prefill.usage().promptTokens(),
            prefill.usage().cachedTokens(),
            decode.usage().completionTokens()));
  }

  /** The routers' workers, to be changed. */
  List<Workers> workers() {
    return routers.stream().map(RouterClient::workers).toList();
  }

  @Override
  public void close() {
    routers.forEach(RouterClient::close);
  }
}

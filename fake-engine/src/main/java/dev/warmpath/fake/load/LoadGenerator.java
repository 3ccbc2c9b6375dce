package dev.warmpath.fake.load;

import dev.warmpath.RouterClient;
import dev.warmpath.api.KnowledgeNeeds;
import dev.warmpath.api.PdInfo;
import dev.warmpath.api.RouteDecision;
import dev.warmpath.api.RouterException;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.api.RouterResponse;
import dev.warmpath.api.RouterStream;
import dev.warmpath.api.StreamEvent;
import dev.warmpath.api.Usage;
import dev.warmpath.knowledge.KnowledgeIds;
import java.util.Collection;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Sends a workload through router clients and measures what comes back. Closed loop: a fixed number
 * of sessions at once, the next begins when one ends. Open loop: sessions begin when they are due;
 * within a session the next turn waits for the answer and the turn's delay. With several clients
 * each request goes through one at random.
 *
 * <p>Real time; blocks until every session has ended. An instance serves one run.
 */
public final class LoadGenerator {
  private final List<RouterClient> clients;
  private final LoadSettings settings;
  private final SplittableRandom random;
  private final AtomicLong sent = new AtomicLong();

  /**
   * Creates a generator.
   *
   * @param clients where requests go; they stay the caller's
   */
  public LoadGenerator(List<RouterClient> clients, LoadSettings settings) {
    if (clients.isEmpty()) {
      throw new IllegalArgumentException("a load generator needs a router client");
    }
    this.clients = List.copyOf(clients);
    this.settings = settings;
    this.random = new SplittableRandom(settings.seed());
  }

  /**
   * Runs a workload.
   *
   * @param policy the name the result goes under
   * @param sessions what to send
   * @param workers the workers' addresses, so that idle ones count too
   * @param progress told of the number of requests that have ended, now and then, on some thread
   * @throws InterruptedException when the thread is interrupted; requests under way are cancelled
   */
  public LoadResult run(
      String policy, List<TraceSession> sessions, Collection<String> workers, LongConsumer progress)
      throws InterruptedException {
    return measure(sessions, workers, List.of(), progress).result(policy);
  }

  /**
   * Runs a workload, for results that are put together with others.
   *
   * @param sessions what to send
   * @param workers addresses of the workers that answer, so that idle ones count too
   * @param prefillWorkers those of workers that only compute prompts, likewise
   * @param progress told of the number of requests that have ended, now and then, on some thread
   * @return what came back
   * @throws InterruptedException when the thread is interrupted; requests under way are cancelled
   */
  public Measurements measure(
      List<TraceSession> sessions,
      Collection<String> workers,
      Collection<String> prefillWorkers,
      LongConsumer progress)
      throws InterruptedException {
    AtomicInteger number = new AtomicInteger();
    ThreadFactory threads =
        task -> {
          Thread thread = new Thread(task, "warmpath-load-" + number.incrementAndGet());
          thread.setDaemon(true);
          return thread;
        };
    ExecutorService users = Executors.newCachedThreadPool(threads);
    ScheduledExecutorService timer = Executors.newScheduledThreadPool(1, threads);
    long start = System.nanoTime();
    Measurements measured = new Measurements(start, workers, prefillWorkers);
    try {
      var unused =
          timer.scheduleAtFixedRate(
              () -> progress.accept(measured.progress()[0]), 200, 200, TimeUnit.MILLISECONDS);
      if (settings.concurrency() > 0) {
        closedLoop(sessions, users, measured);
      } else {
        openLoop(sessions, users, timer, start, measured);
      }
    } finally {
      timer.shutdownNow();
      users.shutdownNow();
    }
    progress.accept(measured.progress()[0]);
    return measured;
  }

  private void closedLoop(List<TraceSession> sessions, ExecutorService users, Measurements measured)
      throws InterruptedException {
    ConcurrentLinkedQueue<TraceSession> queue = new ConcurrentLinkedQueue<>(sessions);
    CountDownLatch done = new CountDownLatch(settings.concurrency());
    for (int i = 0; i < settings.concurrency(); i++) {
      users.execute(
          () -> {
            try {
              for (TraceSession session = queue.poll(); session != null; session = queue.poll()) {
                session(session, measured);
              }
            } catch (InterruptedException e) {
              Thread.currentThread().interrupt();
            } finally {
              done.countDown();
            }
          });
    }
    done.await();
  }

  private void openLoop(
      List<TraceSession> sessions,
      ExecutorService users,
      ScheduledExecutorService timer,
      long start,
      Measurements measured)
      throws InterruptedException {
    CountDownLatch done = new CountDownLatch(sessions.size());
    double first = sessions.isEmpty() ? 0 : sessions.get(0).arrivalMs();
    for (TraceSession session : sessions) {
      long due = start + (long) ((session.arrivalMs() - first) * 1e6 / settings.speedup());
      var unused =
          timer.schedule(
              () ->
                  users.execute(
                      () -> {
                        try {
                          session(session, measured);
                        } catch (InterruptedException e) {
                          Thread.currentThread().interrupt();
                        } finally {
                          done.countDown();
                        }
                      }),
              Math.max(0, due - System.nanoTime()),
              TimeUnit.NANOSECONDS);
    }
    done.await();
  }

  private void session(TraceSession session, Measurements measured) throws InterruptedException {
    ChatBody chat = new ChatBody(session);
    KnowledgeNeeds needs =
        settings.documentsApart() && session.documentTokens() > 0
            ? KnowledgeNeeds.ids(KnowledgeIds.of(session.document()))
            : KnowledgeNeeds.NONE;
    for (TraceRequest turn : session.turns()) {
      if (sent.incrementAndGet() > settings.maxRequests()) {
        return;
      }
      if (turn.delayAfterPreviousMs() > 0) {
        TimeUnit.NANOSECONDS.sleep((long) (turn.delayAfterPreviousMs() * 1e6 / settings.speedup()));
      }
      RouterRequest.Builder request =
          RouterRequest.builder(RouterRequest.CHAT_COMPLETIONS)
              .body(chat.next(settings))
              .knowledge(needs)
              .deadline(settings.deadline());
      if (settings.sessionKeys()) {
        request.sessionKey(session.id());
      }
      String answer =
          settings.stream()
              ? streamed(request.build(), measured)
              : whole(request.build(), measured);
      if (answer == null) {
        return; // without an answer there is no next turn
      }
      chat.answered(answer);
    }
  }

  private RouterClient client() {
    if (clients.size() == 1) {
      return clients.get(0);
    }
    synchronized (random) {
      return clients.get(random.nextInt(clients.size()));
    }
  }

  private @Nullable String whole(RouterRequest request, Measurements measured) {
    long sentAt = System.nanoTime();
    try {
      RouterResponse response = client().send(request);
      long end = System.nanoTime();
      if (!response.successful()) {
        measured.failed("status " + response.status(), end);
        return null;
      }
      succeeded(response.decision(), sentAt, 0, end, new long[0], response.usage(), measured);
      return ChatBody.text(response.text(), "message");
    } catch (RouterException e) {
      measured.failed(kind(e), System.nanoTime());
      return null;
    }
  }

  private @Nullable String streamed(RouterRequest request, Measurements measured) {
    long sentAt = System.nanoTime();
    StringBuilder answer = new StringBuilder();
    long[] gaps = new long[64];
    int events = 0;
    long first = 0;
    long last = 0;
    try (RouterStream stream = client().stream(request)) {
      for (StreamEvent event = stream.next(); event != null; event = stream.next()) {
        String text = ChatBody.text(event.data(), "delta");
        if (text.isEmpty()) {
          continue;
        }
        long now = System.nanoTime();
        if (first == 0) {
          first = now;
        } else {
          if (events == gaps.length) {
            gaps = java.util.Arrays.copyOf(gaps, events * 2);
          }
          gaps[events++] = now - last;
        }
        last = now;
        answer.append(text);
      }
      long end = System.nanoTime();
      succeeded(
          stream.decision(),
          sentAt,
          first == 0 ? end : first,
          end,
          java.util.Arrays.copyOf(gaps, events),
          stream.usage(),
          measured);
      return answer.toString();
    } catch (RouterException e) {
      measured.failed(kind(e), System.nanoTime());
      return null;
    }
  }

  /** Prompts are counted by who computes them: of a pair, that is prefill. */
  private static void succeeded(
      RouteDecision decision,
      long sentAt,
      long first,
      long end,
      long[] gaps,
      @Nullable Usage usage,
      Measurements measured) {
    PdInfo pair = decision.pd();
    Usage counted = usage;
    if (pair != null && pair.prefill() != null) {
      measured.prefilled(pair.prefill());
      Usage prompt = pair.prefillUsage();
      counted =
          new Usage(
              prompt == null ? null : prompt.promptTokens(),
              prompt == null ? null : prompt.cachedTokens(),
              usage == null ? null : usage.completionTokens());
    }
    measured.succeeded(worker(decision), sentAt, first, end, gaps, counted);
  }

  private static String worker(RouteDecision decision) {
    RouteDecision.CandidateView chosen = decision.chosen();
    return chosen == null ? "unknown" : chosen.worker();
  }

  private static String kind(RouterException e) {
    return e.getClass().getSimpleName().replace("Exception", "");
  }
}

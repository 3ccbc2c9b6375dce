package dev.warmpath.examples;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.RouterClient;
import dev.warmpath.api.PrefillDecodeException;
import dev.warmpath.api.RequestRejectedException;
import dev.warmpath.api.RouterException;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.api.RouterResponse;
import dev.warmpath.api.RouterStream;
import dev.warmpath.examples.PairTraffic.Shape;
import dev.warmpath.fake.FakeEngine;
import dev.warmpath.fake.ReceivedRequest;
import dev.warmpath.fake.fault.Fault;
import dev.warmpath.okhttp.RoutingInterceptor;
import dev.warmpath.worker.WorkerRole;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import okhttp3.Call;
import okhttp3.MediaType;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import okhttp3.RequestBody;
import okhttp3.Response;

/**
 * Sends requests for pairs of workers, of which a seed draws shape, way of sending, faults of
 * either worker, cancellation and deadline; counts how they end. What an answer says has to be what
 * one worker alone says. Each request carries its number, by which workers know which fault is
 * meant.
 */
final class PairSoak implements AutoCloseable {
  /** What can go wrong with a leg, by moment: before the head, as the head, after it. */
  private static final List<String> FAULTS =
      List.of(
          "reset:chunks=0",
          "garbage:chunks=0",
          "400",
          "429",
          "500",
          "503",
          "slow:delay=150ms",
          "hang:chunks=0",
          "error:chunks=0",
          "error:chunks=1",
          "reset:chunks=1",
          "reset:chunks=3",
          "cut:chunks=1",
          "truncate:chunks=2",
          "garbage:chunks=2",
          "hang:chunks=1");

  private static final Pattern NUMBER = Pattern.compile("\"user\":\"soak-(\\d+)\"");
  private static final Pattern LATE = Pattern.compile("in time|timed[ _]out|deadline");
  private static final int PROMPTS = 4;

  private enum Way {
    SEND,
    SEND_ASYNC,
    STREAM,
    INTERCEPTOR
  }

  /** How a request ended for its caller. */
  enum End {
    ANSWERED,
    REFUSED,
    FAILED,
    CANCELLED
  }

  /** Faults of one request's legs. */
  private static final class Ills {
    private final Map<WorkerRole, Fault> faults = new EnumMap<>(WorkerRole.class);
    private final boolean once;
    private final String request;
    private long cancel;
    private Duration deadline;

    Ills(boolean once, String request) {
      this.once = once;
      this.request = request;
    }

    synchronized Fault next(WorkerRole role) {
      return once ? faults.remove(role) : faults.get(role);
    }

    @Override
    public synchronized String toString() {
      return request + " " + faults + " cancelled " + cancel + " deadline " + deadline;
    }
  }

  private final RouterClient router;
  private final OkHttpClient http;
  private final List<Shape> shapes;
  private final Map<String, List<String>> expected;
  private final SplittableRandom random;
  private final Map<Integer, Ills> ills = new ConcurrentHashMap<>();
  private final Map<End, Integer> ends = new EnumMap<>(End.class);
  private final Map<String, Integer> cells = new TreeMap<>();
  private final ConcurrentLinkedQueue<Throwable> surprises = new ConcurrentLinkedQueue<>();
  private final ExecutorService callers = Executors.newCachedThreadPool(PairSoak::daemon);
  private final ScheduledExecutorService clock =
      Executors.newSingleThreadScheduledExecutor(PairSoak::daemon);
  private int mostInFlight;
  private final List<String> failedThoughWell = new ArrayList<>();

  /** Counts up when a worker dies and when it is back: odd while one is dead. */
  private final AtomicInteger deaths = new AtomicInteger();

  /**
   * Prepares a soak.
   *
   * @param expected what one worker alone answers, as {@link #expect} has it
   */
  PairSoak(RouterClient router, List<Shape> shapes, Map<String, List<String>> expected, long seed) {
    this.router = router;
    this.shapes = shapes;
    this.expected = expected;
    this.random = new SplittableRandom(seed);
    OkHttpClient.Builder plain = new OkHttpClient.Builder();
    RoutingInterceptor.tune(plain);
    this.http = plain.addInterceptor(RoutingInterceptor.of(router)).build();
  }

  private static Thread daemon(Runnable task) {
    Thread thread = new Thread(task, "pair-soak");
    thread.setDaemon(true);
    return thread;
  }

  /** What a worker alone answers to all that is sent here. */
  static Map<String, List<String>> expect(FakeEngine alone, List<Shape> shapes) throws IOException {
    Map<String, List<String>> texts = new TreeMap<>();
    OkHttpClient plain = new OkHttpClient();
    for (Shape shape : shapes) {
      for (int prompt = 0; prompt < PROMPTS; prompt++) {
        Request request = post(alone.url() + shape.path(), body(shape, prompt, false).toString());
        try (Response response = plain.newCall(request).execute()) {
          texts.put(shape + "/" + prompt, PairTraffic.whole(response.body().string()));
        }
      }
    }
    plain.connectionPool().evictAll();
    return texts;
  }

  private static Request post(String url, String body) {
    return new Request.Builder()
        .url(url)
        .post(RequestBody.create(body, MediaType.get("application/json")))
        .build();
  }

  private static ObjectNode body(Shape shape, int prompt, boolean stream) {
    return shape.body("what is number " + prompt + " good for", 6 + 2 * prompt, prompt, stream);
  }

  /** Makes a worker suffer what is meant for a request that it is about to look at. */
  void arm(FakeEngine worker, ReceivedRequest request) {
    Matcher number = NUMBER.matcher(new String(request.body(), StandardCharsets.UTF_8));
    Ills meant = number.find() ? ills.get(Integer.valueOf(number.group(1))) : null;
    Fault fault = meant == null ? null : meant.next(worker.role());
    if (fault != null) {
      worker.faults().add(fault);
    }
  }

  /**
   * Sends requests, of which so many are under way at most, and waits for the last end.
   *
   * @param between called now and then with the number of requests sent
   */
  void run(int requests, int inFlight, java.util.function.IntConsumer between)
      throws InterruptedException {
    Semaphore places = new Semaphore(inFlight);
    CountDownLatch ended = new CountDownLatch(requests);
    for (int i = 0; i < requests; i++) {
      places.acquire();
      mostInFlight = Math.max(mostInFlight, inFlight - places.availablePermits());
      between.accept(i);
      begin(
          i,
          () -> {
            places.release();
            ended.countDown();
          });
    }
    assertThat(ended.await(2, TimeUnit.MINUTES))
        .as("requests without an end: %s", ills.values())
        .isTrue();
  }

  private void begin(int number, Runnable over) {
    Shape shape = shapes.get(random.nextInt(shapes.size()));
    int prompt = random.nextInt(PROMPTS);
    Way way = Way.values()[random.nextInt(Way.values().length)];
    boolean stream = way == Way.STREAM || (way == Way.INTERCEPTOR && random.nextBoolean());
    Ills own = new Ills(random.nextInt(4) > 0, way + " " + shape + (stream ? " stream" : " whole"));
    for (WorkerRole role : List.of(WorkerRole.PREFILL, WorkerRole.DECODE)) {
      if (random.nextInt(4) == 0) {
        String fault = FAULTS.get(random.nextInt(FAULTS.size()));
        own.faults.put(
            role, Fault.parse(fault + (fault.contains(":") ? "," : ":") + "count=1").get(0));
        cells.merge(role.label() + " " + fault + (stream ? " stream" : " whole"), 1, Integer::sum);
      }
    }
    Duration deadline =
        random.nextInt(20) == 0 ? Duration.ofMillis(20 + random.nextInt(200)) : null;
    boolean cancelled = random.nextInt(7) == 0;
    long cancelAfterMicros = random.nextInt(60_000);
    if (cancelled) {
      own.cancel = cancelAfterMicros;
    }
    own.deadline = deadline;
    ills.put(number, own);
    boolean well = own.faults.isEmpty() && deadline == null && !cancelled && deaths.get() % 2 == 0;
    int deathsBefore = deaths.get();
    String body = body(shape, prompt, stream).put("user", "soak-" + number).toString();
    RouterRequest.Builder request = RouterRequest.builder(shape.path()).body(body);
    if (deadline != null) {
      request.deadline(deadline);
    }
    Sent sent =
        switch (way) {
          case SEND -> blocking(() -> whole(router.send(request.build())));
          case SEND_ASYNC -> async(request.build());
          case STREAM -> streaming(request.build());
          case INTERCEPTOR -> intercepted(shape, body, stream, deadline);
        };
    if (cancelled) {
      var unused = clock.schedule(sent.cancel, cancelAfterMicros, TimeUnit.MICROSECONDS);
    }
    var unused =
        sent.answer.whenComplete(
            (texts, error) -> {
              try {
                ended(
                    shape + "/" + prompt, texts, error, well && deaths.get() == deathsBefore, own);
              } finally {
                ills.remove(number);
                over.run();
              }
            });
  }

  /** A request that is out: null texts stand for a client error that was answered. */
  private record Sent(CompletableFuture<List<String>> answer, Runnable cancel) {}

  private Sent blocking(Callable<List<String>> call) {
    CompletableFuture<List<String>> answer = new CompletableFuture<>();
    AtomicBoolean begun = new AtomicBoolean();
    Future<?> running =
        callers.submit(
            () -> {
              begun.set(true);
              try {
                answer.complete(call.call());
              } catch (Throwable e) {
                answer.completeExceptionally(e);
              }
            });
    return new Sent(
        answer,
        () -> {
          if (running.cancel(true) && !begun.get()) {
            answer.completeExceptionally(new CancellationException("before it began"));
          }
        });
  }

  private static List<String> whole(RouterResponse response) {
    return response.status() == 200 ? PairTraffic.whole(response.text()) : null;
  }

  private Sent async(RouterRequest request) {
    CompletableFuture<RouterResponse> future = router.sendAsync(request);
    return new Sent(future.thenApply(PairSoak::whole), () -> future.cancel(true));
  }

  private Sent streaming(RouterRequest request) {
    CompletableFuture<RouterStream> future = router.streamAsync(request);
    return new Sent(
        future.thenApplyAsync(
            stream -> {
              List<String> events = new ArrayList<>();
              try (stream) {
                stream.forEach(event -> events.add(event.data()));
              }
              return PairTraffic.streamed(events);
            },
            callers),
        () -> {
          if (!future.cancel(true) && !future.isCompletedExceptionally()) {
            future.join().close();
          }
        });
  }

  private Sent intercepted(Shape shape, String body, boolean stream, Duration deadline) {
    Request.Builder request =
        post("http://" + RoutingInterceptor.DEFAULT_HOST + shape.path(), body).newBuilder();
    if (deadline != null) {
      request.header("x-warmpath-deadline-ms", Long.toString(deadline.toMillis()));
    }
    Call call = http.newCall(request.build());
    Sent sent =
        blocking(
            () -> {
              try (Response response = call.execute()) {
                String text = response.body().string();
                if (response.code() != 200) {
                  return null;
                }
                if (stream) {
                  requireWhole(text);
                }
                return stream
                    ? PairTraffic.streamed(PairTraffic.events(text))
                    : PairTraffic.whole(text);
              }
            });
    return new Sent(sent.answer, call::cancel);
  }

  /** An intercepted call's stream is its caller's to judge: a broken end shows in its bytes. */
  private static void requireWhole(String wire) throws IOException {
    if (!wire.endsWith("data: [DONE]\n\n") || wire.contains("\"error\"")) {
      throw new IOException(
          "the stream broke off" + (LATE.matcher(wire).find() ? ": timed out" : ""));
    }
  }

  private synchronized void ended(
      String what, List<String> texts, Throwable error, boolean well, Ills own) {
    Throwable cause = error;
    while (cause instanceof java.util.concurrent.CompletionException
        || cause instanceof ExecutionException) {
      cause = cause.getCause();
    }
    End end;
    if (cause == null) {
      end = texts == null ? End.REFUSED : End.ANSWERED;
      if (texts != null && !texts.equals(expected.get(what))) {
        surprises.add(
            new AssertionError(
                what + ": " + texts + " in place of " + expected.get(what) + " as " + own));
      }
    } else if (cause instanceof RequestRejectedException) {
      end = End.REFUSED;
    } else if (cause instanceof CancellationException
        || cause instanceof dev.warmpath.api.RequestCancelledException) {
      end = End.CANCELLED;
    } else {
      end = End.FAILED;
      if (!(cause instanceof RouterException) && !(cause instanceof IOException)) {
        surprises.add(cause);
      } else if (well && !late(cause)) {
        failedThoughWell.add(own + ": " + cause + attempts(cause));
      }
    }
    ends.merge(end, 1, Integer::sum);
  }

  /** Whether somebody's patience ended: on a starved machine that happens to the best. */
  private static boolean late(Throwable cause) {
    return cause instanceof InterruptedIOException || LATE.matcher(cause + attempts(cause)).find();
  }

  private static String attempts(Throwable cause) {
    return cause instanceof PrefillDecodeException error ? " " + error.attempts() : "";
  }

  /** A worker has died, or come back. */
  void death() {
    deaths.incrementAndGet();
  }

  Map<End, Integer> ends() {
    return ends;
  }

  /** How often each fault was drawn for each role. */
  Map<String, Integer> cells() {
    return cells;
  }

  /** Every fault of every role, of streams and whole answers. */
  static int possibleCells() {
    return FAULTS.size() * 2 * 2;
  }

  int mostInFlight() {
    return mostInFlight;
  }

  /**
   * Failures, but for lateness, of requests that no fault, cancellation, deadline or death was
   * meant for.
   */
  List<String> failedThoughWell() {
    return failedThoughWell;
  }

  /** Wrong texts, and what was thrown that is no failure of a request. */
  List<Throwable> surprises() {
    return List.copyOf(surprises);
  }

  @Override
  public void close() {
    callers.shutdownNow();
    clock.shutdownNow();
    http.dispatcher().executorService().shutdown();
    http.connectionPool().evictAll();
  }

  /** Connections of the routed client that carry something. */
  int busyConnections() {
    return http.connectionPool().connectionCount() - http.connectionPool().idleConnectionCount();
  }
}

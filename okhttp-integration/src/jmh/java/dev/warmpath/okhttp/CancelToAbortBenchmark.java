package dev.warmpath.okhttp;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.warmpath.RouterClient;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.api.RouterResponse;
import dev.warmpath.api.RouterStream;
import dev.warmpath.pd.PdSettings;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import okhttp3.Call;
import okhttp3.Callback;
import okhttp3.MediaType;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import okhttp3.RequestBody;
import okhttp3.Response;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * How long the decode worker of a pair computes for nobody: from the caller's cancellation to the
 * arrival of SGLang's abort call, over loopback, the workers in this JVM. The time between two
 * requests does not count.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 2, time = 3)
@Measurement(iterations = 3, time = 5)
@Fork(value = 2, jvmArgsAppend = "-Dsun.net.httpserver.nodelay=true")
public class CancelToAbortBenchmark {
  private static final String BODY =
      "{\"model\":\"m\",\"stream\":%s,\"messages\":[{\"role\":\"user\",\"content\":\"warm path\"}]}";
  private static final byte[] EVENT =
      "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"}}]}\n\n"
          .getBytes(StandardCharsets.UTF_8);
  private static final byte[] ANSWER =
      "{\"choices\":[{\"message\":{\"content\":\"x\"}}]}".getBytes(StandardCharsets.UTF_8);
  private static final byte[] MODELS =
      "{\"data\":[{\"id\":\"m\",\"owned_by\":\"sglang\"}]}".getBytes(StandardCharsets.UTF_8);

  /** What is cancelled: a stream that is read, an answer that is waited for, an OkHttp call. */
  @Param({"stream", "future", "call"})
  public String what = "";

  private static final Pattern RID = Pattern.compile("\"rid\":\"([^\"]+)\"");

  /** Requests that the decode worker has begun, by the latch that their abort opens. */
  private final BlockingQueue<CountDownLatch> begun = new LinkedBlockingQueue<>();

  private final Map<String, CountDownLatch> running = new ConcurrentHashMap<>();
  private final AtomicInteger unknown = new AtomicInteger();
  private ExecutorService threads;
  private HttpServer prefill;
  private HttpServer decode;
  private RouterClient router;
  private OkHttpClient http;
  private Runnable cancel;
  private CountDownLatch aborted;

  /** Starts both workers and the client. */
  @Setup
  public void start() throws IOException {
    threads = Executors.newCachedThreadPool();
    prefill = worker(CancelToAbortBenchmark::answer);
    decode = worker(this::hold);
    PdSettings usual = PdSettings.DEFAULT;
    router =
        RouterClient.builder()
            .transport(OkHttpTransport.create())
            .worker(url(prefill) + ";role=prefill;engine=sglang;model=m;bootstrap-port=1")
            .worker(url(decode) + ";role=decode;engine=sglang;model=m")
            .prefillDecode(
                new PdSettings(
                    usual.timeouts(),
                    usual.strict(),
                    usual.directBelowTokens(),
                    usual.pairsFirst(),
                    usual.maxAttempts(),
                    Duration.ZERO,
                    usual.maxRooms(),
                    1_000_000, // abort calls a second: no other limit than the benchmark's pace
                    usual.maxReleases()))
            .build();
    OkHttpClient.Builder plain = new OkHttpClient.Builder();
    RoutingInterceptor.tune(plain);
    http = plain.addInterceptor(RoutingInterceptor.of(router)).build();
    if (!router.awaitReady(Duration.ofSeconds(30))) {
      throw new IllegalStateException("the workers were not found");
    }
  }

  /** What a worker does with a request to generate. */
  private interface Generation {
    void run(HttpExchange exchange, String rid, boolean stream) throws IOException;
  }

  private HttpServer worker(Generation generation) throws IOException {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(threads);
    server.createContext(
        "/",
        exchange -> {
          String body =
              new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
          String path = exchange.getRequestURI().getPath();
          if (path.equals(RouterRequest.CHAT_COMPLETIONS)) {
            generation.run(exchange, rid(body), body.contains("\"stream\":true"));
          } else if (path.equals("/abort_request")) {
            if (server == decode) {
              CountDownLatch told = running.remove(rid(body));
              if (told == null) {
                unknown.incrementAndGet();
              } else {
                told.countDown();
              }
            }
            respond(exchange, 200, new byte[0]);
          } else {
            respond(
                exchange,
                path.startsWith("/health") || path.equals("/v1/models") ? 200 : 404,
                MODELS);
          }
        });
    server.start();
    return server;
  }

  private static void respond(HttpExchange exchange, int status, byte[] body) throws IOException {
    exchange.getResponseHeaders().add("Content-Type", "application/json");
    exchange.sendResponseHeaders(status, body.length == 0 ? -1 : body.length);
    exchange.getResponseBody().write(body);
    exchange.close();
  }

  private static void answer(HttpExchange exchange, String rid, boolean stream) throws IOException {
    if (stream) {
      exchange.getResponseHeaders().add("Content-Type", "text/event-stream");
      exchange.sendResponseHeaders(200, 0);
      exchange.getResponseBody().write(EVENT);
      exchange.getResponseBody().write("data: [DONE]\n\n".getBytes(StandardCharsets.UTF_8));
      exchange.close();
    } else {
      respond(exchange, 200, ANSWER);
    }
  }

  /** Begins to answer, and ends when it is told to. */
  private void hold(HttpExchange exchange, String rid, boolean stream) throws IOException {
    CountDownLatch told = new CountDownLatch(1);
    running.put(rid, told);
    if (stream) {
      exchange.getResponseHeaders().add("Content-Type", "text/event-stream");
      exchange.sendResponseHeaders(200, 0);
      exchange.getResponseBody().write(EVENT);
      exchange.getResponseBody().flush();
    }
    begun.add(told);
    try {
      told.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    exchange.close();
  }

  private static String rid(String body) {
    Matcher matcher = RID.matcher(body);
    if (!matcher.find()) {
      throw new IllegalStateException("a request without an id");
    }
    return matcher.group(1);
  }

  private static String url(HttpServer server) {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  /** Sends what will be cancelled, and waits until the decode worker is at it. */
  @Setup(Level.Invocation)
  public void send() throws InterruptedException {
    RouterRequest whole = RouterRequest.chatCompletions(BODY.formatted(false));
    switch (what) {
      case "stream" -> {
        RouterStream stream = router.stream(RouterRequest.chatCompletions(BODY.formatted(true)));
        if (stream.next() == null) {
          throw new IllegalStateException("no event");
        }
        cancel = stream::close;
      }
      case "future" -> {
        CompletableFuture<RouterResponse> future = router.sendAsync(whole);
        cancel = () -> future.cancel(true);
      }
      default -> {
        Request request =
            new Request.Builder()
                .url("http://" + RoutingInterceptor.DEFAULT_HOST + RouterRequest.CHAT_COMPLETIONS)
                .post(RequestBody.create(BODY.formatted(false), MediaType.get("application/json")))
                .build();
        Call call = http.newCall(request);
        call.enqueue(new Ignored());
        cancel = call::cancel;
      }
    }
    aborted = begun.take();
  }

  /** The answer of a call that is going to be cancelled. */
  private static final class Ignored implements Callback {
    @Override
    public void onFailure(Call call, IOException e) {}

    @Override
    public void onResponse(Call call, Response response) {
      response.close();
    }
  }

  /** Cancels it, and waits until the decode worker is told. */
  @Benchmark
  public void cancel() throws InterruptedException {
    cancel.run();
    aborted.await();
  }

  /** Stops everything; every request was aborted once. */
  @TearDown
  public void stop() {
    if (unknown.get() > 0) {
      throw new IllegalStateException(unknown + " abort calls that were repeated or for nothing");
    }
    http.dispatcher().executorService().shutdown();
    http.connectionPool().evictAll();
    router.close();
    prefill.stop(0);
    decode.stop(0);
    threads.shutdownNow();
  }
}

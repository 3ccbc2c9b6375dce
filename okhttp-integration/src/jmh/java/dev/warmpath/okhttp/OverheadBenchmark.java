package dev.warmpath.okhttp;

import com.sun.management.OperatingSystemMXBean;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.warmpath.RouterClient;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.api.RouterResponse;
import dev.warmpath.worker.WorkerSpec;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
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
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What the router adds to a plain OkHttp call to the same worker: a 2 KB chat, unary, over
 * loopback, the worker in a JVM of its own. Prints this JVM's CPU time per call at the end of each
 * iteration.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 3)
@Measurement(iterations = 5, time = 3)
@Fork(3)
public class OverheadBenchmark {
  static final String BODY =
      "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\""
          + "warm path ".repeat(200)
          + "\"}]}";

  /** The same, for an answer of {@link Worker#TOKENS} tokens that is streamed. */
  static final String STREAMED_BODY =
      BODY.substring(0, BODY.length() - 1)
          + ",\"stream\":true,\"stream_options\":{\"include_usage\":true}}";

  private static final MediaType JSON = MediaType.get("application/json");
  private static final OperatingSystemMXBean OS =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  private Process worker;
  private OkHttpClient plain;
  private RouterClient router;
  private Request call;
  private RouterRequest request;
  private long cpuNanos;
  private long calls;

  /** A worker that answers at once. */
  public static final class Worker {
    /** What a streamed answer has, an event each. */
    static final int TOKENS = 32;

    private Worker() {}

    /** Serves until its standard input ends. */
    public static void main(String[] args) throws IOException {
      byte[] models =
          "{\"data\":[{\"id\":\"m\",\"owned_by\":\"vllm\"}]}".getBytes(StandardCharsets.UTF_8);
      byte[] answer =
          "{\"choices\":[{\"message\":{\"content\":\"x\"}}],\"usage\":{\"prompt_tokens\":500,\"completion_tokens\":1}}"
              .getBytes(StandardCharsets.UTF_8);
      HttpServer server =
          HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
      server.setExecutor(Executors.newCachedThreadPool());
      server.createContext(
          "/",
          exchange -> {
            byte[] asked = exchange.getRequestBody().readAllBytes();
            if (new String(asked, StandardCharsets.UTF_8).contains("\"stream\":true")) {
              stream(exchange);
              return;
            }
            boolean known =
                exchange.getRequestURI().getPath().equals("/v1/models")
                    || exchange.getRequestMethod().equals("POST")
                    || exchange.getRequestURI().getPath().equals("/health");
            byte[] body = exchange.getRequestMethod().equals("POST") ? answer : models;
            exchange.getResponseHeaders().add("Content-Type", "application/json");
            exchange.sendResponseHeaders(known ? 200 : 404, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
          });
      server.start();
      System.out.println(server.getAddress().getPort());
      while (System.in.read() >= 0) {
        // until the benchmark ends
      }
      System.exit(0);
    }

    private static void stream(HttpExchange exchange) throws IOException {
      exchange.getResponseHeaders().add("Content-Type", "text/event-stream");
      exchange.sendResponseHeaders(200, 0);
      try (OutputStream out = exchange.getResponseBody()) {
        for (int i = 0; i < TOKENS; i++) {
          event(out, "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\" warm\"}}]}");
        }
        event(
            out,
            "{\"choices\":[],\"usage\":{\"prompt_tokens\":500,\"completion_tokens\":"
                + TOKENS
                + "}}");
        event(out, "[DONE]");
      }
      exchange.close();
    }

    private static void event(OutputStream out, String data) throws IOException {
      out.write(("data: " + data + "\n\n").getBytes(StandardCharsets.UTF_8));
      out.flush();
    }
  }

  /** Starts the worker and both clients. */
  @Setup
  public void start() throws IOException {
    worker =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Dsun.net.httpserver.nodelay=true",
                "-cp",
                System.getProperty("java.class.path"),
                Worker.class.getName())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    String port =
        new BufferedReader(new InputStreamReader(worker.getInputStream(), StandardCharsets.UTF_8))
            .readLine();
    String url = "http://127.0.0.1:" + port;
    plain = new OkHttpClient();
    router =
        RouterClient.builder()
            .transport(OkHttpTransport.create())
            .worker(WorkerSpec.parse(url + ";engine=vllm;model=m"))
            .build();
    if (!router.awaitReady(Duration.ofSeconds(30))) {
      throw new IllegalStateException("the worker is not up");
    }
    call =
        new Request.Builder()
            .url(url + RouterRequest.CHAT_COMPLETIONS)
            .post(RequestBody.create(BODY.getBytes(StandardCharsets.UTF_8), JSON))
            .build();
    request = RouterRequest.chatCompletions(BODY);
  }

  /** Notes the CPU time so far. */
  @Setup(Level.Iteration)
  public void beginIteration() {
    cpuNanos = OS.getProcessCpuTime();
    calls = 0;
  }

  /** Tells the CPU time per call. */
  @TearDown(Level.Iteration)
  public void endIteration() {
    System.out.printf("(%.1f us CPU per call) ", (OS.getProcessCpuTime() - cpuNanos) / 1e3 / calls);
  }

  /** Ends everything. */
  @TearDown
  public void stop() throws IOException {
    router.close();
    plain.dispatcher().executorService().shutdown();
    plain.connectionPool().evictAll();
    worker.getOutputStream().close();
    worker.destroy();
  }

  /** A plain OkHttp call. */
  @Benchmark
  public byte[] plain() throws IOException {
    calls++;
    try (Response response = plain.newCall(call).execute()) {
      return response.body().bytes();
    }
  }

  /** The same through the router. */
  @Benchmark
  public RouterResponse routed() {
    calls++;
    return router.send(request);
  }
}

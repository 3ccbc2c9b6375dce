package dev.warmpath.okhttp;

import com.sun.management.OperatingSystemMXBean;
import dev.warmpath.RouterClient;
import dev.warmpath.api.RouterListener;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.api.RouterStream;
import dev.warmpath.api.StreamEvent;
import dev.warmpath.config.RouterConfig;
import dev.warmpath.observe.LoadHistorySettings;
import dev.warmpath.observe.OpenTelemetryTracer;
import dev.warmpath.observe.PrometheusText;
import dev.warmpath.worker.WorkerSpec;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.propagation.ContextPropagators;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/**
 * What it costs to watch a client: the CPU time of this process per request over loopback with
 * metrics of requests, a scrape every 2,000 of them, a listener, the ring of decisions, load
 * history and tracing (one trace in ten recorded and exported to nowhere, every context sent)
 * switched on, against all of it off. A pair is a run of each, in turns of 500 requests, so that
 * both see the same machine; the median of the pairs' ratios counts. A program and no JMH
 * benchmark, because what is compared is the process, its other threads included; what those do by
 * the clock alone, such as polls, falls into the turns of both.
 */
public final class WatchedCpu {
  private static final int TURN = 500;
  private static final int TURNS_OF_A_SCRAPE = 4;

  /** What is not measured, until both clients are compiled. */
  private static final int WARMUP_PAIRS = 12;

  private static final int WARMUP_SCRAPES = 20_000;

  private static final RouterRequest UNARY = RouterRequest.chatCompletions(OverheadBenchmark.BODY);
  private static final RouterRequest STREAMED =
      RouterRequest.chatCompletions(OverheadBenchmark.STREAMED_BODY);

  private final RouterClient off;
  private final RouterClient on;
  private final int turns;
  private final boolean streamed;
  private int pairs;

  private WatchedCpu(RouterClient off, RouterClient on, int turns, boolean streamed) {
    this.off = off;
    this.on = on;
    this.turns = turns;
    this.streamed = streamed;
  }

  /** CPU time per request in microseconds. */
  private record Pair(double off, double on) {
    double ratio() {
      return on / off;
    }
  }

  /**
   * Prints each pair's ratio and their median.
   *
   * @param args the number of requests of a run (20,000, rounded up to whole turns) and of pairs
   *     (11), and {@code streamed} for answers of {@link OverheadBenchmark.Worker#TOKENS} tokens
   *     that come one by one, rather than one token at once
   */
  public static void main(String[] args) throws IOException {
    int requests = args.length > 0 ? Integer.parseInt(args[0]) : 20_000;
    int pairs = args.length > 1 ? Integer.parseInt(args[1]) : 11;
    boolean streamed = args.length > 2 && args[2].equals("streamed");
    Process worker =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Dsun.net.httpserver.nodelay=true",
                "-cp",
                System.getProperty("java.class.path"),
                OverheadBenchmark.Worker.class.getName())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    Path folder = Files.createTempDirectory("watched");
    String port =
        new BufferedReader(new InputStreamReader(worker.getInputStream(), StandardCharsets.UTF_8))
            .readLine();
    String url = "http://127.0.0.1:" + port + ";engine=vllm;model=m";
    LongAdder events = new LongAdder();
    try (SdkTracerProvider traces = traces();
        RouterClient off = unwatched(url).build();
        RouterClient on = watched(url, folder.resolve("loads.db"), traces, events).build()) {
      if (!off.awaitReady(Duration.ofSeconds(30)) || !on.awaitReady(Duration.ofSeconds(30))) {
        throw new IllegalStateException("the worker is not up");
      }
      WatchedCpu runs = new WatchedCpu(off, on, (requests + TURN - 1) / TURN, streamed);
      for (int i = 0; i < WARMUP_SCRAPES; i++) {
        scrape(on);
      }
      for (int i = 0; i < WARMUP_PAIRS; i++) {
        System.out.printf("warm-up: %.3f%n", runs.pair().ratio());
      }
      double[] ratios = new double[pairs];
      for (int i = 0; i < pairs; i++) {
        Pair pair = runs.pair();
        ratios[i] = pair.ratio();
        System.out.printf("off %.1f us, on %.1f us, ratio %.3f%n", pair.off, pair.on, ratios[i]);
      }
      Arrays.sort(ratios);
      System.out.printf("median of %d ratios: %.3f%n", pairs, ratios[pairs / 2]);
    } finally {
      worker.getOutputStream().close();
      worker.destroy();
      try (var files = Files.newDirectoryStream(folder)) {
        for (Path file : files) {
          Files.delete(file);
        }
      }
      Files.delete(folder);
    }
  }

  private static RouterClient.Builder builder(String url, String config) {
    return RouterClient.builder()
        .config(RouterConfig.parse(config, "benchmark"))
        .transport(OkHttpTransport.create())
        .worker(WorkerSpec.parse(url));
  }

  private static RouterClient.Builder unwatched(String url) {
    return builder(url, "status_decisions: 0");
  }

  private static RouterClient.Builder watched(
      String url, Path history, SdkTracerProvider traces, LongAdder events) {
    OpenTelemetry telemetry =
        OpenTelemetrySdk.builder()
            .setTracerProvider(traces)
            .setPropagators(ContextPropagators.create(W3CTraceContextPropagator.getInstance()))
            .build();
    return builder(url, "{}")
        .requestMetrics(true)
        .loadHistory(LoadHistorySettings.of(history))
        .tracer(OpenTelemetryTracer.of(telemetry))
        .listener(
            new RouterListener() {
              @Override
              public void onFinished(RequestEvent event) {
                events.increment();
              }
            });
  }

  /** With a processor of spans, without which OpenTelemetry's SDK makes none. */
  private static SdkTracerProvider traces() {
    return SdkTracerProvider.builder()
        .addSpanProcessor(BatchSpanProcessor.builder(new ToNowhere()).build())
        .setSampler(Sampler.parentBased(Sampler.traceIdRatioBased(0.1)))
        .build();
  }

  /** Takes spans, and does nothing with them. */
  private static final class ToNowhere implements SpanExporter {
    @Override
    public CompletableResultCode export(Collection<SpanData> spans) {
      return CompletableResultCode.ofSuccess();
    }

    @Override
    public CompletableResultCode flush() {
      return CompletableResultCode.ofSuccess();
    }

    @Override
    public CompletableResultCode shutdown() {
      return CompletableResultCode.ofSuccess();
    }
  }

  /** A run of each client, in turns; who comes first changes from turn to turn and pair to pair. */
  private Pair pair() throws IOException {
    System.gc();
    ProcessCpu cpu = new ProcessCpu();
    long offNanos = 0;
    long onNanos = 0;
    int first = pairs++;
    for (int turn = 0; turn < turns; turn++) {
      boolean onFirst = (turn + first) % 2 == 1;
      long begun = cpu.nanos();
      send(onFirst, turn);
      long between = cpu.nanos();
      send(!onFirst, turn);
      long ended = cpu.nanos();
      onNanos += onFirst ? between - begun : ended - between;
      offNanos += onFirst ? ended - between : between - begun;
    }
    double requests = turns * (double) TURN;
    return new Pair(offNanos / 1e3 / requests, onNanos / 1e3 / requests);
  }

  private void send(boolean watched, int turn) {
    RouterClient client = watched ? on : off;
    for (int i = 0; i < TURN; i++) {
      if (!(streamed ? stream(client) : client.send(UNARY).status() == 200)) {
        throw new IllegalStateException("the worker failed");
      }
    }
    if (watched && turn % TURNS_OF_A_SCRAPE == 0) {
      scrape(client);
    }
  }

  /** Whether as many events came as there are tokens, and the usage. */
  private static boolean stream(RouterClient client) {
    try (RouterStream stream = client.stream(STREAMED)) {
      int events = 0;
      Iterator<StreamEvent> all = stream.iterator();
      while (all.hasNext()) {
        all.next();
        events++;
      }
      return events > OverheadBenchmark.Worker.TOKENS;
    }
  }

  private static void scrape(RouterClient client) {
    if (PrometheusText.of(client.metrics()).isEmpty()) {
      throw new IllegalStateException("nothing to scrape");
    }
  }

  /**
   * CPU time of all threads of this process, but for what reading it takes. Linux tells it of each
   * thread to the nanosecond; as the JVM tells it, it goes in steps of 10 ms, a third of a turn.
   */
  private static final class ProcessCpu {
    private static final OperatingSystemMXBean OS =
        (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    private static final ThreadMXBean JVM = ManagementFactory.getThreadMXBean();
    private static final Path THREADS = Path.of("/proc/self/task");

    /** By thread, those that have ended included. */
    private final Map<Path, Long> seen = new HashMap<>();

    private long reading;

    long nanos() throws IOException {
      long begun = JVM.getCurrentThreadCpuTime();
      long all = Files.isDirectory(THREADS) ? ofThreads() : OS.getProcessCpuTime();
      reading += JVM.getCurrentThreadCpuTime() - begun;
      return all - reading;
    }

    private long ofThreads() throws IOException {
      try (DirectoryStream<Path> threads = Files.newDirectoryStream(THREADS)) {
        for (Path thread : threads) {
          try {
            String told = Files.readString(thread.resolve("schedstat"));
            seen.put(thread, Long.parseLong(told.substring(0, told.indexOf(' '))));
          } catch (IOException ended) {
            // between the listing and the reading
          }
        }
      }
      return seen.values().stream().mapToLong(Long::longValue).sum();
    }
  }
}

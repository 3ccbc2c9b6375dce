package dev.warmpath.okhttp;

import com.sun.management.OperatingSystemMXBean;
import dev.warmpath.RouterClient;
import dev.warmpath.api.RouterListener;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.observe.LoadHistorySettings;
import dev.warmpath.observe.OpenTelemetryTracer;
import dev.warmpath.observe.PrometheusText;
import dev.warmpath.worker.WorkerSpec;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.propagation.ContextPropagators;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.atomic.LongAdder;

/**
 * What it costs to watch a client: the CPU time of this process per request over loopback with
 * metrics of requests, a scrape every 2,000 of them, a listener, load history and tracing (one
 * trace in ten recorded, every context sent) switched on, against all of it off. Pairs of runs
 * alternate; the median of their ratios counts. A program and no JMH benchmark, because what is
 * compared is the process, its other threads included.
 */
public final class WatchedCpu {
  private static final OperatingSystemMXBean OS =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
  private static final int SCRAPE_EACH = 2_000;

  private WatchedCpu() {}

  /**
   * Prints each pair's ratio and their median.
   *
   * @param args the number of requests of a run (20,000) and of pairs (11)
   */
  public static void main(String[] args) throws IOException {
    int requests = args.length > 0 ? Integer.parseInt(args[0]) : 20_000;
    int pairs = args.length > 1 ? Integer.parseInt(args[1]) : 11;
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
    try (RouterClient off = builder(url).build();
        RouterClient on = watched(builder(url), folder.resolve("loads.db"), events).build()) {
      if (!off.awaitReady(Duration.ofSeconds(30)) || !on.awaitReady(Duration.ofSeconds(30))) {
        throw new IllegalStateException("the worker is not up");
      }
      double unused = micros(off, requests, false) + micros(on, requests, true);
      double[] ratios = new double[pairs];
      for (int i = 0; i < pairs; i++) {
        boolean onFirst = i % 2 == 1;
        double first = micros(onFirst ? on : off, requests, onFirst);
        double second = micros(onFirst ? off : on, requests, !onFirst);
        double watched = onFirst ? first : second;
        double plain = onFirst ? second : first;
        ratios[i] = watched / plain;
        System.out.printf("off %.1f us, on %.1f us, ratio %.3f%n", plain, watched, ratios[i]);
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

  private static RouterClient.Builder builder(String url) {
    return RouterClient.builder().transport(OkHttpTransport.create()).worker(WorkerSpec.parse(url));
  }

  private static RouterClient.Builder watched(
      RouterClient.Builder builder, Path history, LongAdder events) {
    OpenTelemetry telemetry =
        OpenTelemetrySdk.builder()
            .setTracerProvider(
                SdkTracerProvider.builder()
                    .setSampler(Sampler.parentBased(Sampler.traceIdRatioBased(0.1)))
                    .build())
            .setPropagators(ContextPropagators.create(W3CTraceContextPropagator.getInstance()))
            .build();
    return builder
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

  /** CPU time of this process for each of {@code requests}. */
  private static double micros(RouterClient client, int requests, boolean scraped) {
    RouterRequest request = RouterRequest.chatCompletions(OverheadBenchmark.BODY);
    long before = OS.getProcessCpuTime();
    for (int i = 0; i < requests; i++) {
      if (client.send(request).status() != 200) {
        throw new IllegalStateException("the worker failed");
      }
      if (scraped && i % SCRAPE_EACH == 0 && PrometheusText.of(client.metrics()).isEmpty()) {
        throw new IllegalStateException("nothing to scrape");
      }
    }
    return (OS.getProcessCpuTime() - before) / 1e3 / requests;
  }
}

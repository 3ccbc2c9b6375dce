package dev.warmpath.observe;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class MicrometerMetricsTest {
  private final AtomicLong now = new AtomicLong();
  private final List<MetricFamily> families = new ArrayList<>();
  private int reads;
  private final MeterRegistry registry = new SimpleMeterRegistry();
  private final MicrometerMetrics metrics =
      new MicrometerMetrics(
          () -> {
            reads++;
            return List.copyOf(families);
          },
          now::get);

  private void later() {
    now.addAndGet(TimeUnit.SECONDS.toNanos(1));
  }

  private void tell(String name, MetricType type, MetricSample... samples) {
    families.removeIf(family -> family.name().equals(name));
    families.add(new MetricFamily(name, "What it is.", type, List.of(samples)));
  }

  @Test
  void eachKindHasItsMeter() {
    tell("warmpath_requests_total", MetricType.COUNTER, MetricSample.of(3, Map.of("outcome", "x")));
    tell("warmpath_worker_up", MetricType.GAUGE, MetricSample.of(1, Map.of("worker", "w")));
    tell(
        "warmpath_request_seconds",
        MetricType.HISTOGRAM,
        new MetricSample(
            Map.of(), 2.5, new MetricSample.Buckets(List.of(0.5, 1.0), List.of(1L, 3L, 4L))));
    metrics.bindTo(registry);

    assertThat(registry.get("warmpath.requests").tag("outcome", "x").functionCounter().count())
        .isEqualTo(3);
    assertThat(registry.get("warmpath.worker.up").tag("worker", "w").gauge().value()).isOne();
    var timer = registry.get("warmpath.request").functionTimer();
    assertThat(timer.count()).isEqualTo(4);
    assertThat(timer.totalTime(TimeUnit.MILLISECONDS)).isEqualTo(2_500);
    assertThat(registry.get("warmpath.request.bucket").tag("le", "1.0").functionCounter().count())
        .isEqualTo(3);
    assertThat(registry.getMeters().stream().map(Meter::getId).map(Meter.Id::getDescription))
        .containsOnly("What it is.");
  }

  @Test
  void seriesComeAndGo() {
    tell("warmpath_worker_up", MetricType.GAUGE, MetricSample.of(1, Map.of("worker", "w0")));
    metrics.bindTo(registry);
    tell("warmpath_worker_up", MetricType.GAUGE, MetricSample.of(0, Map.of("worker", "w1")));
    later();

    assertThat(registry.get("warmpath.worker.up").tag("worker", "w0").gauge().value()).isNaN();
    assertThat(registry.find("warmpath.worker.up").tag("worker", "w0").gauge()).isNull();
    assertThat(registry.get("warmpath.worker.up").tag("worker", "w1").gauge().value()).isZero();
  }

  @Test
  void aScrapeReadsOnce() {
    for (int i = 0; i < 20; i++) {
      tell("warmpath_g" + i, MetricType.GAUGE, MetricSample.of(i, Map.of()));
    }
    metrics.bindTo(registry);
    reads = 0;
    later();
    double sum = 0;
    for (Meter meter : registry.getMeters()) {
      sum += meter.measure().iterator().next().getValue();
    }
    assertThat(sum).isEqualTo(190);
    assertThat(reads).isOne();
  }

  @Test
  void severalRegistriesSeeTheSame() {
    MeterRegistry other = new SimpleMeterRegistry();
    tell("warmpath_requests_total", MetricType.COUNTER, MetricSample.of(3, Map.of()));
    metrics.bindTo(registry);
    metrics.bindTo(other);
    tell("warmpath_requests_total", MetricType.COUNTER, MetricSample.of(5, Map.of()));
    later();
    assertThat(registry.get("warmpath.requests").functionCounter().count()).isEqualTo(5);
    assertThat(other.get("warmpath.requests").functionCounter().count()).isEqualTo(5);
  }
}

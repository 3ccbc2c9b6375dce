package dev.warmpath.observe;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.Test;

class SeriesTest {

  @Test
  void whatIsTooManyIsCountedTogether() {
    Series<LongAdder> series = new Series<>(2, LongAdder::new, "worker", "phase");
    series.of("a", "x").add(1);
    series.of("b", "x").add(2);
    series.of("c", "x").add(4);
    series.of("d", "y").add(8);
    series.of("a", "x").add(16);

    assertThat(series.samples((labels, counted) -> MetricSample.of(counted.sum(), labels)))
        .containsExactlyInAnyOrder(
            MetricSample.of(17, Map.of("worker", "a", "phase", "x")),
            MetricSample.of(2, Map.of("worker", "b", "phase", "x")),
            MetricSample.of(12, Map.of("worker", "other", "phase", "other")));
  }

  @Test
  void nothingIsLostOrMultipliedByManyThreads() throws InterruptedException {
    Series<LongAdder> series = new Series<>(50, LongAdder::new, "n");
    int threads = 4;
    int each = 20_000;
    CountDownLatch start = new CountDownLatch(1);
    ExecutorService executor = Executors.newFixedThreadPool(threads);
    for (int t = 0; t < threads; t++) {
      executor.execute(
          () -> {
            try {
              start.await();
            } catch (InterruptedException e) {
              Thread.currentThread().interrupt();
              return;
            }
            for (int i = 0; i < each; i++) {
              series.of(Integer.toString(i % 100)).increment();
            }
          });
    }
    start.countDown();
    executor.shutdown();
    assertThat(executor.awaitTermination(1, TimeUnit.MINUTES)).isTrue();

    List<MetricSample> samples =
        series.samples((labels, counted) -> MetricSample.of(counted.sum(), labels));
    assertThat(samples.stream().mapToDouble(MetricSample::value).sum()).isEqualTo(threads * each);
    // threads that come at once may each have seen the last place free
    assertThat(samples).hasSizeBetween(51, 51 + threads);
  }
}

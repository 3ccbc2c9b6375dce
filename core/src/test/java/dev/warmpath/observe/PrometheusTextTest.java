package dev.warmpath.observe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PrometheusTextTest {

  @Test
  void gaugesAndCounters() {
    Map<String, String> labels = new LinkedHashMap<>();
    labels.put("worker", "http://w:1");
    labels.put("rank", "0");
    MetricFamily requests =
        new MetricFamily(
            "warmpath_requests_total",
            "Requests.",
            MetricType.COUNTER,
            List.of(MetricSample.of(3, labels), MetricSample.of(0.5, Map.of())));

    assertThat(PrometheusText.of(List.of(requests, MetricFamily.gauge("up", "Whether.", 1))))
        .isEqualTo(
            """
            # HELP warmpath_requests_total Requests.
            # TYPE warmpath_requests_total counter
            warmpath_requests_total{worker="http://w:1",rank="0"} 3
            warmpath_requests_total 0.5
            # HELP up Whether.
            # TYPE up gauge
            up 1
            """);
  }

  @Test
  void histogramsAreCumulative() {
    Histogram histogram = new Histogram(Histogram.bounds(0.1, 1));
    histogram.record(100_000_000);
    histogram.record(500_000_000);
    histogram.record(7_000_000_000L);
    MetricFamily family =
        new MetricFamily(
            "t_seconds",
            "Time.",
            MetricType.HISTOGRAM,
            List.of(new MetricSample(Map.of("a", "b"), histogram.sum(), histogram.buckets())));

    assertThat(PrometheusText.of(List.of(family)))
        .isEqualTo(
            """
            # HELP t_seconds Time.
            # TYPE t_seconds histogram
            t_seconds_bucket{a="b",le="0.1"} 1
            t_seconds_bucket{a="b",le="1"} 2
            t_seconds_bucket{a="b",le="+Inf"} 3
            t_seconds_sum{a="b"} 7.6
            t_seconds_count{a="b"} 3
            """);
  }

  @Test
  void whatWouldEndALineIsEscaped() {
    MetricFamily family =
        new MetricFamily(
            "m",
            "back\\slash\nline \"quoted\"",
            MetricType.GAUGE,
            List.of(MetricSample.of(Double.NaN, Map.of("l", "a\"b\\c\nd"))));

    assertThat(PrometheusText.of(List.of(family)))
        .isEqualTo(
            """
            # HELP m back\\\\slash\\nline "quoted"
            # TYPE m gauge
            m{l="a\\"b\\\\c\\nd"} NaN
            """);
  }

  @Test
  void aFamilyWithoutSeriesIsLeftOut() {
    assertThat(PrometheusText.of(List.of(new MetricFamily("m", "h", MetricType.GAUGE, List.of()))))
        .isEmpty();
  }

  @Test
  void aNameMustBeOne() {
    assertThatThrownBy(() -> MetricFamily.gauge("warmpath-up", "h", 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("warmpath-up");
  }
}

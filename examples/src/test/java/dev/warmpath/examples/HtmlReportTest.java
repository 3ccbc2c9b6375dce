package dev.warmpath.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.fake.load.LatencySummary;
import dev.warmpath.fake.load.LoadResult;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class HtmlReportTest {
  private static final LatencySummary TIMES = new LatencySummary(0, 0, 0, 0, 0, 0);

  private static LoadResult result(String policy, double perSecond, long cached) {
    return new LoadResult(
        policy, 100, 0, Map.of(), 1, perSecond, TIMES, TIMES, TIMES, 100, cached, 100, Map.of(), 0,
        Map.of(), 0, List.of());
  }

  @Test
  void throughputsThatDifferLead() {
    assertThat(
            HtmlReport.lead(
                List.of(result("a", 20, 50), result("b", 30, 80), result("<c>", 10, 10))))
        .isEqualTo(
            "<b>b</b> served 3.00 times the requests of <b>&lt;c&gt;</b>: it found 80 % of prompt"
                + " tokens in a cache, the other 10 %.");
  }

  @Test
  void whereThroughputsAreAlikeHitRatesLead() {
    assertThat(
            HtmlReport.lead(
                List.of(result("a", 28.6, 60), result("b", 26.5, 84), result("c", 28, 73))))
        .isEqualTo(
            "All served about 29 requests a second. <b>b</b> found 84 % of prompt tokens in a"
                + " cache, <b>a</b> 60 %.");
  }

  @Test
  void oneAloneIsComparedWithNothing() {
    assertThat(HtmlReport.lead(List.of(result("a", 28.6, 60))))
        .isEqualTo("<b>a</b> served 28.6 requests a second.");
  }
}

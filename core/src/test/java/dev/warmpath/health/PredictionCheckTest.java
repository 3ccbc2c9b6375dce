package dev.warmpath.health;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.health.PredictionCheck.Outcome;
import dev.warmpath.health.PredictionCheck.Verdict;
import org.junit.jupiter.api.Test;

class PredictionCheckTest {
  private final PredictionCheck check = new PredictionCheck();

  private void observe(int times, int predicted, Integer engineTokens, Integer cached) {
    for (int i = 0; i < times; i++) {
      check.observe(new Outcome(predicted, 1_000, true, engineTokens, cached, 16));
    }
  }

  @Test
  void predictionsThatComeTrueKeepTheirCredit() {
    observe(20, 800, 1_000, 796);
    observe(5, 0, 1_000, 0);
    Verdict verdict = check.verdict();
    assertThat(verdict.suspect()).isFalse();
    assertThat(verdict.reason()).isNull();
    assertThat(verdict.cause()).isNull();
    assertThat(verdict.credit()).isEqualTo(1);
    assertThat(verdict.compared()).isEqualTo(20);
    assertThat(verdict.failed()).isZero();
  }

  @Test
  void hitsThatNeverAppearCostCreditUntilTheyDo() {
    observe(5, 800, 1_000, 0);
    assertThat(check.suspect()).isFalse();
    observe(1, 800, 1_000, 0);
    assertThat(check.suspect()).isTrue();
    assertThat(check.verdict().reason()).contains("prefix caching");
    assertThat(check.verdict().cause()).isEqualTo(PredictionCheck.Cause.CACHE_OR_REPORT_OFF);
    assertThat(check.credit()).isLessThan(0.3);
    double before = check.credit();
    observe(2, 800, 1_000, 800);
    assertThat(check.credit()).isGreaterThan(before);
    assertThat(check.verdict().reason()).contains("seed, block size");
    observe(2, 800, 1_000, 800);
    assertThat(check.suspect()).isFalse();
    assertThat(check.credit()).isEqualTo(1);
    assertThat(check.verdict().failed()).isEqualTo(6);
  }

  @Test
  void whatIsNotReportedIsUnknown() {
    observe(30, 800, 1_000, null);
    Verdict verdict = check.verdict();
    assertThat(verdict.suspect()).isFalse();
    assertThat(verdict.credit()).isEqualTo(1);
    assertThat(verdict.failed()).isZero();
    assertThat(verdict.unreported()).isEqualTo(30);
    assertThat(verdict.reason()).contains("reports no cached tokens");
  }

  @Test
  void anotherTokenCountMeansAnotherTemplate() {
    observe(2, 0, 1_007, null);
    assertThat(check.suspect()).isFalse();
    observe(1, 0, 1_007, null);
    assertThat(check.verdict().suspect()).isTrue();
    assertThat(check.verdict().reason()).contains("1007").contains("1000").contains("template");
    assertThat(check.verdict().miscounted()).isEqualTo(3);
    observe(1, 0, 1_000, null);
    assertThat(check.suspect()).isFalse();
  }

  @Test
  void estimatesAreComparedByTheirShare() {
    for (int i = 0; i < 10; i++) {
      check.observe(new Outcome(500, 1_000, false, 2_000, 1_000, 16));
    }
    assertThat(check.verdict().suspect()).isFalse();
    assertThat(check.verdict().compared()).isEqualTo(10);
    assertThat(check.verdict().miscounted()).isZero();
  }

  @Test
  void hitsThatNobodyPredictedAreSuspectToo() {
    observe(7, 100, 1_000, 900);
    assertThat(check.suspect()).isFalse();
    observe(1, 100, 1_000, 900);
    assertThat(check.suspect()).isTrue();
    assertThat(check.verdict().reason()).contains("not predicted");
    assertThat(check.credit()).isEqualTo(1);
    assertThat(check.verdict().unpredicted()).isEqualTo(8);
    observe(1, 100, 1_000, 100);
    assertThat(check.suspect()).isFalse();
  }

  @Test
  void shortPredictionsProveNothing() {
    observe(20, 32, 1_000, 0);
    assertThat(check.verdict().suspect()).isFalse();
    assertThat(check.verdict().compared()).isZero();
  }
}

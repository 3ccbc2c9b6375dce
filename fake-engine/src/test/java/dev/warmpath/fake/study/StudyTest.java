package dev.warmpath.fake.study;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The frozen policies on drawn workloads; those on Mooncake's traces are in {@link
 * StudyTracesTest}.
 */
@Tag("long")
class StudyTest {
  private static StudyResult run(String policy, String workload, double rate, int clients)
      throws IOException {
    return Study.run(
        StudySettings.STUDY.withClients(clients),
        policy,
        StudyWorkload.draw(workload, rate, 16, 1, null));
  }

  static Iterable<String> names() {
    return StudyPolicies.names();
  }

  @ParameterizedTest
  @MethodSource("names")
  void everyPolicyAnswersEveryRequestAndTheSameTwice(String policy) throws IOException {
    StudyWorkload small = StudyWorkload.draw("rag", 1, 4, 5, null);
    StudySettings settings = StudySettings.STUDY.withWorkers(4).withClients(3);
    StudyResult first = Study.run(settings, policy, small);
    assertThat(first.failed()).isZero();
    assertThat(first.requests()).isBetween(500L, 800L);
    assertThat(first.hitRate()).isBetween(0.1, 0.99);
    assertThat(first.p99Ms()).isGreaterThanOrEqualTo(first.p50Ms());
    assertThat(Study.run(settings, policy, small)).isEqualTo(first);
  }

  /**
   * Single cells of the study's tables: hit rate, mean and 99th percentile of the time to the first
   * token. The first may differ by what eight drawn system prompts differ by.
   */
  @ParameterizedTest
  @CsvSource({
    "rr, sess, 14, 8, 0.523, 0.05, 138, 443",
    "sesshash, sess, 14, 8, 0.919, 0.02, 54, 106",
    "linear, sess, 14, 8, 0.588, 0.05, 146, 514",
    "linear_ev, sess, 14, 8, 0.913, 0.02, 54, 120",
    "chwbl_deep, rag, 16, 8, 0.731, 0.02, 123, 487",
    "linear_ev, rag, 16, 8, 0.906, 0.01, 63, 354",
    "linear, flash, 8, 8, 0.843, 0.02, 76, 340",
    "sesshash, flash, 8, 8, 0.950, 0.01, 45, 85",
  })
  void comesToWhatTheStudyCameTo(
      String policy,
      String workload,
      double rate,
      int clients,
      double hit,
      double hitWithin,
      double mean,
      double p99)
      throws IOException {
    StudyResult result = run(policy, workload, rate, clients);
    assertThat(result.hitRate()).isCloseTo(hit, within(hitWithin));
    assertThat(result.meanMs()).isCloseTo(mean, within(0.1 * mean));
    assertThat(result.p99Ms()).isCloseTo(p99, within(0.2 * p99));
  }

  @Test
  void anotherSeedGivesOtherClientsAndPhases() throws IOException {
    StudyWorkload small = StudyWorkload.draw("rag", 1, 4, 5, null);
    StudySettings settings = StudySettings.STUDY.withWorkers(4).withClients(3);
    assertThat(Study.run(settings.withSeed(2), "linear", small))
        .isNotEqualTo(Study.run(settings, "linear", small));
  }

  @Test
  void stickyClientsKnowTheirConversations() throws IOException {
    StudyWorkload sessions = StudyWorkload.draw("sess", 14, 16, 1, null);
    StudySettings eight = StudySettings.STUDY.withClients(8);
    StudyResult sticky = Study.run(eight.withSticky(true), "linear", sessions);
    assertThat(sticky.hitRate())
        .isGreaterThan(Study.run(eight, "linear", sessions).hitRate() + 0.25);
    assertThat(sticky.migrations()).isLessThan(0.1);
  }

  @Test
  void aClosedLoopKeepsItsUsersBusyAndCountsWhatTheyGot() throws IOException {
    StudyWorkload sessions = StudyWorkload.draw("sess", 14, 16, 1, null);
    StudyResult result = Study.run(StudySettings.STUDY.withUsers(64), "sesshash", sessions);
    // 173 requests a second with eight clients in the study
    assertThat(result.perSecond()).isCloseTo(173, within(20.0));
  }

  @Test
  void unknownNamesAreRefusedWithTheKnownOnes() {
    assertThatThrownBy(() -> run("no_such", "rag", 1, 1)).hasMessageContaining("chwbl_deep");
    assertThatThrownBy(() -> run("rr", "no_such", 1, 1)).hasMessageContaining("flash");
    assertThatThrownBy(() -> run("rr", "conv", 1, 1)).hasMessageContaining("folder");
  }
}

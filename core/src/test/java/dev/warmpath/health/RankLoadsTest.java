package dev.warmpath.health;

import static dev.warmpath.health.FakeTransport.load;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.transport.RankLoad;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class RankLoadsTest {
  private static final double NO = Double.NaN;

  private static RankLoad of(List<RankLoad> reported, int rank, int count) {
    return Objects.requireNonNull(RankLoads.of(reported, rank, count));
  }

  @Test
  void namedRanksGoToTheirOwn() {
    List<RankLoad> reported = List.of(load(1, 5, 0), load(0, 3, 0));
    assertThat(of(reported, 0, 2)).isEqualTo(load(0, 3, 0));
    assertThat(of(reported, 1, 2)).isEqualTo(load(1, 5, 0));
  }

  @Test
  void aRankThatIsNotNamedIsUnknown() {
    assertThat(RankLoads.of(List.of(load(0, 3, 0)), 1, 2)).isNull();
    assertThat(RankLoads.of(List.of(load(0, 3, 0), load(-1, 9, 0)), 1, 2)).isNull();
    assertThat(RankLoads.of(List.of(), 0, 2)).isNull();
    assertThat(RankLoads.of(List.of(), -1, 1)).isNull();
  }

  @Test
  void theWholeIsSharedEvenly() {
    RankLoad whole = new RankLoad(-1, 8, 4, 1_000, 0.5, 2_000, 64, 0.25, 400, 80);
    for (int rank = 0; rank < 4; rank++) {
      assertThat(of(List.of(whole), rank, 4))
          .isEqualTo(new RankLoad(rank, 2, 1, 250, 0.5, 500, 16, 0.25, 100, 20));
    }
  }

  @Test
  void theWholeStaysWholeForAWorkerChosenAsAWhole() {
    RankLoad whole = load(-1, 8, 4);
    assertThat(of(List.of(whole), -1, 1)).isEqualTo(whole);
    assertThat(of(List.of(load(0, 1, 1), whole), -1, 1)).isEqualTo(whole);
  }

  @Test
  void ranksAreAddedForAWorkerChosenAsAWhole() {
    RankLoad zero = new RankLoad(0, 8, 4, 100, 0.1, 1_000, 64, 0.2, 400, 80);
    RankLoad one = new RankLoad(1, 2, 0, 500, 0.5, 1_000, 64, 0.4, 100, 0);
    assertThat(of(List.of(zero, one), -1, 1))
        .isEqualTo(new RankLoad(-1, 10, 4, 600, 0.3, 2_000, 128, (0.2 + 0.4) / 2, 500, 80));
  }

  @Test
  void usageIsAveragedWhereTokensAreNotTold() {
    RankLoad zero = new RankLoad(0, 1, 0, NO, 0.25, NO, NO, NO, NO, NO);
    RankLoad one = new RankLoad(1, 1, 0, NO, 0.75, NO, NO, NO, NO, NO);
    assertThat(of(List.of(zero, one), -1, 1).tokenUsage()).isEqualTo(0.5);
  }

  @Test
  void whatOneRankDoesNotTellIsUnknownInTheSum() {
    RankLoad sum = of(List.of(load(0, 3, NO), load(1, NO, 2)), -1, 1);
    assertThat(sum.runningRequests()).isNaN();
    assertThat(sum.waitingRequests()).isNaN();
    assertThat(sum.usedTokens()).isNaN();
    assertThat(sum.tokenUsage()).isNaN();
  }
}

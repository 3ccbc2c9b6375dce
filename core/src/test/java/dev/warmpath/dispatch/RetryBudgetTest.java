package dev.warmpath.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RetryBudgetTest {
  @Test
  void spendsItsReserveAndThenARatioOfRequests() {
    RetryBudget budget = new RetryBudget(0.2, 3);
    for (int i = 0; i < 3; i++) {
      assertThat(budget.withdraw()).isTrue();
    }
    assertThat(budget.withdraw()).isFalse();
    for (int i = 0; i < 5; i++) {
      budget.deposit();
    }
    assertThat(budget.withdraw()).isTrue();
    assertThat(budget.withdraw()).isFalse();
  }

  @Test
  void savesNoMoreThanItsReserve() {
    RetryBudget budget = new RetryBudget(1, 2);
    for (int i = 0; i < 100; i++) {
      budget.deposit();
    }
    assertThat(budget.remaining()).isEqualTo(2);
  }

  @Test
  void allowsNothingWhenNothingIsAllowed() {
    RetryBudget budget = new RetryBudget(0, 0);
    budget.deposit();
    assertThat(budget.withdraw()).isFalse();
  }
}

package dev.warmpath.pd;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.pd.SessionModel.Step;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every order in which a session's events can come, to the end: the model checks the invariants at
 * each step, so that a walk that ends is a proof for that order.
 */
class PdSessionInterleavingsTest {
  private static final Set<Step> ALL = EnumSet.allOf(Step.class);
  private static final Set<Step> FEW =
      EnumSet.complementOf(
          EnumSet.of(Step.REFUSED_P, Step.REFUSED_D, Step.EMPTY_P, Step.TIME, Step.CANCEL));

  static Stream<Arguments> cases() {
    PdPlan atom = SessionModel.plan(PdShape.SEQUENTIAL, true, false);
    return Stream.of(
        Arguments.of("concurrent, strict", SessionModel.CONCURRENT, true, 1, ALL),
        Arguments.of("concurrent, lenient", SessionModel.CONCURRENT, false, 1, ALL),
        Arguments.of("pull", SessionModel.PULL, true, 1, ALL),
        Arguments.of("finishing prefill", atom, true, 1, ALL),
        Arguments.of("concurrent, retried", SessionModel.CONCURRENT, true, 2, FEW),
        Arguments.of("pull, retried", SessionModel.PULL, true, 2, FEW));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("cases")
  void every_interleaving_keeps_the_invariants_and_ends(
      String name, PdPlan plan, boolean strict, int attempts, Set<Step> steps) {
    Supplier<SessionModel> fresh = () -> new SessionModel(plan, strict, attempts, null);
    Deque<List<Step>> open = new ArrayDeque<>();
    open.push(List.of());
    EnumSet<PdState> ends = EnumSet.noneOf(PdState.class);
    long walks = 0;
    while (!open.isEmpty()) {
      List<Step> path = open.pop();
      SessionModel model = fresh.get();
      try {
        path.forEach(model::step);
      } catch (AssertionError e) {
        throw new AssertionError(name + " " + path + " " + model.all, e);
      }
      if (model.over()) {
        ends.add(model.session.state());
        walks++;
        continue;
      }
      Set<Step> next = model.possible(steps);
      if (next.isEmpty()) {
        next = model.possible(EnumSet.of(Step.TIME));
      }
      assertThat(next).as("a session that nothing can end: %s", path).isNotEmpty();
      for (Step step : next) {
        List<Step> longer = new ArrayList<>(path);
        longer.add(step);
        open.push(longer);
      }
    }
    assertThat(walks).isGreaterThan(50);
    assertThat(ends).contains(PdState.COMPLETED, PdState.FAILED);
  }
}

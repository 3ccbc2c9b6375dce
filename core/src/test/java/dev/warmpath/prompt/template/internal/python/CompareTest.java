package dev.warmpath.prompt.template.internal.python;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Clock;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

class CompareTest {
  private final Rendering rendering = new Rendering(Clock.systemUTC(), 1 << 30, 1 << 20, 10);

  @Property
  void sortingIsStableBothWays(
      @ForAll @Size(max = 300) List<@IntRange(min = 0, max = 40) Integer> values,
      @ForAll boolean reverse) {
    List<Object> pairs = new ArrayList<>();
    for (int i = 0; i < values.size(); i++) {
      pairs.add(new PyTuple((long) values.get(i), (long) i));
    }
    Comparator<Object> byFirst = Comparator.comparing(pair -> (Long) ((PyTuple) pair).get(0));
    List<Object> expected = new ArrayList<>(pairs);
    expected.sort(reverse ? byFirst.reversed() : byFirst);

    assertThat(Compare.sorted(rendering, pairs, pair -> ((PyTuple) pair).get(0), reverse))
        .usingElementComparator((a, b) -> a == b ? 0 : 1)
        .containsExactlyElementsOf(expected);
  }

  @Property
  void intsAndFloatsCompareByTheirExactValues(@ForAll long i, @ForAll double d) {
    if (Double.isNaN(d) || Double.isInfinite(d)) {
      return;
    }
    int expected = new java.math.BigDecimal(i).compareTo(new java.math.BigDecimal(d));

    assertThat(Integer.signum(Numbers.compare(i, d))).isEqualTo(expected);
    assertThat(Integer.signum(Numbers.compare(d, i))).isEqualTo(-expected);
  }
}

package dev.warmpath.knowledge;

import java.util.List;
import java.util.OptionalDouble;
import java.util.function.Function;

/** Comparison by values that somebody may not have reported. */
final class Reported {

  private Reported() {}

  /**
   * Those with the least value. Where one of them has none, nobody is dropped: unknown is neither
   * idle nor busy.
   *
   * @param unknownIsZero whether to read an unknown value as zero all the same, as the original
   *     does
   */
  static <C> List<C> least(List<C> all, Function<C, OptionalDouble> value, boolean unknownIsZero) {
    if (!unknownIsZero && !Funnel.all(all, c -> value.apply(c).isPresent())) {
      return all;
    }
    return Funnel.least(all, c -> value.apply(c).orElse(0));
  }
}

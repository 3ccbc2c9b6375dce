package dev.warmpath.observe;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The series of one metric by the values of its labels. Bounded: once there are as many as allowed,
 * what is new is counted under the label value {@value #OTHER}. Thread safe without a lock.
 *
 * @param <T> what counts
 */
final class Series<T> {

  /** Stands for label values that there were too many of. */
  static final String OTHER = "other";

  private final List<String> labels;
  private final int limit;
  private final Supplier<T> counter;

  /** By the value of a single label, else by the list of all values. */
  private final Map<Object, T> byValues = new ConcurrentHashMap<>();

  private final AtomicInteger size = new AtomicInteger();
  private final Object others;

  /** Where there is no label. */
  private volatile @Nullable T only;

  Series(int limit, Supplier<T> counter, String... labels) {
    this.limit = limit;
    this.counter = counter;
    this.labels = List.of(labels);
    this.others = labels.length == 1 ? OTHER : this.labels.stream().map(label -> OTHER).toList();
  }

  /** What counts where there is no label. */
  T of() {
    T known = only;
    if (known == null) {
      known = at(List.of());
      only = known;
    }
    return known;
  }

  /** What counts for the value of the only label. */
  T of(String value) {
    return at(value);
  }

  /** What counts for the values of two labels, in their order. */
  T of(String first, String second) {
    return at(List.of(first, second));
  }

  private T at(Object key) {
    T known = byValues.get(key);
    if (known != null) {
      return known;
    }
    if (size.get() >= limit) {
      return byValues.computeIfAbsent(others, k -> counter.get());
    }
    return byValues.computeIfAbsent(
        key,
        k -> {
          size.incrementAndGet();
          return counter.get();
        });
  }

  /** A sample of each series. */
  List<MetricSample> samples(BiFunction<Map<String, String>, T, MetricSample> sample) {
    Map<String, MetricSample> inOrder = new TreeMap<>();
    byValues.forEach(
        (values, counted) -> {
          Map<String, String> named = named(values);
          inOrder.put(named.toString(), sample.apply(named, counted));
        });
    return List.copyOf(inOrder.values());
  }

  private Map<String, String> named(Object key) {
    Map<String, String> named = new LinkedHashMap<>();
    if (key instanceof List<?> values) {
      for (int i = 0; i < values.size(); i++) {
        named.put(labels.get(i), values.get(i).toString());
      }
    } else {
      named.put(labels.get(0), key.toString());
    }
    return named;
  }
}

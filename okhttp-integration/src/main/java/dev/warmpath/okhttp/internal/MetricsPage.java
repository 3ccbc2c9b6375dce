package dev.warmpath.okhttp.internal;

import dev.warmpath.okhttp.internal.PrometheusText.Sample;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * A worker's {@code /metrics} page: looks a figure up under all names that engines have given it
 * over their versions. What is not there is NaN.
 */
final class MetricsPage {
  /**
   * vLLM labels a series with its data-parallel rank as {@code engine}, SGLang as {@code dp_rank}.
   */
  private static final List<String> RANK_LABELS = List.of("engine", "dp_rank");

  private final List<Sample> samples;

  MetricsPage(String text) {
    this.samples =
        PrometheusText.read(
            text,
            name ->
                name.startsWith("vllm:")
                    || name.startsWith("sglang:")
                    || name.startsWith("sglang_")
                    || name.startsWith("atom:")
                    || name.equals("process_start_time_seconds"));
  }

  /** Whether any series begins with {@code prefix}. */
  boolean speaks(String prefix) {
    return samples.stream().anyMatch(sample -> sample.name().startsWith(prefix));
  }

  /** The data-parallel ranks that series are labelled with; empty where none is. */
  Set<Integer> ranks() {
    Set<Integer> ranks = new TreeSet<>();
    for (Sample sample : samples) {
      int rank = rank(sample);
      if (rank >= 0) {
        ranks.add(rank);
      }
    }
    return ranks;
  }

  private static int rank(Sample sample) {
    for (String label : RANK_LABELS) {
      String value = sample.label(label);
      if (!value.isEmpty()) {
        try {
          return Integer.parseInt(value);
        } catch (NumberFormatException e) {
          return -1;
        }
      }
    }
    return -1;
  }

  /**
   * Tensor- and pipeline-parallel copies of a rank may export the same series: the first speaks for
   * all.
   */
  private static boolean counted(Sample sample) {
    String tp = sample.label("tp_rank");
    String pp = sample.label("pp_rank");
    return (tp.isEmpty() || tp.equals("0")) && (pp.isEmpty() || pp.equals("0"));
  }

  /**
   * The sum over a rank's series of the first of {@code names} that the page has.
   *
   * @param rank the rank, or -1 for the whole worker
   */
  double sum(int rank, String... names) {
    for (String name : names) {
      double sum = Double.NaN;
      for (Sample sample : samples) {
        if (matches(sample, rank, name)) {
          sum = Double.isNaN(sum) ? sample.value() : sum + sample.value();
        }
      }
      if (!Double.isNaN(sum)) {
        return sum;
      }
    }
    return Double.NaN;
  }

  /** The mean over a rank's series of the first of {@code names} that the page has. */
  double mean(int rank, String... names) {
    for (String name : names) {
      double sum = 0;
      int count = 0;
      for (Sample sample : samples) {
        if (matches(sample, rank, name)) {
          sum += sample.value();
          count++;
        }
      }
      if (count > 0) {
        return sum / count;
      }
    }
    return Double.NaN;
  }

  private static boolean matches(Sample sample, int rank, String name) {
    return sample.name().equals(name)
        && counted(sample)
        && (rank < 0 || rank(sample) == rank || rank(sample) < 0);
  }

  /** A label of an info series, or null; engines spell an unset one {@code None}. */
  @Nullable String info(String name, String label) {
    for (Sample sample : samples) {
      if (sample.name().equals(name)) {
        String value = sample.label(label);
        return value.isEmpty() || value.equals("None") ? null : value;
      }
    }
    return null;
  }

  /** A numeric label of an info series; NaN when it is not there or no number. */
  double infoNumber(String name, String label) {
    String value = info(name, label);
    if (value == null) {
      return Double.NaN;
    }
    try {
      return Double.parseDouble(value);
    } catch (NumberFormatException e) {
      return Double.NaN;
    }
  }

  /**
   * The process's start time as it is written, which changes with a restart; null where not
   * exported.
   */
  @Nullable String startTime() {
    double start = sum(-1, "process_start_time_seconds");
    return Double.isNaN(start) ? null : "start:" + start;
  }
}

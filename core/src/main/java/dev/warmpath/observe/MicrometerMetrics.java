package dev.warmpath.observe;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A client's metrics as meters of Micrometer: {@code new
 * MicrometerMetrics(router::metrics).bindTo(registry)}. Needs {@code micrometer-core} on the class
 * path.
 *
 * <p>A name loses {@code _total} and gets dots for its underscores: {@code warmpath_requests_total}
 * is the counter {@code warmpath.requests}. A histogram {@code warmpath_request_seconds} is the
 * timer {@code warmpath.request}, and its cumulative buckets are the counters {@code
 * warmpath.request.bucket} with the tag {@code le}.
 *
 * <p>Reading a meter reads all metrics at once, at most once a second; series that came since are
 * registered then, and those of workers that left are removed. Thread safe; it has no thread, and
 * nothing to close.
 */
public final class MicrometerMetrics implements MeterBinder {
  private static final long KEPT_NANOS = Duration.ofSeconds(1).toNanos();
  private static final String SECONDS = "_seconds";
  private static final String TOTAL = "_total";

  private final Supplier<List<MetricFamily>> families;
  private final LongSupplier ticker;
  private final List<Bound> bounds = new CopyOnWriteArrayList<>();
  private final ReentrantLock reading = new ReentrantLock();
  private volatile Map<SeriesKey, MetricSample> samples = Map.of();
  private volatile long readNanos;

  /**
   * Reads nothing yet.
   *
   * @param families gives the metrics as they are now, such as {@code router::metrics}
   */
  public MicrometerMetrics(Supplier<List<MetricFamily>> families) {
    this(families, System::nanoTime);
  }

  MicrometerMetrics(Supplier<List<MetricFamily>> families, LongSupplier ticker) {
    this.families = families;
    this.ticker = ticker;
    this.readNanos = ticker.getAsLong() - KEPT_NANOS;
  }

  private record SeriesKey(String name, Map<String, String> labels) {}

  /** A registry with the meters that were made in it. */
  private record Bound(MeterRegistry registry, Map<SeriesKey, List<Meter>> meters) {}

  @Override
  public void bindTo(MeterRegistry registry) {
    reading.lock();
    try {
      bounds.add(new Bound(registry, new HashMap<>()));
      read();
    } finally {
      reading.unlock();
    }
  }

  private @Nullable MetricSample sample(SeriesKey key) {
    // Whoever finds another thread reading is served what was read before.
    if (ticker.getAsLong() - readNanos >= KEPT_NANOS && reading.tryLock()) {
      try {
        if (ticker.getAsLong() - readNanos >= KEPT_NANOS) {
          read();
        }
      } finally {
        reading.unlock();
      }
    }
    return samples.get(key);
  }

  private void read() {
    readNanos = ticker.getAsLong();
    Map<SeriesKey, MetricSample> now = new HashMap<>();
    for (MetricFamily family : families.get()) {
      for (MetricSample sample : family.samples()) {
        SeriesKey key = new SeriesKey(family.name(), sample.labels());
        now.put(key, sample);
        for (Bound bound : bounds) {
          if (!bound.meters().containsKey(key)) {
            bound.meters().put(key, register(bound.registry(), family, key, sample));
          }
        }
      }
    }
    samples = now;
    for (Bound bound : bounds) {
      bound
          .meters()
          .entrySet()
          .removeIf(
              entry -> {
                boolean gone = !now.containsKey(entry.getKey());
                if (gone) {
                  entry.getValue().forEach(bound.registry()::remove);
                }
                return gone;
              });
    }
  }

  private List<Meter> register(
      MeterRegistry registry, MetricFamily family, SeriesKey key, MetricSample sample) {
    List<Tag> tags = new ArrayList<>();
    sample.labels().forEach((name, value) -> tags.add(Tag.of(name, value)));
    return switch (family.type()) {
      case COUNTER ->
          List.of(
              FunctionCounter.builder(name(family.name()), this, metrics -> metrics.value(key, 0))
                  .description(family.help())
                  .tags(tags)
                  .register(registry));
      case GAUGE ->
          List.of(
              Gauge.builder(name(family.name()), this, metrics -> metrics.value(key, Double.NaN))
                  .description(family.help())
                  .tags(tags)
                  .register(registry));
      case HISTOGRAM -> histogram(registry, family, key, sample, tags);
    };
  }

  private List<Meter> histogram(
      MeterRegistry registry,
      MetricFamily family,
      SeriesKey key,
      MetricSample sample,
      List<Tag> tags) {
    List<Meter> made = new ArrayList<>();
    String name = name(family.name());
    made.add(
        FunctionTimer.builder(
                name,
                this,
                metrics -> metrics.count(key),
                metrics -> metrics.value(key, 0),
                TimeUnit.SECONDS)
            .description(family.help())
            .tags(tags)
            .register(registry));
    List<Double> upperBounds = sample.buckets().upperBounds();
    for (int b = 0; b < upperBounds.size(); b++) {
      int bucket = b;
      made.add(
          FunctionCounter.builder(name + ".bucket", this, metrics -> metrics.count(key, bucket))
              .description(family.help())
              .tags(tags)
              .tag("le", Double.toString(upperBounds.get(b)))
              .register(registry));
    }
    return made;
  }

  private static String name(String prometheus) {
    String name = prometheus;
    for (String suffix : List.of(TOTAL, SECONDS)) {
      if (name.endsWith(suffix)) {
        name = name.substring(0, name.length() - suffix.length());
        break;
      }
    }
    return name.replace('_', '.');
  }

  private double value(SeriesKey key, double unknown) {
    MetricSample sample = sample(key);
    return sample == null ? unknown : sample.value();
  }

  private long count(SeriesKey key) {
    MetricSample sample = sample(key);
    return sample == null ? 0 : sample.buckets().count();
  }

  private double count(SeriesKey key, int bucket) {
    MetricSample sample = sample(key);
    return sample == null ? 0 : sample.buckets().cumulative().get(bucket);
  }
}

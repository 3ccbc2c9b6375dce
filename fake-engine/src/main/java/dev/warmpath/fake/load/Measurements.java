package dev.warmpath.fake.load;

import dev.warmpath.api.Usage;
import dev.warmpath.fake.load.LoadResult.Slice;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/** Gathers what requests tell as they end. Times are nanoseconds of one clock. Thread safe. */
public final class Measurements {
  private static final long MAX_MICROS = 3_600_000_000L;
  private static final int DIGITS = 3;
  private static final int SLICES = 60;

  private final ReentrantLock lock = new ReentrantLock();
  private final long startNanos;
  private final Histogram ttft = new Histogram(MAX_MICROS, DIGITS);
  private final Histogram interToken = new Histogram(MAX_MICROS, DIGITS);
  private final Histogram endToEnd = new Histogram(MAX_MICROS, DIGITS);
  private final Map<String, Long> errors = new TreeMap<>();
  private final Map<String, Long> perWorker = new TreeMap<>();
  private final Map<String, Long> perPrefillWorker = new TreeMap<>();
  private final List<Ended> all = new ArrayList<>();
  private long failed;
  private long promptTokens;
  private long cachedTokens;
  private long completionTokens;
  private long lastNanos;

  private record Ended(
      long atNanos, boolean failed, double waitMillis, long promptTokens, long cachedTokens) {}

  /**
   * Starts with nothing.
   *
   * @param startNanos when the run began
   * @param workers the workers' addresses, so that idle ones count too
   */
  public Measurements(long startNanos, Collection<String> workers) {
    this(startNanos, workers, List.of());
  }

  /**
   * Starts with nothing.
   *
   * @param startNanos when the run began
   * @param workers addresses of workers that answer, so that idle ones count too
   * @param prefillWorkers those of workers that compute prompts for others, likewise
   */
  public Measurements(
      long startNanos, Collection<String> workers, Collection<String> prefillWorkers) {
    this.startNanos = startNanos;
    this.lastNanos = startNanos;
    workers.forEach(worker -> perWorker.put(worker, 0L));
    prefillWorkers.forEach(worker -> perPrefillWorker.put(worker, 0L));
  }

  /**
   * A request succeeded.
   *
   * @param worker who served it
   * @param sentNanos when it was sent
   * @param firstNanos when its first token came, or 0 when it was not streamed
   * @param endNanos when its answer was whole
   * @param gapsNanos times between its events
   * @param usage what the engine counted, or null
   */
  public void succeeded(
      String worker,
      long sentNanos,
      long firstNanos,
      long endNanos,
      long[] gapsNanos,
      @Nullable Usage usage) {
    lock.lock();
    try {
      perWorker.merge(worker, 1L, Long::sum);
      if (firstNanos != 0) {
        ttft.recordValue(micros(firstNanos - sentNanos));
      }
      for (long gap : gapsNanos) {
        interToken.recordValue(micros(gap));
      }
      endToEnd.recordValue(micros(endNanos - sentNanos));
      long prompt = 0;
      long cached = 0;
      if (usage != null) {
        prompt = count(usage.promptTokens());
        cached = count(usage.cachedTokens());
        completionTokens += count(usage.completionTokens());
      }
      promptTokens += prompt;
      cachedTokens += cached;
      long waited = (firstNanos != 0 ? firstNanos : endNanos) - sentNanos;
      all.add(new Ended(endNanos, false, waited / 1e6, prompt, cached));
      lastNanos = Math.max(lastNanos, endNanos);
    } finally {
      lock.unlock();
    }
  }

  /**
   * A prefill worker computed the prompt of a request that succeeded.
   *
   * @param worker its address
   */
  public void prefilled(String worker) {
    lock.lock();
    try {
      perPrefillWorker.merge(worker, 1L, Long::sum);
    } finally {
      lock.unlock();
    }
  }

  /**
   * A request failed.
   *
   * @param kind what happened, in a word
   * @param endNanos when
   */
  public void failed(String kind, long endNanos) {
    lock.lock();
    try {
      failed++;
      errors.merge(kind, 1L, Long::sum);
      all.add(new Ended(endNanos, true, 0, 0, 0));
      lastNanos = Math.max(lastNanos, endNanos);
    } finally {
      lock.unlock();
    }
  }

  private static long count(@Nullable Integer tokens) {
    return tokens == null ? 0 : tokens;
  }

  private static long micros(long nanos) {
    return Math.max(0, Math.min(MAX_MICROS, nanos / 1_000));
  }

  /** How things stand: requests ended, failed. */
  long[] progress() {
    lock.lock();
    try {
      return new long[] {all.size(), failed};
    } finally {
      lock.unlock();
    }
  }

  /**
   * Sums up what has ended by now.
   *
   * @param policy the name the result goes under
   * @return the figures
   */
  public LoadResult result(String policy) {
    lock.lock();
    try {
      double seconds = Math.max(1e-9, (lastNanos - startNanos) / 1e9);
      return new LoadResult(
          policy,
          all.size(),
          failed,
          Map.copyOf(errors),
          seconds,
          (all.size() - failed) / seconds,
          LatencySummary.of(ttft),
          LatencySummary.of(interToken),
          LatencySummary.of(endToEnd),
          promptTokens,
          cachedTokens,
          completionTokens,
          new TreeMap<>(perWorker),
          coefficientOfVariation(perWorker),
          new TreeMap<>(perPrefillWorker),
          perPrefillWorker.isEmpty() ? Double.NaN : coefficientOfVariation(perPrefillWorker),
          slices(seconds));
    } finally {
      lock.unlock();
    }
  }

  /**
   * Writes what has ended by now, to be {@linkplain #read read} by another process.
   *
   * @param out takes it in; the caller closes it
   * @throws IOException if it can't be written
   */
  public void write(DataOutput out) throws IOException {
    lock.lock();
    try {
      for (Histogram histogram : List.of(ttft, interToken, endToEnd)) {
        ByteBuffer buffer = ByteBuffer.allocate(histogram.getNeededByteBufferCapacity());
        int length = histogram.encodeIntoByteBuffer(buffer);
        out.writeInt(length);
        out.write(buffer.array(), 0, length);
      }
      write(errors, out);
      write(perWorker, out);
      write(perPrefillWorker, out);
      out.writeInt(all.size());
      for (Ended ended : all) {
        out.writeLong(ended.atNanos - startNanos);
        out.writeBoolean(ended.failed);
        out.writeDouble(ended.waitMillis);
        out.writeLong(ended.promptTokens);
        out.writeLong(ended.cachedTokens);
      }
      out.writeLong(completionTokens);
      out.writeLong(lastNanos - startNanos);
    } finally {
      lock.unlock();
    }
  }

  private static void write(Map<String, Long> counts, DataOutput out) throws IOException {
    out.writeInt(counts.size());
    for (Map.Entry<String, Long> count : counts.entrySet()) {
      out.writeUTF(count.getKey());
      out.writeLong(count.getValue());
    }
  }

  /**
   * Reads what another process has {@linkplain #write written}, as if its run had begun at time 0.
   *
   * @param in holds it; the caller closes it
   * @return what was measured
   * @throws IOException if it can't be read
   */
  public static Measurements read(DataInput in) throws IOException {
    Measurements read = new Measurements(0, List.of());
    for (Histogram histogram : List.of(read.ttft, read.interToken, read.endToEnd)) {
      byte[] bytes = new byte[in.readInt()];
      in.readFully(bytes);
      histogram.add(Histogram.decodeFromByteBuffer(ByteBuffer.wrap(bytes), MAX_MICROS));
    }
    read(read.errors, in);
    read(read.perWorker, in);
    read(read.perPrefillWorker, in);
    int ended = in.readInt();
    for (int i = 0; i < ended; i++) {
      read.add(
          new Ended(
              in.readLong(), in.readBoolean(), in.readDouble(), in.readLong(), in.readLong()));
    }
    read.completionTokens = in.readLong();
    read.lastNanos = in.readLong();
    return read;
  }

  private static void read(Map<String, Long> counts, DataInput in) throws IOException {
    int size = in.readInt();
    for (int i = 0; i < size; i++) {
      counts.put(in.readUTF(), in.readLong());
    }
  }

  private void add(Ended ended) {
    all.add(ended);
    failed += ended.failed ? 1 : 0;
    promptTokens += ended.promptTokens;
    cachedTokens += ended.cachedTokens;
  }

  /**
   * Puts runs together that began at the same time.
   *
   * @param runs what they measured, as {@link #read} gives it
   * @return all of it
   */
  public static Measurements together(List<Measurements> runs) {
    Measurements all = new Measurements(0, List.of());
    for (Measurements run : runs) {
      all.ttft.add(run.ttft);
      all.interToken.add(run.interToken);
      all.endToEnd.add(run.endToEnd);
      run.errors.forEach((kind, count) -> all.errors.merge(kind, count, Long::sum));
      run.perWorker.forEach((worker, count) -> all.perWorker.merge(worker, count, Long::sum));
      run.perPrefillWorker.forEach(
          (worker, count) -> all.perPrefillWorker.merge(worker, count, Long::sum));
      run.all.forEach(all::add);
      all.completionTokens += run.completionTokens;
      all.lastNanos = Math.max(all.lastNanos, run.lastNanos);
    }
    return all;
  }

  private static double coefficientOfVariation(Map<String, Long> counts) {
    double mean = counts.values().stream().mapToLong(n -> n).average().orElse(0);
    double variance =
        counts.values().stream().mapToDouble(n -> (n - mean) * (n - mean)).average().orElse(0);
    return mean == 0 ? 0 : Math.sqrt(variance) / mean;
  }

  private List<Slice> slices(double seconds) {
    double width = seconds / SLICES;
    long[] completed = new long[SLICES];
    long[] broken = new long[SLICES];
    double[] waits = new double[SLICES];
    long[] prompt = new long[SLICES];
    long[] cached = new long[SLICES];
    for (Ended ended : all) {
      int slice =
          (int) Math.max(0, Math.min(SLICES - 1, (ended.atNanos - startNanos) / 1e9 / width));
      if (ended.failed) {
        broken[slice]++;
      } else {
        completed[slice]++;
        waits[slice] += ended.waitMillis;
        prompt[slice] += ended.promptTokens;
        cached[slice] += ended.cachedTokens;
      }
    }
    List<Slice> slices = new ArrayList<>(SLICES);
    for (int i = 0; i < SLICES; i++) {
      slices.add(
          new Slice(
              (i + 1) * width,
              completed[i],
              broken[i],
              completed[i] == 0 ? 0 : waits[i] / completed[i],
              prompt[i] == 0 ? 0 : (double) cached[i] / prompt[i]));
    }
    return slices;
  }
}

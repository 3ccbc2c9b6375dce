package dev.warmpath.observe;

import dev.warmpath.api.AttemptRecord;
import dev.warmpath.api.FailurePhase;
import dev.warmpath.api.RequestTimings;
import dev.warmpath.api.RouteDecision;
import dev.warmpath.api.RouteDecision.CandidateView;
import dev.warmpath.api.RouterListener;
import dev.warmpath.api.Usage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Counts requests and attempts as they happen. Labels are the policy, the worker (with its rank),
 * the outcome and the phase of a failure; nothing of a request's own. Thread safe; an event costs a
 * few additions.
 */
public final class RequestMetrics implements RouterListener {

  /** Most series of one metric: 1,024 ranks with a few outcomes each. */
  private static final int MAX_SERIES = 4_096;

  static final long[] TIMES =
      Histogram.bounds(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120);

  private static final long[] ROUTED_TIMES =
      Histogram.bounds(
          0.000_01, 0.000_025, 0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.01, 0.1, 1, 10);

  private static final long[] TOKEN_TIMES =
      Histogram.bounds(0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.04, 0.05, 0.075, 0.1, 0.2, 0.5, 1);

  private static final Map<Outcome, String> OUTCOMES = new EnumMap<>(Outcome.class);

  static {
    for (Outcome outcome : Outcome.values()) {
      OUTCOMES.put(outcome, label(outcome));
    }
  }

  private final Series<LongAdder> requests = counters("policy", "outcome");
  private final Series<LongAdder> attempts = counters("worker");
  private final Series<LongAdder> failures = counters("worker", "phase");
  private final Series<LongAdder> retries = counters();
  private final Series<LongAdder> deadLetters = counters();
  private final Series<LongAdder> promptTokens = counters("worker");
  private final Series<LongAdder> cachedTokens = counters("worker");
  private final Series<LongAdder> predictedTokens = counters("worker");
  private final Series<LongAdder> completionTokens = counters("worker");
  private final Series<Histogram> routed = histograms(ROUTED_TIMES);
  private final Series<Histogram> queued = histograms(ROUTED_TIMES);
  private final Series<Histogram> lookedUp = histograms(ROUTED_TIMES);
  private final Series<Histogram> decided = histograms(ROUTED_TIMES, "policy");
  private final WorkerTimes firstByte = new WorkerTimes();
  private final WorkerTimes attemptFirstByte = new WorkerTimes();
  private final Series<Histogram> outputToken = histograms(TOKEN_TIMES, "worker");
  private final Series<Histogram> whole = histograms(TIMES, "outcome");

  private final Map<String, AtWorker> atWorkers = new ConcurrentHashMap<>();

  /** Counts nothing yet. */
  public RequestMetrics() {}

  /**
   * One worker's series of every metric that has just one for each worker, so that an event looks
   * its worker up once: maps of series are many, and out of the processor's caches between
   * requests.
   */
  private final class AtWorker {
    final Found<LongAdder> attempts;
    final Found<LongAdder> promptTokens;
    final Found<LongAdder> cachedTokens;
    final Found<LongAdder> predictedTokens;
    final Found<LongAdder> completionTokens;
    final Found<Histogram> firstByte;
    final Found<Histogram> attemptFirstByte;
    final Found<Histogram> outputToken;

    AtWorker(String worker) {
      attempts = new Found<>(RequestMetrics.this.attempts, worker);
      promptTokens = new Found<>(RequestMetrics.this.promptTokens, worker);
      cachedTokens = new Found<>(RequestMetrics.this.cachedTokens, worker);
      predictedTokens = new Found<>(RequestMetrics.this.predictedTokens, worker);
      completionTokens = new Found<>(RequestMetrics.this.completionTokens, worker);
      firstByte = new Found<>(RequestMetrics.this.firstByte.series(), worker);
      attemptFirstByte = new Found<>(RequestMetrics.this.attemptFirstByte.series(), worker);
      outputToken = new Found<>(RequestMetrics.this.outputToken, worker);
    }
  }

  /**
   * A series that begins when it is first counted in. A plain field is enough for it: threads that
   * come at once find the same one, and what counts is whole for whoever sees it, since a {@link
   * Histogram}'s fields are final and a {@link LongAdder} begins with zeros alone.
   */
  private static final class Found<T> {
    private final Series<T> in;
    private final String label;
    private @Nullable T found;

    Found(Series<T> in, String label) {
      this.in = in;
      this.label = label;
    }

    T get() {
      T known = found;
      if (known == null) {
        known = in.of(label);
        found = known;
      }
      return known;
    }
  }

  private static Series<LongAdder> counters(String... labels) {
    return new Series<>(MAX_SERIES, LongAdder::new, labels);
  }

  static Series<Histogram> histograms(long[] bounds, String... labels) {
    return new Series<>(MAX_SERIES, () -> new Histogram(bounds), labels);
  }

  @Override
  public void onRouted(RequestEvent event) {
    RequestTimings timings = event.timings();
    routed.of().record(event.elapsed().toNanos());
    queued.of().record(timings.queue().toNanos());
    if (event.decision().lookup() != null) {
      lookedUp.of().record(timings.lookup().toNanos());
    }
    decided.of(event.decision().policy()).record(timings.decision().toNanos());
  }

  @Override
  public void onAttempt(RequestEvent event) {
    at(event).attempts.get().increment();
    if (event.attempt() > 1) {
      retries.of().increment();
    }
  }

  @Override
  public void onFirstByte(RequestEvent event) {
    AtWorker at = at(event);
    at.firstByte.get().record(event.elapsed().toNanos());
    Duration first = event.timings().firstByte();
    if (first != null) {
      at.attemptFirstByte.get().record(first.toNanos());
    }
  }

  @Override
  public void onAttemptFailed(RequestEvent event) {
    AttemptRecord failure = event.failure();
    FailurePhase phase = failure == null ? null : failure.phase();
    failures.of(worker(event), phase == null ? "unknown" : label(phase)).increment();
  }

  @Override
  public void onFinished(RequestEvent event) {
    Outcome outcome = event.outcome();
    String label = outcome == null ? "unknown" : OUTCOMES.getOrDefault(outcome, "unknown");
    requests.of(event.decision().policy(), label).increment();
    whole.of(label).record(event.elapsed().toNanos());
    Usage usage = event.usage();
    if (usage != null) {
      AtWorker at = at(event);
      tokens(at, usage, event.decision());
      pace(at, event, usage);
    }
  }

  @Override
  public void onDeadLetter(DeadLetter letter) {
    deadLetters.of().increment();
  }

  /** What a token took after the first, on the average of a stream. */
  private static void pace(AtWorker at, RequestEvent event, Usage usage) {
    Duration first = event.timings().firstByte();
    Integer tokens = usage.completionTokens();
    if (event.stream() && first != null && tokens != null && tokens > 1) {
      long rest = event.timings().attempt().toNanos() - first.toNanos();
      at.outputToken.get().record(rest / (tokens - 1));
    }
  }

  private static void tokens(AtWorker at, Usage usage, RouteDecision decision) {
    add(at.promptTokens, usage.promptTokens());
    add(at.completionTokens, usage.completionTokens());
    Integer cached = usage.cachedTokens();
    CandidateView chosen = decision.chosen();
    // predictions are comparable only where the engine tells what came of them
    if (cached != null && chosen != null) {
      add(at.cachedTokens, cached);
      add(at.predictedTokens, chosen.matchedTokens());
    }
  }

  private static void add(Found<LongAdder> to, @Nullable Integer tokens) {
    if (tokens != null) {
      to.get().add(tokens);
    }
  }

  private AtWorker at(RequestEvent event) {
    String worker = worker(event);
    AtWorker known = atWorkers.get(worker);
    if (known != null) {
      return known;
    }
    AtWorker made = new AtWorker(worker);
    if (atWorkers.size() < MAX_SERIES) {
      AtWorker before = atWorkers.putIfAbsent(worker, made);
      return before == null ? made : before;
    }
    return made; // one worker too many: its series are those of all such
  }

  private static String worker(RequestEvent event) {
    String worker = event.worker();
    return worker == null ? "none" : worker;
  }

  private static String label(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }

  /** The metrics now. */
  public List<MetricFamily> families() {
    List<MetricFamily> all = new ArrayList<>();
    all.add(counter("requests_total", "Requests that are over, by outcome.", requests));
    all.add(histogram("request_seconds", "Time from the request to its end.", whole));
    all.add(
        histogram(
            "routed_seconds", "Time to the plan: reading, admission and the decision.", routed));
    all.add(histogram("queue_seconds", "Wait for admission.", queued));
    all.add(histogram("lookup_seconds", "Wait for an index outside of the client.", lookedUp));
    all.add(histogram("decision_seconds", "The policy's time for a plan.", decided));
    all.add(
        histogram(
            "first_byte_seconds",
            "Time to the first byte of the answer; TTFT in streams.",
            firstByte.samples()));
    all.add(
        histogram(
            "attempt_first_byte_seconds",
            "Time from the attempt's beginning to the first byte of the answer.",
            attemptFirstByte.samples()));
    all.add(
        histogram(
            "output_token_seconds",
            "Time between tokens, on the average of each stream.",
            outputToken));
    all.add(counter("attempts_total", "Attempts, by worker.", attempts));
    all.add(counter("attempts_failed_total", "Failed attempts, by how far they came.", failures));
    all.add(counter("retries_total", "Attempts after the first.", retries));
    all.add(counter("dead_letters_total", "Requests that finally failed.", deadLetters));
    all.add(counter("prompt_tokens_total", "Prompt tokens that workers reported.", promptTokens));
    all.add(
        counter(
            "cached_tokens_total",
            "Prompt tokens found cached, as workers reported.",
            cachedTokens));
    all.add(
        counter(
            "predicted_cached_tokens_total",
            "Prompt tokens expected to be cached, where workers reported what was.",
            predictedTokens));
    all.add(
        counter(
            "completion_tokens_total",
            "Generated tokens that workers reported.",
            completionTokens));
    return all;
  }

  private static MetricFamily counter(String name, String help, Series<LongAdder> series) {
    return new MetricFamily(
        "warmpath_" + name,
        help,
        MetricType.COUNTER,
        series.samples((labels, counted) -> MetricSample.of(counted.sum(), labels)));
  }

  private static MetricFamily histogram(String name, String help, Series<Histogram> series) {
    return histogram(name, help, samples(series));
  }

  private static MetricFamily histogram(String name, String help, List<MetricSample> samples) {
    return new MetricFamily("warmpath_" + name, help, MetricType.HISTOGRAM, samples);
  }

  static List<MetricSample> samples(Series<Histogram> series) {
    return series.samples(
        (labels, counted) -> new MetricSample(labels, counted.sum(), counted.buckets()));
  }
}

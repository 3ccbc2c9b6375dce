package dev.warmpath.observe;

import dev.warmpath.api.AttemptRecord;
import dev.warmpath.api.FailurePhase;
import dev.warmpath.api.RequestTimings;
import dev.warmpath.api.RouteDecision;
import dev.warmpath.api.RouteDecision.CandidateView;
import dev.warmpath.api.Usage;
import dev.warmpath.dispatch.RequestMeter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Counts requests and attempts as they happen. Labels are the policy, the worker (with its rank),
 * the outcome and the phase of a failure; nothing of a request's own. Thread safe; an event costs a
 * few additions.
 */
public final class RequestMetrics implements RequestMeter {

  /** Most series of one metric: 1,024 ranks with a few outcomes each. */
  private static final int MAX_SERIES = 4_096;

  static final long[] TIMES =
      Histogram.bounds(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120);

  private static final long[] ROUTED_TIMES =
      Histogram.bounds(
          0.000_01, 0.000_025, 0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.01, 0.1, 1, 10);

  private static final long[] TOKEN_TIMES =
      Histogram.bounds(0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.04, 0.05, 0.075, 0.1, 0.2, 0.5, 1);

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
  private final Map<String, AtPolicy> atPolicies = new ConcurrentHashMap<>();
  private final Map<Outcome, Found<Histogram>> wholeByOutcome =
      found(outcome -> whole.of(label(outcome)));

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
      attempts = new Found<>(() -> RequestMetrics.this.attempts.of(worker));
      promptTokens = new Found<>(() -> RequestMetrics.this.promptTokens.of(worker));
      cachedTokens = new Found<>(() -> RequestMetrics.this.cachedTokens.of(worker));
      predictedTokens = new Found<>(() -> RequestMetrics.this.predictedTokens.of(worker));
      completionTokens = new Found<>(() -> RequestMetrics.this.completionTokens.of(worker));
      firstByte = new Found<>(() -> RequestMetrics.this.firstByte.series().of(worker));
      attemptFirstByte =
          new Found<>(() -> RequestMetrics.this.attemptFirstByte.series().of(worker));
      outputToken = new Found<>(() -> RequestMetrics.this.outputToken.of(worker));
    }
  }

  /** The same of a policy. */
  private final class AtPolicy {
    final Found<Histogram> decided;
    final Map<Outcome, Found<LongAdder>> requests;

    AtPolicy(String policy) {
      decided = new Found<>(() -> RequestMetrics.this.decided.of(policy));
      requests = found(outcome -> RequestMetrics.this.requests.of(policy, label(outcome)));
    }
  }

  /**
   * A series that begins when it is first counted in. A plain field is enough for it: threads that
   * come at once find the same one, and what counts is whole for whoever sees it, since a {@link
   * Histogram}'s fields are final and a {@link LongAdder} begins with zeros alone.
   */
  private static final class Found<T> {
    private final Supplier<T> series;
    private @Nullable T found;

    Found(Supplier<T> series) {
      this.series = series;
    }

    T get() {
      T known = found;
      if (known == null) {
        known = series.get();
        found = known;
      }
      return known;
    }
  }

  private static <T> Map<Outcome, Found<T>> found(Function<Outcome, T> series) {
    Map<Outcome, Found<T>> all = new EnumMap<>(Outcome.class);
    for (Outcome outcome : Outcome.values()) {
      all.put(outcome, new Found<>(() -> series.apply(outcome)));
    }
    return all;
  }

  private static Series<LongAdder> counters(String... labels) {
    return new Series<>(MAX_SERIES, LongAdder::new, labels);
  }

  static Series<Histogram> histograms(long[] bounds, String... labels) {
    return new Series<>(MAX_SERIES, () -> new Histogram(bounds), labels);
  }

  @Override
  public void routed(String policy, long elapsedNanos, RequestTimings timings, boolean lookedUp) {
    routed.of().record(elapsedNanos);
    queued.of().record(timings.queue().toNanos());
    if (lookedUp) {
      this.lookedUp.of().record(timings.lookup().toNanos());
    }
    atPolicy(policy).decided.get().record(timings.decision().toNanos());
  }

  @Override
  public void attempting(@Nullable String worker, int number) {
    atWorker(worker).attempts.get().increment();
    if (number > 1) {
      retries.of().increment();
    }
  }

  @Override
  public void firstByte(
      @Nullable String worker, long elapsedNanos, @Nullable Duration sinceAttempt) {
    AtWorker at = atWorker(worker);
    at.firstByte.get().record(elapsedNanos);
    if (sinceAttempt != null) {
      at.attemptFirstByte.get().record(sinceAttempt.toNanos());
    }
  }

  @Override
  public void onAttemptFailed(RequestEvent event) {
    AttemptRecord failure = event.failure();
    FailurePhase phase = failure == null ? null : failure.phase();
    failures.of(named(event.worker()), phase == null ? "unknown" : label(phase)).increment();
  }

  @Override
  public void onFinished(RequestEvent event) {
    Outcome outcome = Objects.requireNonNull(event.outcome());
    get(atPolicy(event.decision().policy()).requests, outcome).increment();
    get(wholeByOutcome, outcome).record(event.elapsed().toNanos());
    Usage usage = event.usage();
    if (usage != null) {
      AtWorker at = atWorker(event.worker());
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

  private static <T> T get(Map<Outcome, Found<T>> found, Outcome outcome) {
    return Objects.requireNonNull(found.get(outcome)).get();
  }

  private AtWorker atWorker(@Nullable String worker) {
    return at(atWorkers, named(worker), AtWorker::new);
  }

  private AtPolicy atPolicy(String policy) {
    return at(atPolicies, policy, AtPolicy::new);
  }

  private static <T> T at(Map<String, T> known, String name, Function<String, T> make) {
    T found = known.get(name);
    if (found != null) {
      return found;
    }
    T made = make.apply(name);
    if (known.size() < MAX_SERIES) {
      T before = known.putIfAbsent(name, made);
      return before == null ? made : before;
    }
    return made; // one too many: its series are those of all such
  }

  private static String named(@Nullable String worker) {
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

package dev.warmpath.fake.lab;

import dev.warmpath.RouterClient;
import dev.warmpath.api.RouteDecision;
import dev.warmpath.api.RouterException;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.api.RouterStream;
import dev.warmpath.api.StreamEvent;
import dev.warmpath.fake.load.Measurements;
import dev.warmpath.fake.load.TraceSession;
import dev.warmpath.fake.scheduler.CoreMetrics;
import dev.warmpath.fake.virtual.EventKind;
import dev.warmpath.fake.virtual.VirtualTime;
import dev.warmpath.policy.RoutingPolicy;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Consumer;

/**
 * One fleet, its clients and their users under one policy, from empty caches to the last answer.
 * Single use; everything happens on the calling thread and on threads that take turns with it.
 */
final class LabRun implements AutoCloseable {
  /** Users come when clients have looked at every worker and read its load. */
  private static final double USERS_COME_MS = 3_000;

  /** How often workers are looked at for the report. */
  private static final double SAMPLE_MS = 1_000;

  private static final String BODY = "{\"model\":\"" + LabRequest.MODEL + "\",\"stream\":true}";

  private final LabSettings settings;
  private final VirtualTime time = new VirtualTime();
  private final Turns turns = new Turns();
  private final LabClock clock = new LabClock(time, turns);
  private final LabNetwork network;
  private final List<RouterClient> clients = new ArrayList<>();
  private final SplittableRandom random;
  private final Measurements measured;
  private final Map<String, List<LabResult.Sample>> samples = new LinkedHashMap<>();
  private final Consumer<LabDecision> decisions;
  private final RankDrives drives;
  private long sent;
  private int openSessions;

  /**
   * Builds the fleet and its clients.
   *
   * @param policy makes the policy, which may look into the network if it is the oracle
   * @param decisions hears where each request went
   * @param drives lets the workers compute
   */
  LabRun(
      LabSettings settings,
      LabPolicy.Maker policy,
      Consumer<LabDecision> decisions,
      RankDrives drives) {
    this.settings = settings;
    this.drives = drives;
    this.decisions = decisions;
    this.random = new SplittableRandom(settings.seed());
    this.network =
        new LabNetwork(time, turns, LabFleet.start(settings, time, drives), settings.roundTripMs());
    RoutingPolicy routing = policy.make(network, settings);
    SplittableRandom seeds = random.split();
    for (int i = 0; i < settings.clients(); i++) {
      clients.add(client(routing, seeds.nextLong()));
    }
    this.measured =
        new Measurements(clock.nanoTime() + nanos(USERS_COME_MS), network.workers().keySet());
  }

  private static long nanos(double millis) {
    return (long) (millis * 1e6);
  }

  private RouterClient client(RoutingPolicy policy, long seed) {
    RouterClient.Builder builder =
        RouterClient.builder()
            .transport(new LabTransport(network))
            .scheduler(clock)
            .healthExecutor(
                task ->
                    time.schedule(time.nowMs() + settings.roundTripMs(), EventKind.ARRIVAL, task))
            .executor(turns::start)
            .promptSource(network)
            .policy(policy)
            .health(settings.health())
            .admission(settings.admission())
            .indexBytes(settings.indexBytes())
            .seed(seed);
    network.workers().keySet().forEach(builder::worker);
    return builder.build();
  }

  /**
   * Runs every session to its end.
   *
   * @param policy the name the result goes under
   */
  LabResult run(String policy, List<TraceSession> sessions) {
    long started = System.nanoTime();
    openSessions = sessions.size();
    if (settings.concurrency() > 0) {
      ArrayDeque<TraceSession> queue = new ArrayDeque<>(sessions);
      for (int i = 0; i < Math.min(settings.concurrency(), sessions.size()); i++) {
        at(USERS_COME_MS, () -> turns.start(() -> closedLoop(queue)));
      }
    } else {
      double first = sessions.isEmpty() ? 0 : sessions.get(0).arrivalMs();
      for (TraceSession session : sessions) {
        double due = (session.arrivalMs() - first) / settings.speedup();
        at(USERS_COME_MS + due, () -> turns.start(() -> converse(session)));
      }
    }
    at(USERS_COME_MS, this::sample);
    while (openSessions > 0) {
      if (!drives.step(time)) {
        throw new IllegalStateException(openSessions + " sessions wait for nothing");
      }
      clock.wakeLatchWaits();
    }
    return result(policy, started);
  }

  private void at(double millis, Runnable action) {
    time.schedule(millis, EventKind.ARRIVAL, action);
  }

  private void sample() {
    double seconds = (time.nowMs() - USERS_COME_MS) / 1e3;
    network
        .workers()
        .forEach(
            (url, worker) -> {
              int running = 0;
              int waiting = 0;
              double usage = 0;
              for (LabRank rank : worker.ranks()) {
                CoreMetrics metrics = rank.snapshot().metrics();
                running += metrics.running();
                waiting += metrics.waiting();
                usage += metrics.usage() / worker.ranks().size();
              }
              samples
                  .computeIfAbsent(url, fresh -> new ArrayList<>())
                  .add(new LabResult.Sample(seconds, running, waiting, usage));
            });
    at(time.nowMs() + SAMPLE_MS, this::sample);
  }

  private void closedLoop(ArrayDeque<TraceSession> queue) {
    for (TraceSession next = queue.poll(); next != null; next = queue.poll()) {
      converse(next);
    }
  }

  private void converse(TraceSession session) {
    try {
      for (int turn = 0; turn < session.turns().size(); turn++) {
        double delayMs = session.turns().get(turn).delayAfterPreviousMs();
        if (delayMs > 0) {
          clock.sleepUntil(time.nowMs() + delayMs / settings.speedup());
        }
        LabRequest request = LabRequest.of(session, turn, settings.maxOutputTokens());
        if (sent >= settings.maxRequests() || !ask(request)) {
          return; // without an answer there is no next request
        }
      }
    } finally {
      openSessions--;
    }
  }

  private boolean ask(LabRequest request) {
    String number = Long.toString(++sent);
    RouterClient client =
        clients.size() == 1 ? clients.get(0) : clients.get(random.nextInt(clients.size()));
    network.begin(number, request);
    long sentAt = clock.nanoTime();
    try (RouterStream stream =
        client.stream(
            RouterRequest.builder(RouterRequest.COMPLETIONS)
                .body(BODY)
                .header(LabNetwork.REQUEST_HEADER, number)
                .deadline(settings.deadline())
                .build())) {
      long first = clock.nanoTime();
      RouteDecision.CandidateView chosen = stream.decision().chosen();
      if (chosen != null) {
        decisions.accept(
            new LabDecision(sent, sentAt, chosen.worker(), chosen.rank(), chosen.matchedTokens()));
      }
      for (StreamEvent event = stream.next(); event != null; event = stream.next()) {
        // The last one carries the counts.
      }
      long end = clock.nanoTime();
      measured.succeeded(
          chosen == null ? "unknown" : chosen.worker(),
          sentAt,
          first,
          end,
          gaps(first, end, request.outputTokens()),
          stream.usage());
      return true;
    } catch (RouterException e) {
      measured.failed(e.getClass().getSimpleName().replace("Exception", ""), clock.nanoTime());
      return false;
    } finally {
      network.end(number);
    }
  }

  /** The mean time between the tokens of an answer stands for all of its times. */
  private static long[] gaps(long first, long end, int tokens) {
    return tokens < 2 ? new long[0] : new long[] {(end - first) / (tokens - 1)};
  }

  private LabResult result(String policy, long started) {
    long passes = 0;
    long preemptions = 0;
    for (LabWorker worker : network.workers().values()) {
      for (LabRank rank : worker.ranks()) {
        passes += rank.snapshot().passes();
        preemptions += rank.metrics().preemptions();
      }
    }
    return new LabResult(
        measured.result(policy),
        settings.seed(),
        settings.clients(),
        (time.nowMs() - USERS_COME_MS) / 1e3,
        (System.nanoTime() - started) / 1e9,
        passes,
        preemptions,
        samples);
  }

  @Override
  public void close() {
    clients.forEach(client -> client.close(Duration.ZERO));
    network.workers().values().forEach(worker -> worker.ranks().forEach(LabRank::close));
    turns.close();
  }
}

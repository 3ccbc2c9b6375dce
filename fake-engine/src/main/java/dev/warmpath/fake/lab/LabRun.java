package dev.warmpath.fake.lab;

import dev.warmpath.RouterClient;
import dev.warmpath.Workers;
import dev.warmpath.api.RouterException;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.fake.handoff.HandoffOrder;
import dev.warmpath.fake.load.Measurements;
import dev.warmpath.fake.load.TraceRequest;
import dev.warmpath.fake.load.TraceSession;
import dev.warmpath.fake.scheduler.CoreMetrics;
import dev.warmpath.fake.virtual.EventKind;
import dev.warmpath.fake.virtual.VirtualTime;
import dev.warmpath.index.kv.KvEventSettings;
import dev.warmpath.policy.RoutingPolicy;
import dev.warmpath.worker.EngineKind;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One fleet, its clients and their users under one policy, from empty caches to the last answer.
 * Single use; everything happens on the calling thread and on threads that take turns with it.
 */
final class LabRun implements AutoCloseable {
  /** How often workers are looked at for the report. */
  private static final double SAMPLE_MS = 1_000;

  private static final String BODY = "{\"model\":\"" + LabRequest.MODEL + "\",\"stream\":true}";

  /** KV is injected into chats only. */
  private static final String CHAT =
      "{\"model\":\""
          + LabRequest.MODEL
          + "\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"?\"}]}";

  private final LabSettings settings;
  private final VirtualTime time = new VirtualTime();
  private final Turns turns = new Turns();
  private final LabClock clock = new LabClock(time, turns);
  private final @Nullable LabEvents events;
  private final LabNetwork network;
  private final @Nullable LabKdns kdns;
  private final List<LabClient> clients = new ArrayList<>();
  private final SplittableRandom random;
  private Measurements measured;
  private final Map<String, List<LabResult.Sample>> samples = new LinkedHashMap<>();
  private final LabObserver observer;
  private final RankDrives drives;
  private long sent;
  private int openSessions;
  private double lastProgressMs;

  /**
   * Builds the fleet and its clients.
   *
   * @param policy makes the policy, which may look into the network if it is the oracle
   * @param observer hears what becomes of each request
   * @param drives lets the workers compute
   */
  LabRun(LabSettings settings, LabPolicy.Maker policy, LabObserver observer, RankDrives drives) {
    this.settings = settings;
    this.drives = drives;
    this.observer = observer;
    this.random = new SplittableRandom(settings.seed());
    HandoffOrder order =
        settings.engine() == EngineKind.SGLANG
            ? HandoffOrder.DESTINATION_FIRST
            : HandoffOrder.SOURCE_FIRST;
    this.events =
        Double.isNaN(settings.eventDelayMs()) ? null : new LabEvents(time, settings.eventDelayMs());
    this.network =
        new LabNetwork(
            time,
            turns,
            LabFleet.start(settings, time, drives, events),
            settings.roundTripMs(),
            order);
    LabKnowledge knowledge = settings.knowledge();
    this.kdns =
        knowledge == null ? null : new LabKdns(knowledge, network, settings.core().blockSize());
    RoutingPolicy routing = policy.make(network, settings);
    SplittableRandom seeds = random.split();
    for (int i = 0; i < settings.clients(); i++) {
      Path kept = i == settings.clients() - 1 ? settings.branchFile() : null;
      clients.add(new LabClient(clock, router(routing, seeds.nextLong(), kept)));
    }
    this.measured = measurements(clock.nanoTime() + nanos(settings.settleMs()));
  }

  /** Of the workers that compute prompts. */
  private Measurements measurements(long fromNanos) {
    return new Measurements(fromNanos, network.computing().stream().map(LabWorker::url).toList());
  }

  private static long nanos(double millis) {
    return (long) (millis * 1e6);
  }

  /** The policy chooses for both roles of a pair, for each with a state of its own. */
  private RouterClient router(RoutingPolicy policy, long seed, @Nullable Path branchFile) {
    RouterClient.Builder builder =
        RouterClient.builder()
            .transport(new LabTransport(network))
            .scheduler(clock)
            .healthExecutor(
                task ->
                    time.schedule(time.nowMs() + settings.roundTripMs(), EventKind.ARRIVAL, task))
            .executor(clock::startTurn)
            .promptSource(network)
            .policy(policy)
            .prefillPolicy(policy)
            .decodePolicy(policy)
            .health(settings.health())
            .admission(settings.admission())
            .indexBytes(settings.indexBytes())
            .seed(seed);
    LabEvents told = events;
    if (told != null) {
      builder
          .kvSubscriber(told.subscriber())
          .kvEvents(KvEventSettings.DEFAULT.withBudgetBytes(settings.indexBytes()));
    }
    if (branchFile != null) {
      builder.branchFile(branchFile);
    }
    network.workers().values().stream()
        .filter(worker -> !joinsLater(worker))
        .forEach(worker -> builder.worker(spec(worker)));
    LabKdns nodes = kdns;
    if (nodes != null) {
      builder.knowledge(nodes.routing(clock));
    }
    return builder.build();
  }

  private String spec(LabWorker worker) {
    return kdns == null ? worker.url() : kdns.spec(worker.url());
  }

  /**
   * Runs every session to its end.
   *
   * @param policy the name the result goes under
   */
  LabResult run(String policy, List<TraceSession> sessions) {
    long started = System.nanoTime();
    openSessions = sessions.size();
    double patienceMs = patienceMs(sessions);
    LabKdns nodes = kdns;
    if (nodes != null) {
      sessions.forEach(nodes::learn);
    }
    if (settings.concurrency() > 0) {
      ArrayDeque<TraceSession> queue = new ArrayDeque<>(sessions);
      for (int i = 0; i < Math.min(settings.concurrency(), sessions.size()); i++) {
        at(settings.settleMs(), () -> turns.start(() -> closedLoop(queue)));
      }
    } else {
      double first = sessions.isEmpty() ? 0 : sessions.get(0).arrivalMs();
      for (TraceSession session : sessions) {
        double due = (session.arrivalMs() - first) / settings.speedup();
        at(settings.settleMs() + due, () -> turns.start(() -> converse(session)));
      }
    }
    at(settings.settleMs(), this::sample);
    settings.incidents().forEach(this::plan);
    while (openSessions > 0) {
      if (!drives.step(time)) {
        throw new IllegalStateException(openSessions + " sessions wait for nothing");
      }
      clock.wakeLatchWaits();
      if (time.nowMs() - lastProgressMs > patienceMs) {
        throw new IllegalStateException(
            openSessions + " sessions have not gone on for " + patienceMs / 1e3 + " s");
      }
    }
    return result(policy, started);
  }

  /** No request takes longer than its deadline, and no user thinks for longer than the longest. */
  private double patienceMs(List<TraceSession> sessions) {
    double think = 0;
    double gap = 0;
    double before = sessions.isEmpty() ? 0 : sessions.get(0).arrivalMs();
    for (TraceSession session : sessions) {
      gap = Math.max(gap, session.arrivalMs() - before);
      before = session.arrivalMs();
      for (TraceRequest turn : session.turns()) {
        think = Math.max(think, turn.delayAfterPreviousMs());
      }
    }
    return 2.0 * settings.deadline().toMillis() + (think + gap) / settings.speedup() + 60_000;
  }

  private void plan(LabIncident incident) {
    double at = settings.settleMs() + incident.atMs();
    LabWorker worker =
        Objects.requireNonNull(network.worker(LabFleet.url(incident.worker())), "worker");
    switch (incident.kind()) {
      case FLUSH -> at(at, () -> worker.ranks().forEach(LabRank::flush));
      case RESTART -> {
        at(at, worker::die);
        at(at + incident.downMs(), worker::comeBack);
      }
      case REMOVE -> at(at, () -> change(workers -> workers.remove(worker.url())));
      case ADD -> at(at, () -> change(workers -> workers.add(worker.url())));
    }
  }

  private void change(Consumer<Workers> change) {
    clients.forEach(client -> change.accept(client.workers()));
  }

  /** Whether a worker joins the fleet later. */
  private boolean joinsLater(LabWorker worker) {
    return settings.incidents().stream()
        .filter(incident -> LabFleet.url(incident.worker()).equals(worker.url()))
        .min(Comparator.comparingDouble(LabIncident::atMs))
        .filter(first -> first.kind() == LabIncident.Kind.ADD)
        .isPresent();
  }

  private void at(double millis, Runnable action) {
    time.schedule(millis, EventKind.ARRIVAL, action);
  }

  private void sample() {
    double seconds = (time.nowMs() - settings.settleMs()) / 1e3;
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
        if (sent >= settings.maxRequests()
            || time.nowMs() - settings.settleMs() > settings.untilMs()
            || !ask(session.id(), turn, request)) {
          return; // without an answer there is no next request
        }
      }
    } finally {
      openSessions--;
    }
  }

  private int client(String session) {
    boolean cold = time.nowMs() - settings.settleMs() < settings.coldUntilMs();
    int many = cold ? Math.max(1, clients.size() - 1) : clients.size();
    if (many == 1) {
      return 0;
    }
    return settings.sticky()
        ? Math.floorMod((session.hashCode() * 0x9E3779B9) >>> 8, many)
        : random.nextInt(many);
  }

  private boolean ask(String session, int turn, LabRequest request) {
    String number = Long.toString(++sent);
    int client = client(session);
    network.begin(number, request);
    long at = sent;
    long sentAt = clock.nanoTime();
    if (at == settings.warmupRequests() + 1L && at > 1) {
      measured = measurements(sentAt);
    }
    Measurements into = measured;
    RouterRequest.Builder body =
        RouterRequest.builder(
                kdns == null ? RouterRequest.COMPLETIONS : RouterRequest.CHAT_COMPLETIONS)
            .body(kdns == null ? BODY : CHAT)
            .header(LabNetwork.REQUEST_HEADER, number)
            .deadline(settings.deadline());
    if (settings.sessionKeys()) {
      body.sessionKey(session);
    }
    LabKdns nodes = kdns;
    if (nodes != null) {
      body.knowledge(nodes.needs(request));
    }
    try {
      LabClient.Answer answer = clients.get(client).ask(body.build());
      LabClient.Chosen chosen = answer.chosen();
      if (nodes != null) {
        nodes.count(answer.knowledge());
      }
      if (chosen != null) {
        observer.decided(
            new LabDecision(at, sentAt, chosen.worker(), chosen.rank(), chosen.matchedTokens()));
      }
      observer.answered(
          new LabAnswer(
              session,
              turn,
              client,
              LabClock.millis(sentAt) - settings.settleMs(),
              LabClock.millis(answer.firstNanos()) - settings.settleMs(),
              LabClock.millis(answer.endNanos()) - settings.settleMs(),
              chosen == null ? "unknown" : chosen.worker(),
              answer.usage()));
      into.succeeded(
          chosen == null ? "unknown" : chosen.worker(),
          sentAt,
          answer.firstNanos(),
          answer.endNanos(),
          gaps(answer.firstNanos(), answer.endNanos(), request.outputTokens()),
          answer.usage());
      return true;
    } catch (RouterException e) {
      into.failed(e.getClass().getSimpleName().replace("Exception", ""), clock.nanoTime());
      return false;
    } finally {
      lastProgressMs = time.nowMs();
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
        (time.nowMs() - settings.settleMs()) / 1e3,
        (System.nanoTime() - started) / 1e9,
        passes,
        preemptions,
        kdns == null ? LabTransfers.NONE : kdns.transfers(),
        samples);
  }

  @Override
  public void close() {
    clients.forEach(LabClient::close);
    network.workers().values().forEach(worker -> worker.ranks().forEach(LabRank::close));
    turns.close();
  }
}

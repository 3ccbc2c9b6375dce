package dev.warmpath.health;

import dev.warmpath.health.HealthListener.AvailabilityChange;
import dev.warmpath.health.HealthListener.DegradationChange;
import dev.warmpath.health.ProbeRecord.Verdict;
import dev.warmpath.health.RestartWatch.Sign;
import dev.warmpath.transport.LoadReport;
import dev.warmpath.transport.RankLoad;
import dev.warmpath.transport.Transport;
import dev.warmpath.worker.EngineKind;
import dev.warmpath.worker.Scheduler;
import dev.warmpath.worker.Worker;
import dev.warmpath.worker.WorkerCapabilities;
import java.time.Duration;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks at one worker: decides what to ask it next and when, one call at a time, and what its
 * answers mean. Lives as long as the registry names the worker, through restarts.
 *
 * <p>Confined to the monitor's scheduler, but for {@link #standing()} and the calls themselves.
 */
final class WorkerPoller {
  private static final Logger log = LoggerFactory.getLogger(HealthMonitor.class);

  /** How much longer than its timeout a call may take before it is interrupted. */
  private static final Duration GRACE = Duration.ofSeconds(1);

  private final HealthMonitor monitor;
  private final @Nullable Transport transport;
  private final ProbeRecord record = new ProbeRecord();
  private final RestartWatch restarts = new RestartWatch();
  private final EnumSet<Look> due = EnumSet.noneOf(Look.class);
  private final Map<Look, Timer> timers = new EnumMap<>(Look.class);
  private Worker worker;
  private List<RankState> states = List.of();
  private List<RankWatch> watches = List.of();
  private final SlowStart slowStart = new SlowStart();
  private final AtomicBoolean failureQueued = new AtomicBoolean();
  private PollPace pace;
  private @Nullable WorkerCall running;
  private @Nullable Suspicion suspicion;
  private Availability published = Availability.UNKNOWN;
  private volatile Standing standing;

  /** Whether load and capabilities are looked at: only of workers that answer. */
  private boolean active;

  /** Whether this incarnation has said what it is. */
  private boolean introduced;

  /** Whether the change of epoch under way is this poller's own doing. */
  private boolean renewing;

  private boolean slow;
  private boolean closed;
  private int refusedProbes;
  private long lastProbeNanos;
  private boolean lastProbeAnswered;
  private long countedSuccessNanos = RankState.NEVER;

  /** What can be asked, most urgent first. */
  enum Look {
    /** What are you? */
    CAPABILITIES,
    /** How loaded are you? */
    LOAD,
    /** Do you live? */
    HEALTH
  }

  /** What views show beside the ranks' states. Immutable. */
  record Standing(String detail, long sinceNanos) {
    static Standing initial(long nowNanos) {
      return new Standing("not looked at yet", nowNanos);
    }
  }

  /**
   * A restart that has shown itself, and waits for what the new incarnation says of itself.
   *
   * @param reason for people
   * @param certain whether nothing can clear the worker any more
   * @param introduction what it said of itself, once asked
   */
  private record Suspicion(
      String reason, boolean certain, @Nullable WorkerCapabilities introduction) {}

  private record Timer(Scheduler.Task task, long dueNanos) {}

  WorkerPoller(HealthMonitor monitor, Worker worker, @Nullable Transport transport) {
    this.monitor = monitor;
    this.worker = worker;
    this.transport = transport;
    this.pace = new PollPace(monitor.settings().loadMin().toNanos());
    this.standing = Standing.initial(monitor.nanoTime());
    if (transport == null) {
      standing = new Standing("no transport for " + worker.id().scheme(), monitor.nanoTime());
    }
  }

  Standing standing() {
    return standing;
  }

  FleetJudge.Subject subject() {
    return new FleetJudge.Subject(worker, record.verdict());
  }

  /** Takes the worker as the newest topology shows it. */
  void update(FleetView view, Worker latest) {
    boolean first = states.isEmpty();
    boolean renewed = !first && latest.epoch() != worker.epoch();
    boolean respecified = !latest.spec().equals(worker.spec());
    worker = latest;
    if (first || renewed) {
      states = latest.ranks().stream().map(view::state).toList();
      countedSuccessNanos = RankState.NEVER;
      long now = monitor.nanoTime();
      watches = states.stream().map(state -> new RankWatch(state, slowStart, now)).toList();
      states.forEach(state -> state.watchedBy(witness));
    }
    if (renewed) {
      recovered(); // its new states know of no trouble, nor of what is left of a slow start
    }
    if (renewed && !renewing) {
      // Somebody else has noticed a restart.
      restarts.restarted(null);
      startOver();
      introduced = false;
    }
    if (first || respecified || (renewed && !renewing)) {
      askSoon(Look.CAPABILITIES);
      askSoon(Look.HEALTH);
    }
    if (active && (renewed || respecified)) {
      askSoon(Look.LOAD);
    }
  }

  private void startOver() {
    suspicion = null;
    pace = new PollPace(monitor.settings().loadMin().toNanos());
  }

  /** Shows an availability; tells of the change, if it is one. */
  @Nullable AvailabilityChange publish(Availability availability) {
    Availability before = published;
    published = availability;
    if (availability == Availability.UP && before.compareTo(Availability.UNKNOWN) > 0) {
      recovered(); // before the states say so: no decision may see it whole
    }
    for (RankState state : states) {
      if (state.probed() != availability) {
        state.probed(availability);
      }
    }
    // After the writing: see RankState.alive.
    if (availability != Availability.UP && newSuccess()) {
      monitor.post(this::revived);
    }
    if (before == availability) {
      return null;
    }
    standing = new Standing(standing.detail(), monitor.nanoTime());
    return new AvailabilityChange(
        worker, before, availability, standing.detail(), standing.sinceNanos());
  }

  /** A request has succeeded on a worker that was not held for up. */
  private void revived() {
    if (!closed && newSuccess()) {
      countedSuccessNanos = lastSuccess();
      record.alive();
      detail("a request succeeded");
      activate();
      monitor.judgeSoon();
    }
  }

  /** What its ranks' states tell between two looks; on the threads that requests end on. */
  private final RankState.Witness witness =
      new RankState.Witness() {
        @Override
        public void revived() {
          monitor.post(WorkerPoller.this::revived);
        }

        @Override
        public void failed() {
          if (failureQueued.compareAndSet(false, true)) {
            monitor.post(WorkerPoller.this::failing);
          }
        }

        @Override
        public void released() {
          monitor.post(WorkerPoller.this::recovered);
        }
      };

  /** Requests fail there: it is looked at early, and counts as failing at once if it is. */
  private void failing() {
    failureQueued.set(false);
    if (!closed) {
      hurry();
      look(monitor.latency());
    }
  }

  /** It is to be used again, little at first. */
  private void recovered() {
    if (!closed) {
      slowStart.begin(monitor.settings().degradation(), monitor.nanoTime());
      look(monitor.latency());
    }
  }

  /** Works out anew how degraded its ranks are, by what time and own requests tell. */
  void look(FleetLatency fleet) {
    double median = fleet.median(worker);
    for (int i = 0; i < watches.size(); i++) {
      long now = monitor.nanoTime();
      tell(i, watches.get(i).look(median, monitor.settings(), now), now);
    }
  }

  private void tell(int rank, @Nullable Degradation before, long now) {
    if (before != null) {
      RankState state = states.get(rank);
      monitor.tell(new DegradationChange(state.target(), before, state.degradation(), now));
    }
  }

  /** Looks at its health as soon as may be. */
  void hurry() {
    Duration least =
        lastProbeAnswered ? betweenAnsweredProbes() : monitor.settings().recheckInterval();
    Timer timer = timers.get(Look.HEALTH);
    long earliest = lastProbeNanos + least.toNanos();
    if (timer != null && timer.dueNanos() - earliest > 0) {
      arm(Look.HEALTH, Duration.ofNanos(earliest - monitor.nanoTime()));
    }
  }

  void close() {
    closed = true;
    timers.values().forEach(timer -> timer.task().cancel());
    timers.clear();
    states.forEach(state -> state.watchedBy(null));
    WorkerCall call = running;
    if (call != null) {
      call.unwatch();
      call.callOff();
    }
  }

  // When to ask what

  private void askSoon(Look look) {
    disarm(look);
    due.add(look);
    pump();
  }

  private void arm(Look look, Duration delay) {
    disarm(look);
    if (!closed) {
      timers.put(
          look,
          new Timer(
              monitor.schedule(delay, () -> fire(look)), monitor.nanoTime() + delay.toNanos()));
    }
  }

  private void disarm(Look look) {
    Timer timer = timers.remove(look);
    if (timer != null) {
      timer.task().cancel();
    }
  }

  private void fire(Look look) {
    timers.remove(look);
    if (look == Look.HEALTH && !worthProbing()) {
      return;
    }
    due.add(look);
    pump();
  }

  private boolean worthProbing() {
    WorkerCall call = running;
    if (call != null && call.overdue()) {
      // It still holds its thread: no other is given to it, and its silence goes on.
      probed(ProbeSignal.SLOW, monitor.nanoTime(), "does not answer");
      return false;
    }
    long success = lastSuccess();
    long age = monitor.nanoTime() - success;
    long interval = monitor.settings().probeInterval().toNanos();
    if (record.settled() && success != RankState.NEVER && age < interval) {
      arm(Look.HEALTH, Duration.ofNanos(interval - age));
      return false;
    }
    return true;
  }

  private void pump() {
    if (closed || running != null || due.isEmpty() || transport == null) {
      return;
    }
    Look look = due.iterator().next();
    due.remove(look);
    disarm(look);
    if (look == Look.LOAD) {
      states.forEach(RankState::sampling);
    }
    HealthSettings settings = monitor.settings();
    Duration timeout =
        switch (look) {
          case CAPABILITIES -> settings.capabilityTimeout();
          case LOAD -> settings.loadTimeout();
          case HEALTH -> settings.probeTimeout();
        };
    WorkerCall call = new WorkerCall(this, look, worker, transport, timeout, monitor.nanoTime());
    CallLanes lanes = monitor.lanes();
    running = call;
    try {
      (slow || look == Look.HEALTH ? lanes.patient() : lanes.quick()).execute(call);
      watch(call, timeout.plus(GRACE));
    } catch (RejectedExecutionException e) {
      running = null;
      arm(look, settings.probeInterval());
    }
  }

  private void watch(WorkerCall call, Duration after) {
    call.watch(
        monitor.schedule(
            after,
            () -> {
              if (running == call && !call.overdue()) {
                Duration left = call.left(GRACE, monitor.nanoTime());
                if (left.isZero() || left.isNegative()) {
                  call.giveUp();
                  take(call, WorkerCall.Answer.without(ProbeSignal.SLOW, "does not answer"));
                } else {
                  watch(call, left);
                }
              }
            }));
  }

  /** Hears, on the call's thread, that it has ended. */
  void ended(WorkerCall call, WorkerCall.Answer answer) {
    monitor.post(
        () -> {
          call.unwatch();
          running = null;
          if (closed) {
            return;
          }
          if (!call.overdue()) {
            take(call, answer);
          }
          pump();
        });
  }

  long nanoTime() {
    return monitor.nanoTime();
  }

  // What answers mean

  private void take(WorkerCall call, WorkerCall.Answer answer) {
    slow = answer.signal() == ProbeSignal.SLOW;
    if (answer.signal() == ProbeSignal.REFUSED) {
      restarts.refused();
    } else if (answer.signal() != ProbeSignal.INCONCLUSIVE
        && answer.signal() != ProbeSignal.SLOW
        && restarts.answered()) {
      suspect(new Suspicion("it answers again after refusing connections", false, null));
    }
    if (call.worker().epoch() != worker.epoch()) {
      due.add(call.look());
      return;
    }
    switch (call.look()) {
      case CAPABILITIES -> introduced(answer);
      case LOAD -> loaded(call, answer);
      case HEALTH -> {
        lastProbeNanos = monitor.nanoTime();
        lastProbeAnswered = answer.signal() != ProbeSignal.REFUSED;
        probed(answer.signal(), call.askedNanos(), answer.detail());
      }
    }
  }

  private void probed(ProbeSignal signal, long askedNanos, String detail) {
    HealthSettings settings = monitor.settings();
    Verdict before = record.verdict();
    refusedProbes = signal == ProbeSignal.REFUSED ? refusedProbes + 1 : 0;
    switch (signal) {
      case PASS -> record.pass(settings.passesToUp());
      case REFUSED, UNHEALTHY -> failed(askedNanos, Duration.ZERO);
      case SLOW -> failed(askedNanos, settings.proofOfLifeWindow());
      case INCONCLUSIVE -> {}
    }
    detail(detail);
    if (record.verdict() == Verdict.FAILING) {
      active = signal == ProbeSignal.PASS && active;
      if (!active) {
        due.remove(Look.LOAD);
        due.remove(Look.CAPABILITIES);
        disarm(Look.LOAD);
        disarm(Look.CAPABILITIES);
      }
    }
    if (signal == ProbeSignal.PASS) {
      activate();
    }
    if (record.verdict() != before) {
      monitor.judgeSoon();
    }
    arm(Look.HEALTH, monitor.spread(untilNextProbe(signal)));
  }

  /** Counts a failed probe, unless a request has proved the worker alive since, or just before. */
  private void failed(long askedNanos, Duration excusedFor) {
    long success = lastSuccess();
    if (newSuccess()) {
      countedSuccessNanos = success;
      record.alive();
    }
    if (success != RankState.NEVER && askedNanos - success <= excusedFor.toNanos()) {
      return;
    }
    record.fail(monitor.settings().failuresToDown());
  }

  private Duration untilNextProbe(ProbeSignal signal) {
    HealthSettings settings = monitor.settings();
    if (signal == ProbeSignal.REFUSED) {
      Duration backedOff =
          settings.recheckInterval().multipliedBy(1L << Math.min(refusedProbes - 1, 16));
      return shorter(backedOff, settings.probeInterval());
    }
    if (record.settled() || signal == ProbeSignal.INCONCLUSIVE) {
      return longer(settings.probeInterval(), betweenAnsweredProbes());
    }
    return betweenAnsweredProbes();
  }

  /** The least time between probes that a worker answers: its engine may have to work for each. */
  private Duration betweenAnsweredProbes() {
    EngineKind engine = worker.engine();
    boolean costly = engine == EngineKind.SGLANG || engine == EngineKind.UNKNOWN;
    Duration recheck = monitor.settings().recheckInterval();
    return costly ? longer(recheck, HealthSettings.SGLANG_PROBE_FLOOR) : recheck;
  }

  /** Begins to look at load and capabilities, if that has not begun. */
  private void activate() {
    if (!active) {
      active = true;
      if (!introduced || record.verdict() == Verdict.FAILING) {
        askSoon(Look.CAPABILITIES);
      } else if (!timers.containsKey(Look.CAPABILITIES)) {
        arm(Look.CAPABILITIES, nextIntroduction());
      }
      askSoon(Look.LOAD);
    }
  }

  private void introduced(WorkerCall.Answer answer) {
    if (answer.probe() == null) {
      Suspicion sure = suspicion;
      if (sure != null && sure.certain()) {
        renew(sure, WorkerCapabilities.UNKNOWN, null);
      }
      retryIntroduction(answer);
      return;
    }
    WorkerCapabilities said = answer.probe().capabilities();
    String incarnation = answer.probe().incarnation();
    Sign sign = restarts.probe(incarnation);
    noteMixed(sign);
    if (sign.restarted) {
      suspect(new Suspicion(sign.reason, true, null));
    } else if (sign == Sign.SAME) {
      acquit();
    }
    Suspicion open = suspicion;
    if (open == null) {
      learn(said);
    } else if (open.certain() || !restarts.loadsTell()) {
      renew(open, said, incarnation);
    } else {
      suspicion = new Suspicion(open.reason(), false, said);
      askSoon(Look.LOAD);
    }
    arm(
        Look.CAPABILITIES,
        answer.probe().unfinished()
            ? monitor.spread(monitor.settings().probeInterval())
            : nextIntroduction());
  }

  private Duration nextIntroduction() {
    return monitor.spread(monitor.settings().capabilityInterval());
  }

  private void retryIntroduction(WorkerCall.Answer answer) {
    if (!active) {
      return; // asked again when it answers
    }
    arm(Look.CAPABILITIES, monitor.spread(monitor.settings().probeInterval()));
    if (answer.signal() == ProbeSignal.REFUSED) {
      hurry();
    }
  }

  /** Tells the registry what the worker is; what it does not say this time stays as it was. */
  private void learn(WorkerCapabilities said) {
    introduced = true;
    WorkerCapabilities merged = said.orElse(worker.capabilities());
    if (!merged.equals(worker.capabilities())) {
      renewing = true;
      try {
        monitor.registry().discovered(worker.id(), worker.epoch(), merged);
        catchUp();
      } finally {
        renewing = false;
      }
    }
  }

  private void loaded(WorkerCall call, WorkerCall.Answer answer) {
    HealthSettings settings = monitor.settings();
    long min = settings.loadMin().toNanos();
    long max = settings.loadMax().toNanos();
    LoadReport report = answer.load();
    if (report == null) {
      pace.failed(min, max);
    } else if (sameIncarnation(report)) {
      observe(report, call.askedNanos());
      pace.reading(report.ranks(), ownInFlight(), min, max);
    }
    if (active) {
      arm(Look.LOAD, monitor.spread(Duration.ofNanos(pace.intervalNanos())));
    }
    if (answer.signal() == ProbeSignal.REFUSED) {
      hurry();
    }
    Suspicion open = suspicion;
    WorkerCapabilities introduction = open == null ? null : open.introduction();
    if (open != null && introduction != null) {
      // The load report was the last thing that could clear it, and did not.
      renew(open, introduction, null);
    }
  }

  /** Whether a load report can be of the incarnation that the states stand for. */
  private boolean sameIncarnation(LoadReport report) {
    Sign sign = restarts.load(report);
    noteMixed(sign);
    if (sign.restarted) {
      Suspicion open = suspicion;
      WorkerCapabilities introduction = open == null ? null : open.introduction();
      suspicion = null;
      suspect(new Suspicion(sign.reason, true, introduction));
    } else if (sign == Sign.SAME) {
      acquit();
    }
    return suspicion == null;
  }

  private void observe(LoadReport report, long askedNanos) {
    long now = monitor.nanoTime();
    for (int i = 0; i < states.size(); i++) {
      RankState state = states.get(i);
      RankLoad load = RankLoads.of(report.ranks(), state.target().rank().orElse(-1), states.size());
      if (load != null) {
        state.observe(new LoadSnapshot(load, askedNanos, report.source()));
        double count = report.monotonicCount();
        tell(i, watches.get(i).reading(load, count, monitor.settings(), now), now);
      }
    }
  }

  // Restarts

  private void suspect(Suspicion sign) {
    Suspicion open = suspicion;
    if (open == null || (sign.certain() && !open.certain())) {
      suspicion = sign;
      if (sign.introduction() == null) {
        due.add(Look.CAPABILITIES);
      }
    }
  }

  private void acquit() {
    Suspicion open = suspicion;
    if (open != null && !open.certain()) {
      suspicion = null;
      WorkerCapabilities introduction = open.introduction();
      if (introduction != null) {
        learn(introduction);
      }
    }
  }

  private void renew(
      Suspicion sure, WorkerCapabilities capabilities, @Nullable String incarnation) {
    log.info("Worker {} has restarted: {}", worker, sure.reason());
    restarts.restarted(incarnation);
    startOver();
    introduced = !capabilities.equals(WorkerCapabilities.UNKNOWN);
    renewing = true;
    try {
      monitor.registry().restarted(worker.id(), worker.epoch(), capabilities);
      catchUp();
    } finally {
      renewing = false;
    }
  }

  /** Takes in what this poller has just told the registry, ahead of the monitor's next round. */
  private void catchUp() {
    FleetView view = monitor.fleetView();
    Worker latest = view.topology().worker(worker.id());
    if (latest != null) {
      update(view, latest);
    }
  }

  private void noteMixed(Sign sign) {
    if (sign == Sign.MIXED) {
      log.warn(
          "Several processes take turns at worker address {}: give each an address of its own",
          worker.id());
    }
  }

  // Small facts

  private long lastSuccess() {
    long last = RankState.NEVER;
    for (RankState state : states) {
      long success = state.lastSuccessNanos();
      if (success != RankState.NEVER && (last == RankState.NEVER || success - last > 0)) {
        last = success;
      }
    }
    return last;
  }

  private boolean newSuccess() {
    long success = lastSuccess();
    return success != RankState.NEVER
        && (countedSuccessNanos == RankState.NEVER || success - countedSuccessNanos > 0);
  }

  private int ownInFlight() {
    return states.stream().mapToInt(RankState::inFlight).sum();
  }

  private void detail(String detail) {
    Standing old = standing;
    if (!Objects.equals(old.detail(), detail)) {
      standing = new Standing(detail, old.sinceNanos());
    }
  }

  private static Duration longer(Duration a, Duration b) {
    return a.compareTo(b) >= 0 ? a : b;
  }

  private static Duration shorter(Duration a, Duration b) {
    return a.compareTo(b) <= 0 ? a : b;
  }
}

package dev.warmpath.fake.study;

import dev.warmpath.fake.load.TraceSession;
import dev.warmpath.fake.virtual.EventKind;
import dev.warmpath.fake.virtual.VirtualTime;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Supplier;

/** One workload under one frozen policy. Single use, on one thread. */
final class StudyRun {
  /** Users of a closed loop think for a tenth of the time. */
  private static final double CLOSED_THINK = 0.1;

  private final StudySettings settings;
  private final String policy;
  private final StudyWorkload workload;
  private final VirtualTime time = new VirtualTime();
  private final StudyFleet fleet;
  private final List<StudyClient> clients = new ArrayList<>();
  private final List<Baseline> deciders = new ArrayList<>();
  private final SplittableRandom random;
  private final StudyMeter meter;
  private long sent;
  private long answered;
  private int next;

  StudyRun(StudySettings settings, String policy, StudyWorkload workload) {
    this.settings = settings;
    this.policy = policy;
    this.workload = workload;
    this.fleet = new StudyFleet(settings, time, workload.blockTokens());
    this.random = new SplittableRandom(settings.seed());
    this.meter = new StudyMeter(settings.workers(), workload.fromMs(), workload.untilMs());
    Supplier<Baseline> rule = StudyPolicies.arm(policy).apply(fleet);
    for (int i = 0; i < settings.clients(); i++) {
      clients.add(new StudyClient(fleet, settings.pollMs(), random.split()));
      deciders.add(rule.get());
    }
  }

  StudyResult run() {
    if (settings.users() > 0) {
      for (int i = 0; i < settings.users() * settings.workers(); i++) {
        nextOfTheList();
      }
    } else {
      arriveNext();
    }
    time.runUntilIdle();
    return meter.result(policy, sent - answered);
  }

  private void nextOfTheList() {
    if (next < workload.sessions().size()) {
      int session = next++;
      time.schedule(time.nowMs(), EventKind.ARRIVAL, () -> arrive(session, 0));
    }
  }

  private void arriveNext() {
    if (next < workload.sessions().size()) {
      int session = next++;
      time.schedule(
          workload.sessions().get(session).arrivalMs(),
          EventKind.ARRIVAL,
          () -> {
            arriveNext();
            arrive(session, 0);
          });
    }
  }

  private void arrive(int session, int turn) {
    if (time.nowMs() > workload.untilMs()) {
      return;
    }
    int family = workload.families()[session];
    StudyPrompt prompt = StudyPrompt.of(family, workload.sessions().get(session), turn);
    int of =
        settings.sticky()
            ? Math.floorMod(Rendezvous.weight(family, -2), settings.clients())
            : random.nextInt(settings.clients());
    StudyClient client = clients.get(of);
    Baseline decider = deciders.get(of);
    int worker = decider.choose(client, prompt);
    sent++;
    meter.sent(family, time.nowMs(), worker);
    long believed = prompt.promptTokens() - (long) decider.believedBlocks() * prompt.blockTokens();
    client.sent(worker, believed, prompt);
    new Underway(session, prompt, client, worker, believed).send();
  }

  /** A request between its client and its worker. */
  private final class Underway implements StudyWorker.Listener {
    private final int session;
    private final StudyPrompt prompt;
    private final StudyClient client;
    private final int worker;
    private final long believedTokens;
    private final double arrivalMs = time.nowMs();

    Underway(int session, StudyPrompt prompt, StudyClient client, int worker, long believedTokens) {
      this.session = session;
      this.prompt = prompt;
      this.client = client;
      this.worker = worker;
      this.believedTokens = believedTokens;
    }

    void send() {
      StudyWorker target = fleet.worker(worker);
      if (!target.fits(prompt)) {
        throw new IllegalStateException(prompt + " fits into no cache of this fleet");
      }
      long uncached =
          prompt.promptTokens() - (long) target.cachedBlocks(prompt) * prompt.blockTokens();
      fleet.onTheWay(worker, uncached);
      later(
          () -> {
            fleet.onTheWay(worker, -uncached);
            StudyWorker.Job unused = target.submit(prompt, this);
          });
    }

    private void later(Runnable action) {
      time.schedule(time.nowMs() + StudySettings.NETWORK_MS, EventKind.ARRIVAL, action);
    }

    @Override
    public void firstToken(int cachedTokens) {
      later(
          () -> {
            client.firstToken(worker, believedTokens);
            meter.firstToken(
                arrivalMs, time.nowMs() - arrivalMs, prompt.promptTokens(), cachedTokens);
          });
    }

    @Override
    public void finished() {
      later(
          () -> {
            answered++;
            client.finished(worker, prompt);
            meter.finished(time.nowMs());
            goOn();
          });
    }

    private void goOn() {
      TraceSession of = workload.sessions().get(session);
      int turn = prompt.turn() + 1;
      boolean closed = settings.users() > 0;
      if (turn < of.turns().size()) {
        double think = of.turns().get(turn).delayAfterPreviousMs() * (closed ? CLOSED_THINK : 1);
        time.schedule(time.nowMs() + think, EventKind.ARRIVAL, () -> arrive(session, turn));
      } else if (closed) {
        nextOfTheList();
      }
    }
  }
}

package dev.warmpath.fake.live;

import dev.warmpath.fake.live.RankInbox.Mail;
import dev.warmpath.fake.scheduler.CoreMetrics;
import dev.warmpath.fake.scheduler.EngineCommand;
import dev.warmpath.fake.scheduler.EngineCore;
import dev.warmpath.fake.scheduler.EngineEffect;
import dev.warmpath.fake.scheduler.EventVisibility;
import dev.warmpath.fake.scheduler.PassResult;
import dev.warmpath.fake.scheduler.PassRun;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One rank's life between its passes, without a clock or a thread: whoever drives it tells the
 * time, in real time or not, and gets the same behaviour.
 *
 * <p>The rank takes commands and requests, computes a pass, shows what shows at its start, waits
 * for its end, shows the rest, applies the commands that came meanwhile in their order, and tries
 * the queued reservations again. During a pass only {@link EngineCommand.SubmitHandoffPrefill} and
 * {@link EngineCommand.ReserveDestination} are applied; the first other command waits for the end
 * and those behind it wait with it. After a pass that achieved nothing it waits for a command, a
 * request or the end of a transfer between tiers.
 *
 * <p>What is due at the same time happens in this order: the end of the pass, the end of a
 * transfer, commands, requests, the next pass. All times are milliseconds and never go back.
 *
 * <p>One thread at a time drives it; methods that say so may be called from any other.
 */
public final class RankProcess {

  /** What a rank is doing. */
  public enum State {
    /** It waits for something to do. */
    WAITING,
    /** It is between two passes, about to take what has arrived. */
    BETWEEN_PASSES,
    /** A pass is under way. */
    COMPUTING
  }

  /** How late the end of a pass may be noticed without the lost time being written off. */
  private static final double CATCH_UP_MS = 2;

  /** How often a deadline that stays overdue is looked at. */
  private static final double OVERDUE_RETRY_MS = 1;

  private final RankSettings settings;
  private final EngineCore core;
  private final BoundaryPublisher publisher;
  private final RankInbox inbox;
  private final CommandDesk desk;
  private volatile State state = State.WAITING;
  private volatile double slowdown = 1;
  private volatile boolean frozen;
  private volatile boolean nudged;
  private double boundaryMs;
  private double lastTickMs = Double.NEGATIVE_INFINITY;

  private boolean runsAhead;
  private double aheadFromMs = Double.NaN;

  private @Nullable PassResult pass;
  private @Nullable CoreMetrics stateAtPassEnd;
  private double passEndMs;
  private @Nullable Mail deferred;

  /**
   * Creates an idle rank and publishes its first metrics.
   *
   * @param settings what it is
   * @param core the scheduler, from now on used by this rank alone
   * @param nowMs the present time
   */
  public RankProcess(RankSettings settings, EngineCore core, double nowMs) {
    this.settings = Objects.requireNonNull(settings, "settings");
    this.core = Objects.requireNonNull(core, "core");
    this.inbox = new RankInbox(settings.commandCapacity());
    this.publisher = new BoundaryPublisher(settings, core.eventVisibility(), core.metrics(), nowMs);
    this.desk = new CommandDesk(core, publisher);
  }

  RankInbox inbox() {
    return inbox;
  }

  /**
   * Posts a request or a command about the whole engine. From any thread.
   *
   * @param command the command
   * @param listener hears about the request
   * @param reply hears the answer, or null
   */
  public void post(EngineCommand command, RankListener listener, @Nullable CommandListener reply) {
    inbox.post(new Mail(command, listener, reply));
  }

  /**
   * Posts a command about a handoff if there is room. From any thread.
   *
   * @param command the command
   * @param listener hears about the request that the command brings
   * @param reply hears the answer, or null
   * @return false if too many are waiting
   */
  public boolean offer(
      EngineCommand command, RankListener listener, @Nullable CommandListener reply) {
    return inbox.offer(new Mail(command, listener, reply));
  }

  /**
   * Tells whether a command goes through {@link #offer} rather than {@link #post}.
   *
   * @param command the command
   * @return whether it is about a handoff
   */
  public static boolean aboutHandoff(EngineCommand command) {
    return RankInbox.aboutHandoff(command);
  }

  /**
   * Gives the lifecycle of handoffs to its single owner, who hears it before the observer.
   *
   * @param owner hears the effects, in order
   * @return false if it has an owner already
   */
  public boolean takeLifecycle(Consumer<List<EngineEffect>> owner) {
    return publisher.takeLifecycle(owner);
  }

  /**
   * Stretches the passes that start from now on. From any thread.
   *
   * @param factor multiplies their duration, more than 0
   */
  public void slowdown(double factor) {
    if (!(factor > 0)) {
      throw new IllegalArgumentException("factor must be more than 0, was " + factor);
    }
    slowdown = factor;
  }

  /**
   * Stops or restarts the scheduler as a stuck process would: commands are taken, no pass begins.
   * From any thread.
   *
   * @param stuck whether to be stuck
   */
  public void freeze(boolean stuck) {
    frozen = stuck;
    nudged = true;
  }

  /**
   * Lets passes that only generate run ahead of time. What they did is worked out when something
   * else happens, which must then begin with {@link #catchUp}. The results are the same, but
   * listeners hear of several tokens at once. Without effect while the rank has an observer or is
   * slowed down.
   *
   * @param allowed whether to run ahead from the next pass on
   */
  public void runAhead(boolean allowed) {
    runsAhead = allowed;
  }

  /**
   * Works out the passes that have begun by now, if it runs ahead.
   *
   * @param nowMs the present time
   * @param endsAtNow whether a pass that ends exactly now has ended
   * @return whether it ran ahead
   */
  public boolean catchUp(double nowMs, boolean endsAtNow) {
    if (Double.isNaN(aheadFromMs)) {
      return false;
    }
    double fromMs = aheadFromMs;
    aheadFromMs = Double.NaN;
    double latestMs = endsAtNow ? nowMs : Math.nextDown(nowMs);
    double endedMs =
        latestMs >= passEndMs ? passEndMs : core.quietUntilMs(fromMs, Math.max(fromMs, latestMs));
    if (endedMs > fromMs) {
      PassRun run = core.executeQuietPasses(fromMs, endedMs);
      if (run.endMs() != endedMs) {
        throw new IllegalStateException(
            "quiet passes were foreseen until " + endedMs + " ms but ended at " + run.endMs());
      }
      lastTickMs = fromMs;
      state = State.BETWEEN_PASSES;
      boundaryMs = endedMs;
      publisher.quietPassesEnded(run, core.metrics());
    }
    if (endedMs < latestMs || endedMs == fromMs) {
      beginPass(endedMs);
    }
    return true;
  }

  /**
   * Returns what it is doing.
   *
   * @return the state
   */
  public State state() {
    return state;
  }

  /**
   * Returns what it published last. From any thread.
   *
   * @param nowMs the present time
   * @param idle whether it is known to do nothing
   * @return an immutable snapshot
   */
  public RankSnapshot snapshot(double nowMs, boolean idle) {
    return publisher.snapshot(nowMs, idle);
  }

  /**
   * Tells whether something was posted that it would take now. From any thread.
   *
   * @return whether {@link #advance} has something to do before {@link #nextMs}
   */
  public boolean hasMail() {
    return switch (state) {
      case COMPUTING -> settings.handoffs() && deferred == null && inbox.hasCommands();
      case WAITING -> nudged || inbox.hasRequests() || (settings.handoffs() && inbox.hasCommands());
      case BETWEEN_PASSES -> false;
    };
  }

  /**
   * Tells when {@link #advance} has something to do if nothing is posted.
   *
   * @return the time, or positive infinity
   */
  public double nextMs() {
    return switch (state) {
      case COMPUTING -> Math.min(passEndMs, deadlineMs());
      case BETWEEN_PASSES -> boundaryMs;
      case WAITING -> deadlineMs();
    };
  }

  /**
   * Tells whether the next thing in time is the end of a pass.
   *
   * @return false if it is the end of a transfer, or no pass is under way
   */
  public boolean passEndIsNext() {
    return state == State.COMPUTING && passEndMs <= deadlineMs();
  }

  /** When a transfer ends; a deadline that has been looked at in vain comes back a little later. */
  private double deadlineMs() {
    double deadline = core.nextDeadlineMs();
    return deadline > lastTickMs ? deadline : lastTickMs + OVERDUE_RETRY_MS;
  }

  /**
   * Does what is due, one step at a time: ends a pass, takes what arrived and begins one, or takes
   * what may be taken during one.
   *
   * @param nowMs the present time
   */
  public void advance(double nowMs) {
    switch (state) {
      case COMPUTING -> {
        if (nowMs >= passEndMs) {
          endPass(nowMs);
        } else {
          duringPass(nowMs);
        }
      }
      case BETWEEN_PASSES -> betweenPasses(Math.max(boundaryMs, nowMs - CATCH_UP_MS));
      case WAITING -> betweenPasses(nowMs);
    }
  }

  private void duringPass(double nowMs) {
    if (deadlineMs() <= nowMs) {
      lastTickMs = nowMs;
      List<EngineEffect> effects = core.tick(nowMs, false);
      if (!effects.isEmpty()) {
        publisher.transferDuringPass(effects, nowMs);
      }
    }
    if (!settings.handoffs()) {
      return;
    }
    while (deferred == null) {
      Mail mail = inbox.pollCommand();
      if (mail == null) {
        return;
      }
      boolean harmless =
          mail.command() instanceof EngineCommand.SubmitHandoffPrefill
              || mail.command() instanceof EngineCommand.ReserveDestination;
      if (!harmless) {
        deferred = mail;
        return;
      }
      desk.applyDuringPass(mail, nowMs);
    }
  }

  private void endPass(double nowMs) {
    if (catchUp(passEndMs, true)) {
      return;
    }
    PassResult ended = Objects.requireNonNull(pass, "pass");
    CoreMetrics asComputed = Objects.requireNonNull(stateAtPassEnd, "stateAtPassEnd");
    double endMs = passEndMs;
    pass = null;
    stateAtPassEnd = null;
    state = State.BETWEEN_PASSES;
    boundaryMs = Math.max(endMs, nowMs - CATCH_UP_MS);
    boolean live = core.eventVisibility() == EventVisibility.PASS_START;
    publisher.passEnded(
        ended,
        live ? core.metrics() : asComputed,
        requestId -> desk.drop(requestId, endMs),
        core::metrics,
        endMs);
    boolean heard = false;
    if (deferred != null) {
      Mail mail = deferred;
      deferred = null;
      desk.applyAtBoundary(mail, boundaryMs);
      heard = true;
    }
    heard |= takeCommands(boundaryMs);
    boolean reserved = retryDestinations(boundaryMs);
    if (!ended.progressed() && !heard && !reserved && !inbox.hasRequests()) {
      state = State.WAITING;
    }
  }

  private void betweenPasses(double nowMs) {
    nudged = false;
    boolean heard = takeCommands(nowMs);
    boolean arrived = takeRequests(nowMs);
    if (heard || arrived) {
      retryDestinations(nowMs);
    }
    if (deadlineMs() <= nowMs) {
      lastTickMs = nowMs;
      List<EngineEffect> effects = core.tick(nowMs, true);
      if (!effects.isEmpty()) {
        publisher.progressAtBoundary(effects, core.metrics(), nowMs);
      }
    }
    if (!frozen && core.hasWork()) {
      if (!beginRun(nowMs)) {
        beginPass(nowMs);
      }
      return;
    }
    state = State.WAITING;
    if (arrived) {
      publisher.metrics(core.metrics(), nowMs);
    }
  }

  private boolean beginRun(double nowMs) {
    boolean exact =
        runsAhead
            && slowdown == 1
            && settings.observer() == RankObserver.NONE
            && core.nextDeadlineMs() == Double.POSITIVE_INFINITY;
    double endMs = exact ? core.quietUntilMs(nowMs, Double.POSITIVE_INFINITY) : nowMs;
    if (!(endMs > nowMs)) {
      return false;
    }
    aheadFromMs = nowMs;
    passEndMs = endMs;
    state = State.COMPUTING;
    return true;
  }

  private void beginPass(double nowMs) {
    PassResult begun = core.executePass(nowMs);
    lastTickMs = nowMs;
    pass = begun;
    stateAtPassEnd = core.metrics();
    double factor = slowdown;
    passEndMs = factor == 1 ? begun.endMs() : nowMs + begun.durationMs() * factor;
    state = State.COMPUTING;
    publisher.passStarted(begun);
  }

  private boolean takeCommands(double nowMs) {
    boolean any = false;
    if (settings.handoffs()) {
      for (Mail mail = inbox.pollCommand(); mail != null; mail = inbox.pollCommand()) {
        desk.applyAtBoundary(mail, nowMs);
        any = true;
      }
    }
    return any;
  }

  private boolean takeRequests(double nowMs) {
    boolean any = false;
    for (Mail mail = inbox.pollRequest(); mail != null; mail = inbox.pollRequest()) {
      any = true;
      if (mail.command() instanceof EngineCommand.Submit) {
        desk.submit(mail, nowMs);
      } else {
        desk.applyAtBoundary(mail, nowMs);
      }
    }
    return any;
  }

  private boolean retryDestinations(double nowMs) {
    List<EngineEffect> effects = core.retryDestinations(nowMs);
    if (effects.isEmpty()) {
      return false;
    }
    publisher.progressAtBoundary(effects, core.metrics(), nowMs);
    return true;
  }

  /**
   * Ends everything: requests hear that they were aborted, commands that they were abandoned, and
   * every block is free.
   *
   * @param nowMs the present time
   */
  public void close(double nowMs) {
    double endMs = Math.max(nowMs, state == State.COMPUTING ? passEndMs : boundaryMs);
    inbox.close();
    if (deferred != null) {
      deferred.abandon();
      deferred = null;
    }
    pass = null;
    state = State.WAITING;
    desk.abortAll(endMs);
    publisher.metrics(core.metrics(), endMs);
  }
}

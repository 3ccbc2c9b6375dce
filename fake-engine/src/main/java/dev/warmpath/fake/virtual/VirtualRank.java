package dev.warmpath.fake.virtual;

import dev.warmpath.fake.live.CommandListener;
import dev.warmpath.fake.live.RankListener;
import dev.warmpath.fake.live.RankObserver;
import dev.warmpath.fake.live.RankProcess;
import dev.warmpath.fake.live.RankSettings;
import dev.warmpath.fake.live.RankSnapshot;
import dev.warmpath.fake.scheduler.CoreMetrics;
import dev.warmpath.fake.scheduler.EngineCommand;
import dev.warmpath.fake.scheduler.EngineCore;
import dev.warmpath.fake.scheduler.EngineEffect;
import dev.warmpath.fake.scheduler.EngineRequest;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs one {@link EngineCore} in {@link VirtualTime}, as {@link dev.warmpath.fake.live.RankDriver}
 * runs one in real time, by the same rules: those of {@link RankProcess}.
 *
 * <p>Used on the thread that runs its {@link VirtualTime}. Listeners and answers are called from
 * within events, never from within {@link #submit}, {@link #cancel} or {@link #apply}, and read the
 * time of what they hear from {@link VirtualTime#nowMs()}; they may call this rank.
 */
public final class VirtualRank {
  private final VirtualTime time;
  private final RankProcess process;
  private @Nullable VirtualTimer timer;
  private @Nullable VirtualTimer mailTimer;
  private boolean advancing;

  /**
   * Creates an idle rank that computes prompts and answers alike, observed by nobody.
   *
   * @param time the time to live in
   * @param core the scheduler, from now on used by this rank alone
   */
  public VirtualRank(VirtualTime time, EngineCore core) {
    this(time, new RankSettings(0, false, 1, RankObserver.NONE), core);
  }

  /**
   * Creates an idle rank.
   *
   * @param time the time to live in
   * @param settings what it is
   * @param core the scheduler, from now on used by this rank alone
   */
  public VirtualRank(VirtualTime time, RankSettings settings, EngineCore core) {
    this.time = Objects.requireNonNull(time, "time");
    this.process = new RankProcess(settings, core, time.nowMs());
  }

  /**
   * Lets passes that only generate run ahead of the queue of events until something happens to the
   * rank, which takes a fraction of the time. Everything is as it is without, but for two things:
   * listeners hear of several tokens in one call of {@link RankListener#outputs}, from within
   * whatever method of this rank is called next, so they must not act on tokens that are neither
   * the first nor the last of their request; and of two ranks' passes that end at the same instant
   * the other one's listeners may see this one a pass later or earlier. Off at first; without
   * effect while the rank has an observer, a slowdown or transfers between tiers in flight.
   *
   * @param allowed whether to run ahead from the next pass on
   */
  public void runAhead(boolean allowed) {
    process.runAhead(allowed);
  }

  /**
   * Queues a request for the next pass.
   *
   * @param request the sequence to compute; if its id is in use on this rank it is rejected
   * @param listener hears its outcome
   */
  public void submit(EngineRequest request, RankListener listener) {
    Objects.requireNonNull(listener, "listener");
    catchUp();
    process.post(new EngineCommand.Submit(request), listener, null);
    wake();
  }

  /**
   * Drops a request at the next pass boundary. Its listener hears an abort unless it ended before.
   *
   * @param requestId the id it was submitted with; unknown ids are ignored
   */
  public void cancel(long requestId) {
    catchUp();
    process.post(new EngineCommand.Cancel(requestId), RankListener.NONE, null);
    wake();
  }

  /**
   * Applies any other command as soon as the rank may.
   *
   * @param command the command
   * @param reply hears the answer
   * @return false, and the command is lost, if it is about a handoff and too many of those wait
   */
  public boolean apply(EngineCommand command, CommandListener reply) {
    return apply(command, RankListener.NONE, reply);
  }

  /**
   * Applies a command that brings a request.
   *
   * @param command the command
   * @param listener hears what becomes of the request
   * @param reply hears the answer
   * @return false, and the command is lost, if it is about a handoff and too many of those wait
   */
  public boolean apply(EngineCommand command, RankListener listener, CommandListener reply) {
    Objects.requireNonNull(listener, "listener");
    Objects.requireNonNull(reply, "reply");
    catchUp();
    if (!RankProcess.aboutHandoff(command)) {
      process.post(command, listener, reply);
    } else if (!process.offer(command, listener, reply)) {
      return false;
    }
    wake();
    return true;
  }

  /**
   * Gives the lifecycle of handoffs to its single owner.
   *
   * @param owner hears the effects, in order
   * @return false if it has an owner already
   */
  public boolean takeLifecycle(Consumer<List<EngineEffect>> owner) {
    return process.takeLifecycle(owner);
  }

  /**
   * Stretches the passes that start from now on.
   *
   * @param factor multiplies their duration, more than 0
   */
  public void slowdown(double factor) {
    catchUp();
    process.slowdown(factor);
  }

  /**
   * Stops or restarts the scheduler as a stuck process would: commands are taken, no pass begins.
   *
   * @param stuck whether to be stuck
   */
  public void freeze(boolean stuck) {
    catchUp();
    process.freeze(stuck);
    wake();
  }

  /**
   * Returns what the rank last published, which is what an engine's load endpoints show.
   *
   * @return an immutable snapshot, up to one pass old
   */
  public RankSnapshot snapshot() {
    catchUp();
    return process.snapshot(time.nowMs(), process.state() == RankProcess.State.WAITING);
  }

  /**
   * Returns the scheduler's state that the rank last published.
   *
   * @return the metrics of {@link #snapshot()}
   */
  public CoreMetrics metrics() {
    return snapshot().metrics();
  }

  /**
   * Brings the scheduler up to the present if the rank runs ahead, for somebody who looks at the
   * scheduler itself, as nobody can with a real engine. Its state is that at the end of the pass
   * under way.
   */
  public void settle() {
    catchUp();
  }

  /** Ends everything: requests hear that they were aborted, every block is free. */
  public void close() {
    catchUp();
    process.close(time.nowMs());
    plan();
  }

  private void wake() {
    if (advancing || mailTimer != null || !process.hasMail()) {
      return;
    }
    boolean computing = process.state() == RankProcess.State.COMPUTING;
    EventKind kind = computing ? EventKind.COMMAND : EventKind.PASS_START;
    mailTimer = time.schedule(time.nowMs(), kind, this::advance);
  }

  private void catchUp() {
    if (advancing) {
      return;
    }
    advancing = true;
    boolean ranAhead;
    try {
      ranAhead = process.catchUp(time.nowMs(), time.running() != EventKind.TRANSFER);
    } finally {
      advancing = false;
    }
    if (ranAhead) {
      plan();
    }
  }

  private void advance() {
    advancing = true;
    try {
      process.advance(time.nowMs());
    } finally {
      advancing = false;
      plan();
    }
  }

  /** Schedules what comes next; whatever was scheduled before is out of date. */
  private void plan() {
    cancel(timer);
    cancel(mailTimer);
    mailTimer = null;
    double next = process.nextMs();
    timer = Double.isFinite(next) ? time.schedule(next, kindOfNext(), this::advance) : null;
    wake();
  }

  private static void cancel(@Nullable VirtualTimer planned) {
    if (planned != null) {
      planned.cancel();
    }
  }

  private EventKind kindOfNext() {
    if (process.state() == RankProcess.State.BETWEEN_PASSES) {
      return EventKind.PASS_START;
    }
    return process.passEndIsNext() ? EventKind.PASS_END : EventKind.TRANSFER;
  }
}

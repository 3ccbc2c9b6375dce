package dev.warmpath.fake.live;

import dev.warmpath.fake.internal.Threads;
import dev.warmpath.fake.live.RankInbox.Mail;
import dev.warmpath.fake.scheduler.CommandResult;
import dev.warmpath.fake.scheduler.EngineCommand;
import dev.warmpath.fake.scheduler.EngineCore;
import dev.warmpath.fake.scheduler.EngineEffect;
import dev.warmpath.fake.scheduler.EngineRequest;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs one {@link EngineCore} on a thread of its own, in the time of an {@link EngineClock}.
 *
 * <p>Requests are taken between passes, as a real engine takes them, and so are commands, but for
 * the two of a handoff that a pass does not mind. A pass lasts from its start for its modelled
 * duration, the time spent computing it included, and the next one starts where it was due to end,
 * so that wake-up delays do not add up. An idle rank sleeps until something arrives. {@link
 * RankProcess} has the rules in full, {@link RankObserver} the order in which everything shows.
 *
 * <p>All methods may be called from any thread. {@link #close()} ends the thread and frees every
 * block; listeners of unfinished requests hear that they were aborted, commands that were not taken
 * are cancelled.
 */
public final class RankDriver implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RankDriver.class);

  /** A wait of some 146 years counts as one without end. */
  private static final double FOREVER_NANOS = 0x1p62;

  private final RankProcess process;
  private final RankInbox inbox;
  private final EngineClock clock;
  private final Thread thread;
  private final long origin;
  private final BooleanSupplier woken;
  private volatile boolean waiting;
  private volatile boolean closed;

  /**
   * Starts the rank.
   *
   * @param name thread name
   * @param settings what it is
   * @param core the scheduler, from now on used by the rank's thread alone
   * @param clock the time to live in
   */
  public RankDriver(String name, RankSettings settings, EngineCore core, EngineClock clock) {
    this.clock = Objects.requireNonNull(clock, "clock");
    this.origin = clock.nanoTime();
    this.process = new RankProcess(settings, core, 0);
    this.inbox = process.inbox();
    this.woken = () -> closed || process.hasMail();
    this.thread = new Thread(this::run, name);
    thread.setDaemon(true);
    thread.setUncaughtExceptionHandler(
        (failed, e) -> LOG.error("rank {} stopped", failed.getName(), e));
    core.problems().forEach(problem -> LOG.warn("{}: {}", name, problem));
    thread.start();
  }

  /** Answers a command through a future. */
  private static final class Reply implements CommandListener {
    private final CompletableFuture<CommandResult> future = new CompletableFuture<>();

    @Override
    public void answered(CommandResult result) {
      future.complete(result);
    }

    @Override
    public void refused(IllegalArgumentException reason) {
      future.completeExceptionally(reason);
    }

    @Override
    public void abandoned() {
      future.cancel(false);
    }
  }

  /**
   * Queues a request. Never blocks.
   *
   * @param request the sequence to compute; if its id is in use on this rank it is rejected
   * @param listener hears its outcome
   */
  public void submit(EngineRequest request, RankListener listener) {
    Objects.requireNonNull(listener, "listener");
    inbox.post(new Mail(new EngineCommand.Submit(request), listener, null));
    wake();
  }

  /**
   * Drops a request at the next pass boundary. Its listener hears an abort unless it ended before.
   * Never blocks.
   *
   * @param requestId the id it was submitted with; unknown ids are ignored
   */
  public void cancel(long requestId) {
    inbox.post(new Mail(new EngineCommand.Cancel(requestId), RankListener.NONE, null));
    wake();
  }

  /**
   * Applies any other command as soon as the rank may. Commands about a handoff wait for room in
   * their lane; an aggregated rank never takes them.
   *
   * @param command the command
   * @return the answer, completed on the rank's thread; failed if the command can't be carried out,
   *     cancelled if the rank closes first
   * @throws CancellationException if the calling thread is interrupted while it waits for room
   */
  public CompletableFuture<CommandResult> apply(EngineCommand command) {
    return apply(command, RankListener.NONE);
  }

  /**
   * Applies a command that brings a request.
   *
   * @param command the command
   * @param listener hears what becomes of the request
   * @return as for {@link #apply(EngineCommand)}
   * @throws CancellationException if the calling thread is interrupted while it waits for room
   */
  public CompletableFuture<CommandResult> apply(EngineCommand command, RankListener listener) {
    Reply reply = new Reply();
    Mail mail = new Mail(command, listener, reply);
    if (RankInbox.aboutHandoff(command)) {
      try {
        inbox.put(mail);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new CancellationException("interrupted while the rank had no room for commands");
      }
    } else {
      inbox.post(mail);
    }
    wake();
    return reply.future;
  }

  /**
   * Applies a command about a handoff if its lane has room. Never blocks.
   *
   * @param command the command
   * @param listener hears what becomes of the request that it brings
   * @return the answer as for {@link #apply(EngineCommand)}, or empty if the lane is full
   */
  public Optional<CompletableFuture<CommandResult>> offer(
      EngineCommand command, RankListener listener) {
    if (!RankInbox.aboutHandoff(command)) {
      return Optional.of(apply(command, listener));
    }
    Reply reply = new Reply();
    if (!inbox.offer(new Mail(command, listener, reply))) {
      return Optional.empty();
    }
    wake();
    return Optional.of(reply.future);
  }

  private void wake() {
    if (waiting && woken.getAsBoolean()) {
      LockSupport.unpark(thread);
    }
  }

  /**
   * Gives the lifecycle of handoffs to its single owner. To be taken before the first handoff.
   *
   * @param owner hears the effects in order, on the rank's thread; must not block
   * @return false if it has an owner already
   */
  public boolean takeLifecycle(Consumer<List<EngineEffect>> owner) {
    return process.takeLifecycle(owner);
  }

  /**
   * Returns what the rank last published.
   *
   * @return an immutable snapshot, up to one pass old
   */
  public RankSnapshot snapshot() {
    return process.snapshot(nowMs(), process.state() == RankProcess.State.WAITING);
  }

  /**
   * Stretches the passes that start from now on.
   *
   * @param factor multiplies their duration, more than 0
   */
  public void slowdown(double factor) {
    process.slowdown(factor);
  }

  /**
   * Stops or restarts the scheduler as a stuck process would: commands are taken, no pass runs.
   *
   * @param stuck whether to be stuck
   */
  public void freeze(boolean stuck) {
    process.freeze(stuck);
    wake();
  }

  @Override
  public void close() {
    closed = true;
    LockSupport.unpark(thread);
    Threads.join(thread);
  }

  private void run() {
    try {
      while (!closed) {
        double next = process.nextMs();
        long deadline = nanos(next);
        waiting = true;
        clock.awaitNanos(deadline, woken);
        waiting = false;
        Thread.interrupted(); // a listener's business; left set, it would end every wait
        if (!closed) {
          long now = clock.nanoTime();
          // a deadline is rounded up to whole nanoseconds, and was reached exactly all the same
          process.advance(now == deadline ? next : ms(now));
        }
      }
    } finally {
      closed = true;
      process.close(nowMs());
    }
  }

  private double nowMs() {
    return ms(clock.nanoTime());
  }

  private double ms(long nanos) {
    return (nanos - origin) / 1e6;
  }

  private long nanos(double ms) {
    double offset = Math.ceil(ms * 1e6);
    return offset < FOREVER_NANOS ? origin + (long) offset : Long.MAX_VALUE;
  }
}

package dev.warmpath.fake.live;

import dev.warmpath.fake.internal.Threads;
import dev.warmpath.fake.scheduler.CoreMetrics;
import dev.warmpath.fake.scheduler.EngineCommand;
import dev.warmpath.fake.scheduler.EngineCore;
import dev.warmpath.fake.scheduler.EngineEffect;
import dev.warmpath.fake.scheduler.EngineRequest;
import dev.warmpath.fake.scheduler.PassResult;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs one {@link EngineCore} on a thread of its own, in the time of an {@link EngineClock}.
 *
 * <p>Commands are taken between passes, as a real engine takes them. A pass lasts from its start
 * for its modelled duration, the time spent computing it included, and the next one starts where it
 * was due to end, so that wake-up delays do not add up. An idle rank sleeps until a command
 * arrives.
 *
 * <p>All methods may be called from any thread. {@link #close()} ends the thread; listeners of
 * unfinished requests hear nothing more.
 */
public final class RankDriver implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RankDriver.class);

  /** How far behind schedule a pass may start without the lost time being written off. */
  private static final long CATCH_UP_NANOS = 2_000_000;

  private static final long THROUGHPUT_WINDOW_NANOS = 500_000_000;

  private record Mail(
      EngineCommand command,
      @Nullable RankListener listener,
      @Nullable CompletableFuture<List<EngineEffect>> reply) {}

  private final EngineCore core;
  private final EngineClock clock;
  private final Thread thread;
  private final ConcurrentLinkedQueue<Mail> mailbox = new ConcurrentLinkedQueue<>();
  private final Map<Long, RankListener> listeners = new HashMap<>();
  private final long origin;
  private volatile RankSnapshot snapshot;
  private volatile long publishedAt;
  private volatile double slowdown = 1;
  private volatile boolean frozen;
  private volatile boolean idle;
  private volatile boolean closed;
  private long passes;
  private long windowStart;
  private long windowTokens;
  private double tokensPerSecond;

  /**
   * Starts the rank.
   *
   * @param name thread name
   * @param core the scheduler, from now on used by the rank's thread alone
   * @param clock the time to live in
   */
  public RankDriver(String name, EngineCore core, EngineClock clock) {
    this.core = Objects.requireNonNull(core, "core");
    this.clock = Objects.requireNonNull(clock, "clock");
    this.origin = clock.nanoTime();
    this.windowStart = origin;
    this.snapshot = new RankSnapshot(core.metrics(), 0, 0);
    this.thread = new Thread(this::run, name);
    thread.setDaemon(true);
    thread.setUncaughtExceptionHandler(
        (failed, e) -> LOG.error("rank {} stopped", failed.getName(), e));
    thread.start();
  }

  /**
   * Queues a request.
   *
   * @param request the sequence to compute; its id must be unique on this rank
   * @param listener hears its outcome
   */
  public void submit(EngineRequest request, RankListener listener) {
    post(new Mail(new EngineCommand.Submit(request), listener, null));
  }

  /**
   * Drops a request at the next pass boundary. Its listener hears an abort unless it ended before.
   *
   * @param requestId the id it was submitted with; unknown ids are ignored
   */
  public void cancel(long requestId) {
    post(new Mail(new EngineCommand.Cancel(requestId), null, null));
  }

  /**
   * Applies any other command at the next pass boundary.
   *
   * @param command the command
   * @return its effects; cancelled if the rank closes first
   */
  public CompletableFuture<List<EngineEffect>> apply(EngineCommand command) {
    CompletableFuture<List<EngineEffect>> reply = new CompletableFuture<>();
    post(new Mail(command, null, reply));
    if (closed) {
      reply.cancel(false);
    }
    return reply;
  }

  private void post(Mail mail) {
    mailbox.add(mail);
    if (idle) {
      LockSupport.unpark(thread);
    }
  }

  /**
   * Returns what the rank last published.
   *
   * @return an immutable snapshot, up to one pass old
   */
  public RankSnapshot snapshot() {
    RankSnapshot published = snapshot;
    boolean silent = idle && clock.nanoTime() - publishedAt > 2 * THROUGHPUT_WINDOW_NANOS;
    return silent ? new RankSnapshot(published.metrics(), 0, published.passes()) : published;
  }

  /**
   * Stretches the passes that start from now on.
   *
   * @param factor multiplies their duration, more than 0
   */
  public void slowdown(double factor) {
    if (!(factor > 0)) {
      throw new IllegalArgumentException("factor must be more than 0");
    }
    slowdown = factor;
  }

  /**
   * Stops or restarts the scheduler as a stuck process would: commands are taken, no pass runs.
   *
   * @param stuck whether to be stuck
   */
  public void freeze(boolean stuck) {
    frozen = stuck;
    LockSupport.unpark(thread);
  }

  @Override
  public void close() {
    closed = true;
    thread.interrupt();
    Threads.join(thread);
  }

  private void run() {
    long due = origin;
    boolean blocked = false;
    while (!closed) {
      boolean heard = drain();
      if (heard) {
        blocked = false;
      }
      if (blocked || frozen || !core.hasWork()) {
        publish(core.metrics());
        awaitMail(blocked);
        due = clock.nanoTime();
        continue;
      }
      long start = Math.max(due, clock.nanoTime() - CATCH_UP_NANOS);
      PassResult pass = core.executePass((start - origin) / 1e6);
      passes++;
      publish(pass.during());
      dispatch(pass.onStart());
      due = start + (long) (pass.durationMs() * slowdown * 1e6);
      if (due - clock.nanoTime() > 0) {
        clock.awaitNanos(due);
      }
      if (!closed) {
        publish(core.metrics());
        dispatch(pass.onEnd());
      }
      blocked = !pass.progressed();
    }
    for (Mail mail = mailbox.poll(); mail != null; mail = mailbox.poll()) {
      if (mail.reply() != null) {
        mail.reply().completeExceptionally(new CancellationException("rank closed"));
      }
    }
  }

  private void awaitMail(boolean blocked) {
    idle = true;
    while (mailbox.isEmpty() && !closed && (blocked || frozen || !core.hasWork())) {
      LockSupport.park(this);
    }
    idle = false;
  }

  /** Applies everything in the mailbox; true if there was anything. */
  private boolean drain() {
    boolean any = false;
    for (Mail mail = mailbox.poll(); mail != null; mail = mailbox.poll()) {
      any = true;
      if (mail.command() instanceof EngineCommand.Submit submit && mail.listener() != null) {
        listeners.put(submit.request().id(), mail.listener());
      }
      List<EngineEffect> effects =
          core.apply(mail.command(), true, (clock.nanoTime() - origin) / 1e6).effects();
      dispatch(effects);
      if (mail.reply() != null) {
        publish(core.metrics());
        mail.reply().complete(effects);
      }
    }
    return any;
  }

  private void dispatch(List<EngineEffect> effects) {
    for (EngineEffect effect : effects) {
      if (effect instanceof EngineEffect.Output output) {
        windowTokens += output.tokens();
        RankListener listener =
            output.finish() == null
                ? listeners.get(output.requestId())
                : listeners.remove(output.requestId());
        if (listener != null) {
          listener.output(output.tokens(), output.finish());
        }
      } else if (effect instanceof EngineEffect.Admitted admitted) {
        RankListener listener = listeners.get(admitted.requestId());
        if (listener != null) {
          listener.admitted(admitted.reusedTokens());
        }
      }
    }
  }

  private void publish(CoreMetrics metrics) {
    long now = clock.nanoTime();
    long elapsed = now - windowStart;
    if (elapsed >= THROUGHPUT_WINDOW_NANOS) {
      tokensPerSecond = windowTokens * 1e9 / elapsed;
      windowTokens = 0;
      windowStart = now;
    }
    publishedAt = now;
    snapshot = new RankSnapshot(metrics, tokensPerSecond, passes);
  }
}

package dev.warmpath.fake.virtual;

import dev.warmpath.fake.live.RankListener;
import dev.warmpath.fake.live.RankSnapshot;
import dev.warmpath.fake.live.ThroughputWindow;
import dev.warmpath.fake.scheduler.CommandResult;
import dev.warmpath.fake.scheduler.CoreMetrics;
import dev.warmpath.fake.scheduler.EngineCommand;
import dev.warmpath.fake.scheduler.EngineCore;
import dev.warmpath.fake.scheduler.EngineEffect;
import dev.warmpath.fake.scheduler.EngineRequest;
import dev.warmpath.fake.scheduler.PassResult;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs one {@link EngineCore} in {@link VirtualTime}, as {@link dev.warmpath.fake.live.RankDriver}
 * runs one in real time: requests and commands are taken between passes, tokens become visible when
 * their pass ends.
 *
 * <p>Used on the thread that runs its {@link VirtualTime}. Listeners and replies are called from
 * within events, never from within {@link #submit}, {@link #cancel} or {@link #apply}, and read the
 * time of what they hear from {@link VirtualTime#nowMs()}; they may call this rank.
 */
public final class VirtualRank {
  private record Mail(
      EngineCommand command,
      @Nullable RankListener listener,
      @Nullable Consumer<CommandResult> reply) {}

  private final VirtualTime time;
  private final EngineCore core;
  private final ArrayDeque<Mail> mailbox = new ArrayDeque<>();
  private final Map<Long, RankListener> listeners = new HashMap<>();
  private final ThroughputWindow throughput;
  private CoreMetrics published;
  private double publishedAt;
  private double slowdown = 1;
  private long passes;
  private boolean computing;
  private boolean waking;

  /**
   * Creates an idle rank.
   *
   * @param time the time to live in
   * @param core the scheduler, from now on used by this rank alone
   */
  public VirtualRank(VirtualTime time, EngineCore core) {
    this.time = Objects.requireNonNull(time, "time");
    this.core = Objects.requireNonNull(core, "core");
    this.throughput = new ThroughputWindow(time.nowMs());
    this.published = core.metrics();
  }

  /**
   * Queues a request for the next pass.
   *
   * @param request the sequence to compute; its id must be unique on this rank
   * @param listener hears its outcome
   */
  public void submit(EngineRequest request, RankListener listener) {
    Objects.requireNonNull(listener, "listener");
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
   * @param reply hears the answer and its effects
   */
  public void apply(EngineCommand command, Consumer<CommandResult> reply) {
    Objects.requireNonNull(reply, "reply");
    post(new Mail(command, null, reply));
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
   * Returns what the rank last published, which is what an engine's load endpoints show.
   *
   * @return an immutable snapshot, up to one pass old
   */
  public RankSnapshot snapshot() {
    double now = time.nowMs();
    boolean silent = !computing && now - publishedAt > 2 * ThroughputWindow.WINDOW_MS;
    return new RankSnapshot(published, silent ? 0 : throughput.roll(publishedAt), passes);
  }

  private void post(Mail mail) {
    mailbox.add(mail);
    wake();
  }

  private void wake() {
    if (!computing && !waking) {
      waking = true;
      time.schedule(time.nowMs(), EventKind.PASS_START, this::start);
    }
  }

  private void start() {
    waking = false;
    drain();
    if (!core.hasWork()) {
      publish(core.metrics());
      return;
    }
    PassResult pass = core.executePass(time.nowMs());
    passes++;
    publish(pass.during());
    computing = true;
    dispatch(pass.onStart());
    double endMs = time.nowMs() + pass.durationMs() * slowdown;
    time.schedule(endMs, EventKind.PASS_END, () -> end(pass));
  }

  private void end(PassResult pass) {
    computing = false;
    publish(core.metrics());
    dispatch(pass.onEnd());
    if (pass.progressed() || !mailbox.isEmpty()) {
      wake();
    }
  }

  private void drain() {
    for (Mail mail = mailbox.poll(); mail != null; mail = mailbox.poll()) {
      if (mail.command() instanceof EngineCommand.Submit submit && mail.listener() != null) {
        listeners.put(submit.request().id(), mail.listener());
      }
      CommandResult result = core.apply(mail.command(), true, time.nowMs());
      dispatch(result.effects());
      if (mail.reply() != null) {
        publish(core.metrics());
        mail.reply().accept(result);
      }
    }
  }

  private void dispatch(List<EngineEffect> effects) {
    for (EngineEffect effect : effects) {
      if (effect instanceof EngineEffect.Output output) {
        throughput.add(output.tokens());
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
    publishedAt = time.nowMs();
    throughput.roll(publishedAt);
    published = metrics;
  }
}

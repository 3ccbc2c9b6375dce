package dev.warmpath.fake.live;

import dev.warmpath.fake.scheduler.CommandResult;
import dev.warmpath.fake.scheduler.CoreMetrics;
import dev.warmpath.fake.scheduler.EngineCommand;
import dev.warmpath.fake.scheduler.EngineCore;
import dev.warmpath.fake.scheduler.EngineEffect;
import dev.warmpath.fake.scheduler.EngineRequest;
import dev.warmpath.fake.scheduler.EventVisibility;
import dev.warmpath.fake.scheduler.ForwardPassMetrics;
import dev.warmpath.fake.scheduler.PassResult;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Function;

/** A scheduler that does what a test says, and remembers what it was asked. */
final class ScriptedCore implements EngineCore {

  /** One planned pass. */
  record Pass(double durationMs, List<EngineEffect> onStart, List<EngineEffect> onEnd) {}

  final Deque<Pass> passes = new ArrayDeque<>();
  final List<String> calls = new ArrayList<>();
  final Deque<List<EngineEffect>> retries = new ArrayDeque<>();
  final Deque<List<EngineEffect>> ticks = new ArrayDeque<>();
  double deadlineMs = Double.POSITIVE_INFINITY;
  int running;
  Function<EngineCommand, CommandResult> answer =
      command -> new CommandResult(CommandResult.Outcome.APPLIED, List.of());
  private final EventVisibility visibility;

  ScriptedCore(EventVisibility visibility) {
    this.visibility = visibility;
  }

  static final ForwardPassMetrics FORWARD =
      new ForwardPassMetrics(0, 0, 0, 0, 1, 8, 0, 0, 0, 0, 0, 0, 0, 10);

  @Override
  public CommandResult apply(EngineCommand command, boolean admitDestinations, double nowMs) {
    calls.add(
        command.getClass().getSimpleName() + (admitDestinations ? "" : " mid-pass") + "@" + nowMs);
    return answer.apply(command);
  }

  @Override
  public PassResult executePass(double nowMs) {
    calls.add("pass@" + nowMs);
    Pass pass = passes.remove();
    double endMs = nowMs + pass.durationMs();
    return new PassResult(
        nowMs, endMs, 0, pass.durationMs(), FORWARD, metrics(), pass.onStart(), pass.onEnd());
  }

  @Override
  public List<EngineEffect> retryDestinations(double nowMs) {
    calls.add("retry@" + nowMs);
    return retries.isEmpty() ? List.of() : retries.remove();
  }

  @Override
  public List<EngineEffect> tick(double nowMs, boolean admitDestinations) {
    calls.add("tick" + (admitDestinations ? "" : " mid-pass") + "@" + nowMs);
    return ticks.isEmpty() ? List.of() : ticks.remove();
  }

  @Override
  public double nextDeadlineMs() {
    return deadlineMs;
  }

  @Override
  public boolean hasWork() {
    return !passes.isEmpty();
  }

  @Override
  public boolean isDrained() {
    return passes.isEmpty();
  }

  @Override
  public EventVisibility eventVisibility() {
    return visibility;
  }

  @Override
  public CoreMetrics metrics() {
    return new CoreMetrics(running, 0, 0, 0, 0, 8, 4, 0, 0, 0, 0, 0, 0, false);
  }

  @Override
  public int cachedTokens(EngineRequest request) {
    return 0;
  }
}

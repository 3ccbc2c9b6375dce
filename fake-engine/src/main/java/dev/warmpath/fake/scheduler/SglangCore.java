package dev.warmpath.fake.scheduler;

import java.util.Collection;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * SGLang's scheduling policy as Dynamo's mocker models it ({@code mocker/src/scheduler/sglang}),
 * corrected by the engine itself where the two differ: what the cache has costs no budget, the last
 * token of a prompt is always computed, that of an answer never, and of equals the longest prompt
 * is retracted.
 *
 * <p>A pass either extends or decodes. As long as waiting requests can be admitted, passes compute
 * prompts, and only the requests whose prompt is complete get their first token; everybody else
 * waits for a pass without admissions, in which each running request gets one. When the next tokens
 * do not fit into the KV pool, running requests are retracted: they keep their tokens, their pages
 * stay in the cache until somebody needs them, and they start again from the head of the queue.
 * Cache events and metrics become visible when a pass ends.
 *
 * <p>A request whose prompt can't fit is rejected in the next pass, and one whose output can't fit
 * generates less. In a handoff the destination comes first; when its prompt has arrived it waits
 * ahead of the queue for a place in the running set.
 */
public final class SglangCore implements EngineCore {
  private final SglangState state;
  private final SglangCommands commands;
  private final SglangPass pass;
  private final SglangQuietPasses quiet;
  private final SglangQuietHorizon horizon;

  /**
   * Creates an idle scheduler with an empty cache.
   *
   * @param options its knobs
   * @param latency how long passes take
   */
  public SglangCore(SglangOptions options, LatencyModel latency) {
    Objects.requireNonNull(latency, "latency");
    this.state = new SglangState(Objects.requireNonNull(options, "options"));
    this.commands = new SglangCommands(state);
    this.pass = new SglangPass(state, latency.forRole(options.core().role()));
    this.quiet = new SglangQuietPasses(state, pass);
    this.horizon = new SglangQuietHorizon(state, pass, quiet);
  }

  @Override
  public List<String> problems() {
    String offload = state.options.core().offloadProblem();
    return offload == null ? List.of() : List.of(offload);
  }

  @Override
  public CommandResult apply(EngineCommand command, boolean admitDestinations, double nowMs) {
    return commands.apply(command, admitDestinations, nowMs);
  }

  @Override
  public PassResult executePass(double nowMs) {
    return pass.execute(nowMs);
  }

  @Override
  public PassRun executeQuietPasses(double nowMs, double untilMs) {
    return quiet.execute(nowMs, untilMs);
  }

  @Override
  public double quietUntilMs(double nowMs, double latestMs) {
    return horizon.until(nowMs, latestMs);
  }

  @Override
  public List<EngineEffect> retryDestinations(double nowMs) {
    return state.handoffs.hasTurn() ? commands.progress(nowMs, true) : List.of();
  }

  @Override
  public List<EngineEffect> tick(double nowMs, boolean admitDestinations) {
    return commands.progress(nowMs, admitDestinations);
  }

  @Override
  public double nextDeadlineMs() {
    return state.nextDeadlineMs();
  }

  @Override
  public boolean hasWork() {
    return (state.pause == null || state.pause == PauseMode.DRAIN) && state.hasWork();
  }

  @Override
  public boolean isDrained() {
    return state.isEmpty();
  }

  @Override
  public EventVisibility eventVisibility() {
    return EventVisibility.PASS_END;
  }

  @Override
  public CoreMetrics metrics() {
    return state.metrics();
  }

  @Override
  public int cachedTokens(EngineRequest request) {
    return state.kv.cachedTokens(state.sequence(request, request.outputTokens()));
  }

  /** For tests that look behind the counts. */
  RadixPool pool() {
    return state.kv.pool();
  }

  /** Where pages go to and come from, for the same tests; null if there is nothing. */
  @Nullable RadixOffload lower() {
    return state.kv.lower();
  }

  /** Every request that may hold pages, for the same tests. */
  Collection<RadixSequence> sequences() {
    return state.sequences();
  }
}

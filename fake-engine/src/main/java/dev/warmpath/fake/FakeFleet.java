package dev.warmpath.fake;

import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * Several fake engines started and stopped together. Thread-safe; closing it closes them all.
 *
 * <pre>{@code
 * try (FakeFleet fleet = FakeFleet.start("4", worker -> worker.kind(EngineKind.VLLM).speedup(10))) {
 *   fleet.urls().forEach(...);
 * }
 * }</pre>
 */
public final class FakeFleet implements AutoCloseable {
  private final List<FakeEngine> engines;

  private FakeFleet(List<FakeEngine> engines) {
    this.engines = List.copyOf(engines);
  }

  /**
   * Starts a fleet.
   *
   * @param spec how many workers, as {@link FleetSpec#parse} reads it
   * @param configure called for each worker with a builder whose role, port (0) and seed are set
   * @return the running fleet
   */
  public static FakeFleet start(String spec, UnaryOperator<FakeEngineBuilder> configure) {
    return start(FleetSpec.parse(spec), configure);
  }

  /**
   * Starts a fleet.
   *
   * @param spec how many workers of which role
   * @param configure called for each worker with a builder whose role, port (0) and seed are set
   * @return the running fleet
   */
  public static FakeFleet start(FleetSpec spec, UnaryOperator<FakeEngineBuilder> configure) {
    List<FakeEngine> started = new ArrayList<>();
    try {
      for (var role : spec.roles()) {
        FakeEngineBuilder builder = FakeEngine.builder().role(role).seed(started.size());
        started.add(configure.apply(builder).start());
      }
    } catch (RuntimeException e) {
      started.forEach(FakeEngine::close);
      throw e;
    }
    return new FakeFleet(started);
  }

  /**
   * Returns the workers: regular, then prefill, then decode ones.
   *
   * @return in the order they were started
   */
  public List<FakeEngine> engines() {
    return engines;
  }

  /**
   * Returns one worker.
   *
   * @param index from 0
   * @return the worker
   */
  public FakeEngine engine(int index) {
    return engines.get(index);
  }

  /**
   * Returns the workers' addresses.
   *
   * @return in the order of {@link #engines()}
   */
  public List<String> urls() {
    return engines.stream().map(FakeEngine::url).toList();
  }

  /**
   * Kills one worker as a crash would; {@link FakeEngine#restart()} brings it back.
   *
   * @param index from 0
   */
  public void kill(int index) {
    engines.get(index).kill();
  }

  /**
   * Sums the workers' stats.
   *
   * @return the sums
   */
  public EngineStats stats() {
    return engines.stream().map(FakeEngine::stats).reduce(EngineStats.NONE, EngineStats::plus);
  }

  /**
   * Empties the prefix caches of all workers that are idle.
   *
   * @return whether all of them were
   */
  public boolean flushAll() {
    boolean all = true;
    for (FakeEngine engine : engines) {
      all &= engine.flushCache();
    }
    return all;
  }

  @Override
  public void close() {
    engines.forEach(FakeEngine::close);
  }
}

package dev.warmpath.worker;

import java.util.List;

/** A list that never changes. Immutable; pushes its list once, on the thread that starts it. */
public final class StaticDiscovery implements WorkerDiscovery {
  private final String name;
  private final List<WorkerSpec> workers;

  private StaticDiscovery(String name, List<WorkerSpec> workers) {
    this.name = name;
    this.workers = workers;
  }

  /** These workers, under the name {@code static}. */
  public static StaticDiscovery of(List<WorkerSpec> workers) {
    return new StaticDiscovery("static", List.copyOf(workers));
  }

  /**
   * The workers at these addresses, in the form of {@link WorkerSpec#parse}, under the name {@code
   * static}.
   *
   * @throws IllegalArgumentException saying which one to correct
   */
  public static StaticDiscovery of(String... workers) {
    return of(List.of(workers).stream().map(WorkerSpec::parse).toList());
  }

  /** This list under another name. */
  public StaticDiscovery named(String name) {
    return new StaticDiscovery(name, workers);
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public void start(Listener listener) {
    listener.onWorkers(workers);
  }

  /** Does nothing. */
  @Override
  public void close() {}
}

package dev.warmpath.worker;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/** What a discovery pushed. */
final class DiscoveryLog implements WorkerDiscovery.Listener {
  private final List<List<WorkerSpec>> lists = new ArrayList<>();
  private final List<String> errors = new ArrayList<>();

  @Override
  public synchronized void onWorkers(Collection<WorkerSpec> workers) {
    lists.add(List.copyOf(workers));
  }

  @Override
  public synchronized void onError(Exception error) {
    errors.add(String.valueOf(error.getMessage()));
  }

  synchronized List<List<WorkerSpec>> lists() {
    return List.copyOf(lists);
  }

  synchronized List<String> errors() {
    return List.copyOf(errors);
  }

  List<WorkerSpec> specs() {
    List<List<WorkerSpec>> all = lists();
    return all.get(all.size() - 1);
  }

  /** The URLs of the last list. */
  List<String> last() {
    return specs().stream().map(spec -> spec.id().value()).toList();
  }
}

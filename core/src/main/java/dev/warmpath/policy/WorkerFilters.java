package dev.warmpath.policy;

import dev.warmpath.health.RankState;
import dev.warmpath.worker.WorkerRank;
import java.util.ArrayList;
import java.util.List;

/** The filters of a policy: all must accept. */
final class WorkerFilters {
  static final WorkerFilters NONE = new WorkerFilters(List.of());

  private final WorkerFilter[] filters;
  private final Complaint complaint = new Complaint();

  private WorkerFilters(List<WorkerFilter> filters) {
    this.filters = filters.toArray(new WorkerFilter[0]);
  }

  WorkerFilters with(WorkerFilters more) {
    if (more.filters.length == 0) {
      return this;
    }
    return with(List.of(more.filters));
  }

  WorkerFilters with(List<WorkerFilter> more) {
    List<WorkerFilter> all = new ArrayList<>(List.of(filters));
    all.addAll(more);
    return new WorkerFilters(all);
  }

  boolean isEmpty() {
    return filters.length == 0;
  }

  boolean accept(RouteContext context, WorkerRank candidate, RankState state) {
    for (WorkerFilter filter : filters) {
      try {
        if (!filter.accepts(context, candidate, state)) {
          return false;
        }
      } catch (RuntimeException e) {
        complaint.about("A worker filter failed and accepts", e);
      }
    }
    return true;
  }
}

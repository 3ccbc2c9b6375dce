package dev.warmpath;

import dev.warmpath.health.Availability;
import dev.warmpath.health.WorkerView;
import dev.warmpath.worker.WorkerState;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Tells from what is known of workers whether a client is of use. */
final class Readinesses {
  private Readinesses() {}

  static RouterStatus.Readiness of(List<WorkerView> views, boolean closed) {
    Map<String, String> reasons = new LinkedHashMap<>();
    int up = 0;
    for (WorkerView view : views) {
      if (view.worker().state() == WorkerState.DRAINING) {
        reasons.put(view.worker().id().value(), "draining");
      } else if (view.availability() != Availability.UP) {
        reasons.put(view.worker().id().value(), view.availability().label() + ": " + view.detail());
      } else {
        up++;
      }
    }
    return new RouterStatus.Readiness(!closed, !closed && up > 0, up, views.size(), reasons);
  }
}

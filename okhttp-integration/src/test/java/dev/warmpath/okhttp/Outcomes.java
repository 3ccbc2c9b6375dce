package dev.warmpath.okhttp;

import dev.warmpath.api.RouterListener;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** How requests ended, in their order. */
final class Outcomes implements RouterListener {
  private final List<Outcome> outcomes = new CopyOnWriteArrayList<>();

  @Override
  public void onFinished(RequestEvent event) {
    outcomes.add(event.outcome());
  }

  List<Outcome> of() {
    return outcomes;
  }
}

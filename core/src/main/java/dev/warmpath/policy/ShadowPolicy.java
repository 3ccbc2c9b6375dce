package dev.warmpath.policy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** Sends by the baseline, and records beside it what the configured policy would have done. */
final class ShadowPolicy implements RoutingPolicy {
  private final RoutingPolicy policy;
  private final RoutingPolicy baseline;
  private final ShadowRecord record;

  ShadowPolicy(RoutingPolicy policy, RoutingPolicy baseline, ShadowRecord record) {
    this.policy = policy;
    this.baseline = baseline;
    this.record = record;
  }

  @Override
  public String name() {
    return "shadow:" + baseline.name();
  }

  @Override
  public RoutePlan plan(RouteContext context) {
    RoutePlan sent = baseline.plan(context);
    if (context.rehearsal()) {
      return sent;
    }
    Candidate would = policy.plan(context.asRehearsal()).next();
    AtomicBoolean first = new AtomicBoolean(true);
    return new RoutePlan() {
      @Override
      public @Nullable Candidate next() {
        Candidate went = sent.next();
        if (would != null && went != null && first.getAndSet(false)) {
          record.add(would, went);
        }
        return went;
      }
    };
  }

  @Override
  public RouteExplanation explain(RouteContext context) {
    RouteExplanation told = baseline.explain(context);
    Candidate would = policy.plan(context.asRehearsal()).next();
    List<String> steps = new ArrayList<>();
    steps.add(
        would == null
            ? "shadow: " + policy.name() + " would send it nowhere"
            : "shadow: " + policy.name() + " would send it to " + would.target());
    steps.addAll(told.steps());
    return new RouteExplanation(told.candidates(), steps);
  }
}

package dev.warmpath.policy;

import java.util.ArrayList;
import java.util.List;

/** Another policy in place of the configured one; its name says why. */
final class PlacedPolicy implements RoutingPolicy {
  private final String name;
  private final RoutingPolicy policy;
  private final String why;

  PlacedPolicy(String reason, RoutingPolicy policy, String why) {
    this.name = reason + ":" + policy.name();
    this.policy = policy;
    this.why = why;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public RoutePlan plan(RouteContext context) {
    return policy.plan(context);
  }

  @Override
  public RouteExplanation explain(RouteContext context) {
    RouteExplanation told = policy.explain(context);
    List<String> steps = new ArrayList<>();
    steps.add(why);
    steps.addAll(told.steps());
    return new RouteExplanation(told.candidates(), steps);
  }
}

package dev.warmpath.observe;

import dev.warmpath.api.RouterTracer.Hop;
import dev.warmpath.api.RouterTracer.HopTrace;
import dev.warmpath.api.RouterTracer.RequestTrace;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapPropagator;
import java.util.Map;

/**
 * One request whose span nobody will see: workers are given its context, and that is all. A class
 * of its own, because no event is made for a trace whose class does not hear of it.
 */
final class UnrecordedTrace implements RequestTrace, HopTrace {
  private final TextMapPropagator propagator;
  private final Context context;

  /**
   * Follows a request.
   *
   * @param context holds a span that is not recorded, and so need not be ended
   */
  UnrecordedTrace(TextMapPropagator propagator, Context context) {
    this.propagator = propagator;
    this.context = context;
  }

  /** The request's own context: a child's would name one more span that nobody will see. */
  @Override
  public HopTrace hop(Hop hop) {
    return this;
  }

  @Override
  public Map<String, String> headers() {
    return ContextHeaders.of(context, propagator);
  }
}

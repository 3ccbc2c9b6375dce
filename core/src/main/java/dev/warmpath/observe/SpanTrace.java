package dev.warmpath.observe;

import dev.warmpath.api.RouteDecision;
import dev.warmpath.api.RouterTracer.Hop;
import dev.warmpath.api.RouterTracer.HopTrace;
import dev.warmpath.api.RouterTracer.RequestTrace;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapPropagator;

/**
 * One request as a span that nobody will see: of its end is told, and workers are given its
 * context. {@link RecordedSpanTrace} says more. Two classes, because no event is made for a trace
 * whose class does not hear of it.
 */
class SpanTrace implements RequestTrace {
  private final Tracer tracer;
  private final TextMapPropagator propagator;
  private final ServerAttributes servers;
  private final Context context;
  private final Span span;

  /**
   * Follows a request.
   *
   * @param context holds {@code span}
   * @param span was begun; ends with the request
   */
  SpanTrace(
      Tracer tracer,
      TextMapPropagator propagator,
      ServerAttributes servers,
      Context context,
      Span span) {
    this.tracer = tracer;
    this.propagator = propagator;
    this.servers = servers;
    this.context = context;
    this.span = span;
  }

  @Override
  public HopTrace hop(Hop hop) {
    Span begun =
        tracer
            .spanBuilder(hop.role().equals("regular") ? "attempt" : hop.role())
            .setParent(context)
            .setSpanKind(SpanKind.CLIENT)
            .startSpan();
    if (begun.isRecording()) {
      describe(begun, hop);
    }
    return new HopSpan(propagator, context.with(begun), begun);
  }

  private void describe(Span begun, Hop hop) {
    RouteDecision.CandidateView candidate = hop.candidate();
    begun
        .setAttribute(SpanAttributes.WORKER, hop.worker())
        .setAttribute(SpanAttributes.ROLE, hop.role())
        .setAttribute(SpanAttributes.ATTEMPT, (long) hop.attempt())
        .setAttribute(SpanAttributes.STEP, candidate.step())
        .setAttribute(SpanAttributes.MATCHED_TOKENS, (long) candidate.matchedTokens())
        .setAllAttributes(servers.of(candidate.worker()));
  }

  @Override
  public void onFinished(RequestEvent event) {
    span.end();
  }

  @Override
  public void onRefused(RuntimeException error) {
    span.end();
  }
}

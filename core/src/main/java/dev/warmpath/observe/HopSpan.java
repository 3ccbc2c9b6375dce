package dev.warmpath.observe;

import dev.warmpath.api.RouterTracer.HopEnd;
import dev.warmpath.api.RouterTracer.HopTrace;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapPropagator;
import java.util.Map;

/** One exchange with a worker as a span, whose context the worker is given. */
final class HopSpan implements HopTrace {
  private final TextMapPropagator propagator;
  private final Context context;
  private final Span span;

  HopSpan(TextMapPropagator propagator, Context context, Span span) {
    this.propagator = propagator;
    this.context = context;
    this.span = span;
  }

  @Override
  public Map<String, String> headers() {
    return ContextHeaders.of(context, propagator);
  }

  @Override
  public void ended(HopEnd end) {
    if (span.isRecording()) {
      describe(end);
    }
    span.end();
  }

  private void describe(HopEnd end) {
    if (end.status() > 0) {
      span.setAttribute(SpanAttributes.STATUS, (long) end.status());
    }
    String error = end.error();
    if (error != null) {
      span.setAttribute(
          SpanAttributes.ERROR, end.status() >= 400 ? Integer.toString(end.status()) : error);
      span.setStatus(StatusCode.ERROR);
    }
  }
}

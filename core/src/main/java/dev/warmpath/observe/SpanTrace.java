package dev.warmpath.observe;

import dev.warmpath.api.RouteDecision;
import dev.warmpath.api.RouterListener;
import dev.warmpath.api.RouterTracer.Hop;
import dev.warmpath.api.RouterTracer.HopTrace;
import dev.warmpath.api.RouterTracer.RequestTrace;
import dev.warmpath.api.Usage;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapPropagator;
import java.time.Duration;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** One request as a span that is recorded: what is known of it, as it becomes known. */
final class SpanTrace implements RequestTrace {
  private final Tracer tracer;
  private final TextMapPropagator propagator;
  private final ServerAttributes servers;
  private final Context context;
  private final Span span;
  private final String operation;

  /**
   * Follows a request.
   *
   * @param context holds {@code span}
   * @param span was begun and is recorded; ends with the request
   * @param operation what is asked for, as the span's name begins
   */
  SpanTrace(
      Tracer tracer,
      TextMapPropagator propagator,
      ServerAttributes servers,
      Context context,
      Span span,
      String operation) {
    this.tracer = tracer;
    this.propagator = propagator;
    this.servers = servers;
    this.context = context;
    this.span = span;
    this.operation = operation;
  }

  @Override
  public HopTrace hop(Hop hop) {
    RouteDecision.CandidateView candidate = hop.candidate();
    Span begun =
        tracer
            .spanBuilder(hop.role().equals("regular") ? "attempt" : hop.role())
            .setParent(context)
            .setSpanKind(SpanKind.CLIENT)
            .setAttribute(SpanAttributes.WORKER, hop.worker())
            .setAttribute(SpanAttributes.ROLE, hop.role())
            .setAttribute(SpanAttributes.ATTEMPT, (long) hop.attempt())
            .setAttribute(SpanAttributes.STEP, candidate.step())
            .setAttribute(SpanAttributes.MATCHED_TOKENS, (long) candidate.matchedTokens())
            .setAllAttributes(servers.of(candidate.worker()))
            .startSpan();
    return new HopSpan(propagator, context.with(begun), begun);
  }

  @Override
  public void onRouted(RequestEvent event) {
    String model = event.model();
    if (model != null) {
      span.updateName(operation + " " + model);
      span.setAttribute(SpanAttributes.MODEL, model);
    }
    span.setAttribute(SpanAttributes.STREAM, event.stream());
    RouteDecision decision = event.decision();
    span.addEvent(
        "warmpath.decision",
        Attributes.of(
            SpanAttributes.POLICY,
            decision.policy(),
            SpanAttributes.PROMPT_TOKENS,
            (long) decision.prompt().tokens(),
            SpanAttributes.EXACTNESS,
            decision.prompt().exactness(),
            SpanAttributes.QUEUE,
            seconds(event.timings().queue()),
            SpanAttributes.DECISION,
            seconds(event.timings().decision())));
  }

  @Override
  public void onFirstByte(RequestEvent event) {
    span.addEvent("warmpath.first_token");
  }

  @Override
  public void onFinished(RequestEvent event) {
    describe(event);
    span.end();
  }

  private void describe(RequestEvent event) {
    RouterListener.Outcome outcome = event.outcome();
    if (outcome != null) {
      span.setAttribute(SpanAttributes.OUTCOME, outcome.name().toLowerCase(Locale.ROOT));
    }
    span.setAttribute(SpanAttributes.ATTEMPTS, (long) event.attempt());
    Usage usage = event.usage();
    if (usage != null) {
      set(SpanAttributes.INPUT_TOKENS, usage.promptTokens());
      set(SpanAttributes.OUTPUT_TOKENS, usage.completionTokens());
      set(SpanAttributes.CACHED_TOKENS, usage.cachedTokens());
    }
    if (outcome == RouterListener.Outcome.FAILED) {
      failed("failed");
    }
  }

  @Override
  public void onRefused(RuntimeException error) {
    failed(error.getClass().getSimpleName());
    span.end();
  }

  private void failed(String type) {
    span.setAttribute(SpanAttributes.ERROR, type);
    span.setStatus(StatusCode.ERROR);
  }

  private void set(AttributeKey<Long> key, @Nullable Integer tokens) {
    if (tokens != null) {
      span.setAttribute(key, (long) tokens);
    }
  }

  private static double seconds(Duration duration) {
    return duration.toNanos() / 1e9;
  }
}

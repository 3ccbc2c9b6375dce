package dev.warmpath.observe;

import dev.warmpath.api.RouterRequest;
import dev.warmpath.api.RouterTracer;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapPropagator;
import java.time.Duration;
import java.time.InstantSource;

/**
 * Requests as spans of OpenTelemetry: {@code
 * RouterClient.builder().tracer(OpenTelemetryTracer.of(openTelemetry))}. Needs {@code
 * opentelemetry-api} on the class path. Thread safe; keeps nothing of requests, closes nothing.
 *
 * <p>A request is a span of kind client, {@code chat MODEL} or {@code text_completion MODEL}, under
 * the context of the thread that brought it or, where that has none, under the {@code traceparent}
 * among the request's headers. It has the events {@code warmpath.decision} and {@code
 * warmpath.first_token}, and a child for each exchange with a worker: {@code attempt}, or {@code
 * prefill} and {@code decode}. What goes to a worker carries the child's context, by the
 * propagators of the given {@code OpenTelemetry}. Of a request whose span is not recorded there are
 * no children: workers are given its own context.
 *
 * <p>Attributes named {@code gen_ai.*} are those of OpenTelemetry's semantic conventions for
 * generative AI, version 1.41, as far as the client knows them; {@code warmpath.*} are its own.
 * None holds text of prompts or answers, a header or a key.
 */
public final class OpenTelemetryTracer implements RouterTracer {
  /** A request that came no longer ago begins now. */
  private static final Duration AT_ONCE = Duration.ofMillis(1);

  private final Tracer tracer;
  private final TextMapPropagator propagator;
  private final InstantSource clock;
  private final ServerAttributes servers = new ServerAttributes();

  private OpenTelemetryTracer(OpenTelemetry openTelemetry, InstantSource clock) {
    this.tracer = openTelemetry.getTracer("dev.warmpath");
    this.propagator = openTelemetry.getPropagators().getTextMapPropagator();
    this.clock = clock;
  }

  /** Traces with what the application has set up. */
  public static OpenTelemetryTracer of(OpenTelemetry openTelemetry) {
    return new OpenTelemetryTracer(openTelemetry, InstantSource.system());
  }

  @Override
  public Runnable carry(Runnable task) {
    return Context.current().wrap(task);
  }

  @Override
  public RequestTrace begin(RouterRequest request, Duration since) {
    Context parent = Context.current();
    if (!Span.fromContext(parent).getSpanContext().isValid()) {
      parent = propagator.extract(parent, request.headers(), HeadersGetter.INSTANCE);
    }
    String operation = operation(request.path());
    SpanBuilder builder =
        tracer
            .spanBuilder(operation)
            .setParent(parent)
            .setSpanKind(SpanKind.CLIENT)
            .setAttribute(SpanAttributes.OPERATION, operation)
            .setAttribute(SpanAttributes.PROVIDER, "warmpath");
    if (since.compareTo(AT_ONCE) > 0) {
      builder.setStartTimestamp(clock.instant().minus(since));
    }
    Span span = builder.startSpan();
    Context context = parent.with(span);
    return span.isRecording()
        ? new SpanTrace(tracer, propagator, servers, context, span, operation)
        : new UnrecordedTrace(propagator, context);
  }

  /** The well-known name of what a path asks for. */
  private static String operation(String path) {
    int query = path.indexOf('?');
    String bare = query < 0 ? path : path.substring(0, query);
    if (bare.endsWith("/chat/completions")) {
      return "chat";
    }
    if (bare.endsWith("/embeddings")) {
      return "embeddings";
    }
    return bare.endsWith("/responses") ? "generate_content" : "text_completion";
  }
}

package dev.warmpath;

import dev.warmpath.api.FailurePhase;
import dev.warmpath.api.Headers;
import dev.warmpath.api.StreamEvent;
import dev.warmpath.transport.AdminCommand;
import dev.warmpath.transport.AdminReply;
import dev.warmpath.transport.Exchange;
import dev.warmpath.transport.ExchangeResponse;
import dev.warmpath.transport.HealthReport;
import dev.warmpath.transport.LoadReport;
import dev.warmpath.transport.OutboundRequest;
import dev.warmpath.transport.ProbeReport;
import dev.warmpath.transport.Transport;
import dev.warmpath.transport.TransportException;
import dev.warmpath.transport.TransportException.Kind;
import dev.warmpath.worker.EngineKind;
import dev.warmpath.worker.ServedModel;
import dev.warmpath.worker.Worker;
import dev.warmpath.worker.WorkerCapabilities;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

/**
 * A transport without sockets: each exchange does what a script says. Workers are up, idle, and
 * serve one model.
 */
final class ScriptedTransport implements Transport {
  /** The model that its workers serve. */
  static final String MODEL = "m";

  /** What arrived, in order. */
  final Queue<OutboundRequest> sent = new ConcurrentLinkedQueue<>();

  /** Exchanges that were cancelled. */
  final AtomicInteger cancelled = new AtomicInteger();

  /** Responses that were opened and not closed. */
  final AtomicInteger open = new AtomicInteger();

  private final Function<OutboundRequest, Script> scripts;

  ScriptedTransport(Function<OutboundRequest, Script> scripts) {
    this.scripts = scripts;
  }

  /** What an exchange does. */
  record Script(
      TransportException.Kind fails,
      FailurePhase phase,
      int status,
      Headers headers,
      List<String> events,
      String body,
      TransportException.Kind breaks,
      boolean hangs) {

    static Script ok(String body) {
      return new Script(null, null, 200, Headers.EMPTY, List.of(), body, null, false);
    }

    static Script status(int status, String... headers) {
      return new Script(null, null, status, Headers.of(headers), List.of(), "{}", null, false);
    }

    static Script fails(Kind kind, FailurePhase phase) {
      return new Script(kind, phase, 0, Headers.EMPTY, List.of(), "", null, false);
    }

    static Script silent() {
      return new Script(null, null, 0, Headers.EMPTY, List.of(), "", null, true);
    }

    static Script streams(String... events) {
      return new Script(null, null, 200, Headers.EMPTY, List.of(events), null, null, false);
    }

    /** The body is this. */
    Script saying(String text) {
      return new Script(fails, phase, status, headers, events, text, breaks, hangs);
    }

    /** The body, or the stream after its events, breaks off. */
    Script breaking(Kind kind) {
      return new Script(fails, phase, status, headers, events, body, kind, hangs);
    }

    /** The stream falls silent after its events, until it is cancelled. */
    Script thenHanging() {
      return new Script(fails, phase, status, headers, events, body, breaks, true);
    }
  }

  @Override
  public Set<String> schemes() {
    return Set.of("http");
  }

  @Override
  public Exchange open(OutboundRequest request) {
    return new ScriptedExchange(request);
  }

  /** Caches are emptied as far as is asked; nothing else is done. */
  @Override
  public AdminReply admin(Worker worker, AdminCommand command, Duration timeout) {
    return command instanceof AdminCommand.Flush flush
        ? AdminReply.of(AdminReply.Outcome.DONE, "").emptying(flush.level())
        : Transport.super.admin(worker, command, timeout);
  }

  private final class ScriptedExchange implements Exchange, ExchangeResponse {
    private final OutboundRequest request;
    private final CountDownLatch cancel = new CountDownLatch(1);
    private Script script;
    private Queue<String> events = new ArrayDeque<>();
    private boolean closed;

    ScriptedExchange(OutboundRequest request) {
      this.request = request;
    }

    @Override
    public ExchangeResponse execute() throws TransportException {
      sent.add(request);
      script = scripts.apply(request);
      events = new ArrayDeque<>(script.events());
      if (script.fails() != null) {
        throw new TransportException(script.fails(), script.phase(), 0, "scripted", null);
      }
      if (script.hangs() && script.events().isEmpty()) {
        hang(FailurePhase.AWAIT_HEADERS);
      }
      open.incrementAndGet();
      return this;
    }

    private void hang(FailurePhase phase) throws TransportException {
      try {
        Duration total = request.timeouts().total();
        boolean in =
            total == null
                || cancel.await(total.toNanos(), java.util.concurrent.TimeUnit.NANOSECONDS);
        if (!in) {
          throw new TransportException(Kind.DEADLINE, phase, 0, "deadline", null);
        }
        cancel.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      throw new TransportException(Kind.CANCELLED, phase, 0, "cancelled", null);
    }

    @Override
    public void cancel() {
      if (cancel.getCount() > 0) {
        cancelled.incrementAndGet();
        cancel.countDown();
      }
    }

    @Override
    public int status() {
      return script.status();
    }

    @Override
    public Headers headers() {
      return script.headers();
    }

    @Override
    public boolean streaming() {
      return script.body() == null;
    }

    @Override
    public byte[] readBody() throws TransportException {
      if (script.breaks() != null) {
        throw new TransportException(script.breaks(), FailurePhase.BODY, 0, "scripted", null);
      }
      return script.body() == null ? new byte[0] : script.body().getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public StreamEvent nextEvent() throws TransportException {
      String event = events.poll();
      if (event != null) {
        return new StreamEvent(null, event);
      }
      if (script.hangs()) {
        hang(FailurePhase.BODY);
      }
      if (script.breaks() != null) {
        FailurePhase phase =
            script.events().isEmpty() ? FailurePhase.AWAIT_FIRST_BYTE : FailurePhase.BODY;
        throw new TransportException(script.breaks(), phase, 0, "scripted", null);
      }
      return null;
    }

    @Override
    public void close() {
      if (!closed) {
        closed = true;
        open.decrementAndGet();
      }
    }
  }

  @Override
  public ProbeReport probe(Worker worker, Duration timeout) {
    return new ProbeReport(
        new WorkerCapabilities(
            EngineKind.VLLM,
            "1",
            null,
            List.of(ServedModel.named(MODEL)),
            null,
            16,
            100_000L,
            null,
            true),
        "boot");
  }

  @Override
  public HealthReport health(Worker worker, Duration timeout) {
    return new HealthReport(true, "scripted");
  }

  @Override
  public LoadReport load(Worker worker, Duration timeout) {
    return new LoadReport(List.of(), "scripted", "boot", Double.NaN);
  }

  @Override
  public void close() {}
}

package dev.warmpath.pd;

import dev.warmpath.api.StreamEvent;
import dev.warmpath.api.Usage;
import dev.warmpath.dispatch.RequestRunner;
import dev.warmpath.pd.PdCall.Mode;
import dev.warmpath.prompt.UsageReader;
import dev.warmpath.transport.Exchange;
import dev.warmpath.transport.ExchangeResponse;
import dev.warmpath.transport.OutboundRequest;
import dev.warmpath.transport.TransportException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Carries a session's decode legs over blocking exchanges, one after the other, to what its caller
 * can be given: the whole answer, the first event of a stream, or the headers. Used by the caller's
 * thread.
 */
final class DecodeLeg {
  private static final UsageReader USAGES = new UsageReader();

  private final Mode mode;
  private final Runnable cancel;
  private final Function<OutboundRequest, Exchange> transports;
  private @Nullable LegCall leg;
  private @Nullable PdAnswer whole;
  private @Nullable ExchangeResponse pending;
  private @Nullable StreamEvent first;
  private volatile @Nullable Usage usage;

  /**
   * Creates a carrier without a leg.
   *
   * @param cancel gives up whatever the session is a part of
   * @param transports opens the exchanges
   */
  DecodeLeg(Mode mode, Runnable cancel, Function<OutboundRequest, Exchange> transports) {
    this.mode = mode;
    this.cancel = cancel;
    this.transports = transports;
  }

  /** The leg that is carried, or was last. */
  LegCall leg() {
    return Objects.requireNonNull(leg);
  }

  /** The answer that was read whole, or null. */
  @Nullable PdAnswer whole() {
    return whole;
  }

  /** Whether what there is of an answer is a refusal. */
  boolean refused() {
    PdAnswer answer = whole;
    ExchangeResponse open = pending;
    return (answer != null && answer.status() >= 300)
        || (mode == Mode.HEADERS && open != null && open.status() >= 300);
  }

  /** The response that is open, or null. */
  @Nullable ExchangeResponse pending() {
    return pending;
  }

  /** The first event of its stream; null where it has none. */
  @Nullable StreamEvent first() {
    return first;
  }

  /** The token counts that were reported last, or null. */
  @Nullable Usage usage() {
    return usage;
  }

  /** Takes the token counts of an event that is handed on, where it has any. */
  void count(StreamEvent event) {
    reported(USAGES.readEvent(event.data()));
  }

  /** Token counts came by another way. */
  void reported(@Nullable Usage counts) {
    usage = counts == null ? usage : counts;
  }

  /** Lets go of whatever there is of an answer. */
  void forget() {
    ExchangeResponse open = pending;
    pending = null;
    first = null;
    whole = null;
    if (open != null) {
      open.close();
    }
  }

  /** Carries a leg, on the calling thread. */
  void run(LegCall next) {
    forget();
    leg = next;
    ExchangeResponse response = null;
    boolean kept = false;
    try {
      Exchange exchange = transports.apply(next.outbound());
      if (!next.sending(exchange::cancel)) {
        return;
      }
      response = exchange.execute();
      kept = answered(next, response);
    } catch (TransportException e) {
      broken(LegReading.of(e));
    } catch (Throwable e) {
      // A transport's bug: everything is given back, and the caller sees what happened.
      next.ended(LegResult.broken(LegOutcome.IO_ERROR, true, e.getClass().getName()), null);
      cancel.run();
      throw e;
    } finally {
      if (response != null && !kept) {
        response.close();
      }
    }
  }

  /** It broke off; an end that its own thread's interrupt brought is a cancellation. */
  void broken(LegResult end) {
    LegCall carried = leg();
    if (end.outcome() == LegOutcome.CANCELLED && !carried.dropped()) {
      cancel.run();
    }
    carried.ended(end, null);
  }

  private boolean answered(LegCall next, ExchangeResponse response) throws TransportException {
    int status = response.status();
    if (status >= 300) {
      return refusedBy(next, response, status);
    }
    next.headers();
    if (mode == Mode.HEADERS) {
      pending = response;
      next.listening(false); // whoever carries the body limits its silence
      next.payload();
      return true;
    }
    if (mode == Mode.STREAM && response.streaming()) {
      first = response.nextEvent();
      if (first != null && LegReading.aborted(first.data())) {
        next.ended(LegResult.aborted(), null);
        return false;
      }
      pending = response;
      next.listening(false);
      next.payload();
      if (first == null) {
        next.ended(LegResult.ok(false), null);
      }
      return true;
    }
    byte[] body = response.readBody();
    LegResult wrong = LegReading.wrong(body);
    if (wrong != null) {
      next.ended(wrong, null);
      return false;
    }
    whole = new PdAnswer(status, response.headers(), body);
    usage = USAGES.read(body);
    next.payload();
    if (mode == Mode.STREAM) {
      // Asked for a stream, answered whole: one event, then the end.
      pending = response;
      first = new StreamEvent(null, new String(body, StandardCharsets.UTF_8));
      return true;
    }
    next.ended(LegResult.ok(false), null);
    return false;
  }

  private boolean refusedBy(LegCall next, ExchangeResponse response, int status)
      throws TransportException {
    Duration retryAfter = RequestRunner.retryAfter(response.headers().get("Retry-After"));
    byte[] body;
    if (mode == Mode.HEADERS) {
      pending = response;
      body = peeked(response);
    } else {
      body = response.readBody();
      whole = new PdAnswer(status, response.headers(), body);
    }
    PdEvidence evidence = PdEvidence.of(new String(body, StandardCharsets.UTF_8));
    next.ended(LegResult.status(status, evidence, retryAfter), null);
    return mode == Mode.HEADERS;
  }

  /** What an error's body says, where whoever carries it can tell without taking it away. */
  private static byte[] peeked(ExchangeResponse response) {
    try {
      return response.readBody();
    } catch (TransportException e) {
      return new byte[0];
    }
  }

  /**
   * The next event of its stream, waited for; null at its end.
   *
   * @throws TransportException when it breaks off, or the engine gives the generation up
   */
  @Nullable StreamEvent next() throws TransportException {
    ExchangeResponse open = Objects.requireNonNull(pending);
    StreamEvent event = open.streaming() ? listen(open) : null;
    if (event == null) {
      leg().ended(LegResult.ok(false), null);
    } else if (LegReading.aborted(event.data())) {
      leg().ended(LegResult.aborted(), null);
    } else {
      leg().payload();
    }
    return event;
  }

  private @Nullable StreamEvent listen(ExchangeResponse open) throws TransportException {
    leg().listening(true);
    try {
      return open.nextEvent();
    } finally {
      leg().listening(false);
    }
  }

  /** Gives the response up, after the answer to an abort call that is under way. */
  void close() {
    ExchangeResponse open = pending;
    if (open != null) {
      leg().afterAbort(open::close);
    }
  }
}

package dev.warmpath.pd;

import dev.warmpath.api.StreamEvent;
import dev.warmpath.api.Usage;
import dev.warmpath.dispatch.RequestRunner;
import dev.warmpath.prompt.UsageReader;
import dev.warmpath.transport.Exchange;
import dev.warmpath.transport.ExchangeResponse;
import dev.warmpath.transport.OutboundRequest;
import dev.warmpath.transport.TransportException;
import java.nio.charset.StandardCharsets;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Carries a prefill leg over a blocking exchange to the end of its answer, whose body tells what
 * the status can't: that the KV was delivered, where it is, and errors under status 200.
 */
final class PrefillLeg {
  private static final UsageReader USAGES = new UsageReader();

  private final boolean handsOver;
  private final boolean logprobs;
  private volatile @Nullable PdAnswer refused;
  private volatile @Nullable LogprobMerge merge;
  private volatile @Nullable Usage usage;

  /**
   * Creates the carrier of one leg.
   *
   * @param handsOver whether the answer has something for decode
   * @param logprobs whether the answer's log-probabilities are wanted
   */
  PrefillLeg(boolean handsOver, boolean logprobs) {
    this.handsOver = handsOver;
    this.logprobs = logprobs;
  }

  /** The error answer, if that is what it was. */
  @Nullable PdAnswer refused() {
    return refused;
  }

  /** What decode's answers have to be merged with, or null. */
  @Nullable LogprobMerge merge() {
    return merge;
  }

  /** What the answer reports, or null. */
  @Nullable Usage usage() {
    return usage;
  }

  /** Carries the leg, on the calling thread. */
  void run(LegCall leg, Function<OutboundRequest, Exchange> transports) {
    ExchangeResponse response = null;
    try {
      Exchange exchange = transports.apply(leg.outbound());
      if (!leg.sending(exchange::cancel)) {
        return;
      }
      response = exchange.execute();
      if (response.status() >= 300) {
        refused(leg, response);
      } else {
        leg.headers();
        read(leg, response);
      }
    } catch (TransportException e) {
      leg.ended(LegReading.of(e), null);
    } catch (RuntimeException e) {
      // A transport's bug; its exception is nothing that anyone waits for on this thread.
      leg.ended(LegResult.broken(LegOutcome.IO_ERROR, true, e.getClass().getName()), null);
    } finally {
      if (response != null) {
        response.close();
      }
    }
  }

  private void refused(LegCall leg, ExchangeResponse response) throws TransportException {
    byte[] body = response.readBody();
    refused = new PdAnswer(response.status(), response.headers(), body);
    leg.ended(
        LegResult.status(
            response.status(),
            PdEvidence.of(new String(body, StandardCharsets.UTF_8)),
            RequestRunner.retryAfter(response.headers().get("Retry-After"))),
        null);
  }

  private void read(LegCall leg, ExchangeResponse response) throws TransportException {
    if (response.streaming()) {
      String last = null;
      StreamEvent event = response.nextEvent();
      while (event != null) {
        if (LegReading.aborted(event.data())) {
          leg.ended(LegResult.aborted(), null);
          return;
        }
        Usage reported = USAGES.readEvent(event.data());
        usage = reported == null ? usage : reported;
        last = event.data();
        event = response.nextEvent();
      }
      if (logprobs && last != null) {
        merge = LogprobMerge.of(last.getBytes(StandardCharsets.UTF_8));
      }
      leg.ended(LegResult.ok(false), null);
      return;
    }
    byte[] body = response.readBody();
    LegResult wrong = LegReading.wrong(body);
    if (wrong != null) {
      leg.ended(wrong, null);
      return;
    }
    usage = USAGES.read(body);
    if (logprobs) {
      merge = LogprobMerge.of(body);
    }
    byte[] handOff = handsOver ? handOff(body) : null;
    leg.ended(LegResult.ok(handOff != null), handOff);
  }

  private static byte @Nullable [] handOff(byte[] body) {
    JsonFields fields = JsonFields.find(body);
    byte[] params = fields == null ? null : fields.raw(OpenAiLegs.PARAMS);
    return params != null && params[0] == '{' ? params : null;
  }
}

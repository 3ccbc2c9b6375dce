package dev.warmpath.knowledge;

import dev.warmpath.api.FailurePhase;
import dev.warmpath.transport.Exchange;
import dev.warmpath.transport.ExchangeResponse;
import dev.warmpath.transport.TransportException;

/** An exchange before which something is done on its thread, which a cancellation ends, too. */
final class KvExchange implements Exchange {
  private final Runnable before;
  private final Exchange exchange;
  private final Interruptible work = new Interruptible();

  KvExchange(Runnable before, Exchange exchange) {
    this.before = before;
    this.exchange = exchange;
  }

  @Override
  public ExchangeResponse execute() throws TransportException {
    work.run(before);
    if (work.cancelled()) {
      throw new TransportException(
          TransportException.Kind.CANCELLED,
          FailurePhase.CONNECT,
          0,
          "cancelled before it was sent",
          null);
    }
    return exchange.execute();
  }

  @Override
  public void cancel() {
    work.cancel();
    exchange.cancel();
  }
}

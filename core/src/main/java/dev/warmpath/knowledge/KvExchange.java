package dev.warmpath.knowledge;

import dev.warmpath.api.FailurePhase;
import dev.warmpath.transport.Exchange;
import dev.warmpath.transport.ExchangeResponse;
import dev.warmpath.transport.TransportException;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** An exchange before which something is done on its thread, which a cancellation ends, too. */
final class KvExchange implements Exchange {
  private final Runnable before;
  private final Exchange exchange;

  private final ReentrantLock lock = new ReentrantLock();
  private @Nullable Thread working; // under lock
  private boolean cancelled; // under lock
  private boolean interrupted; // under lock

  KvExchange(Runnable before, Exchange exchange) {
    this.before = before;
    this.exchange = exchange;
  }

  @Override
  public ExchangeResponse execute() throws TransportException {
    if (enter()) {
      try {
        before.run();
      } finally {
        leave();
      }
    }
    lock.lock();
    try {
      if (cancelled) {
        throw new TransportException(
            TransportException.Kind.CANCELLED,
            FailurePhase.CONNECT,
            0,
            "cancelled before it was sent",
            null);
      }
    } finally {
      lock.unlock();
    }
    return exchange.execute();
  }

  private boolean enter() {
    lock.lock();
    try {
      working = cancelled ? null : Thread.currentThread();
      return !cancelled;
    } finally {
      lock.unlock();
    }
  }

  /** From here on nobody interrupts; an interrupt that was a cancellation's is taken back. */
  private void leave() {
    lock.lock();
    try {
      working = null;
      if (interrupted) {
        boolean unused = Thread.interrupted();
      }
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void cancel() {
    lock.lock();
    try {
      cancelled = true;
      Thread its = working;
      if (its != null && !interrupted) {
        interrupted = true;
        its.interrupt();
      }
    } finally {
      lock.unlock();
    }
    exchange.cancel();
  }
}

package dev.warmpath.fake.lab;

import dev.warmpath.api.FailurePhase;
import dev.warmpath.api.Headers;
import dev.warmpath.api.StreamEvent;
import dev.warmpath.fake.virtual.EventKind;
import dev.warmpath.transport.Exchange;
import dev.warmpath.transport.ExchangeResponse;
import dev.warmpath.transport.TransportException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Something that a client tells a worker beside its requests, answered after a round trip. */
final class LabCall implements Exchange, ExchangeResponse {
  private final LabNetwork network;
  private final Runnable arrived;
  private boolean answered;
  private boolean cancelled;
  private Turns.@Nullable Turn waiting;

  /**
   * Creates a call that has not begun.
   *
   * @param arrived what the worker does when it arrives
   */
  LabCall(LabNetwork network, Runnable arrived) {
    this.network = network;
    this.arrived = arrived;
  }

  @Override
  public ExchangeResponse execute() throws TransportException {
    at(
        network.roundTripMs() / 2,
        () -> {
          arrived.run();
          at(
              network.roundTripMs() / 2,
              () -> {
                answered = true;
                wake();
              });
        });
    while (!answered && !cancelled) {
      Turns.Turn turn = network.turns().current();
      waiting = turn;
      network.turns().park(turn);
    }
    if (cancelled) {
      throw new TransportException(
          TransportException.Kind.CANCELLED, FailurePhase.AWAIT_HEADERS, 0, "in the lab", null);
    }
    return this;
  }

  private void at(double afterMs, Runnable action) {
    network.time().schedule(network.time().nowMs() + afterMs, EventKind.ARRIVAL, action);
  }

  private void wake() {
    Turns.Turn turn = waiting;
    if (turn != null) {
      waiting = null;
      at(0, () -> network.turns().resume(turn));
    }
  }

  @Override
  public void cancel() {
    cancelled = true;
    wake();
  }

  @Override
  public int status() {
    return 200;
  }

  @Override
  public Headers headers() {
    return Headers.EMPTY;
  }

  @Override
  public boolean streaming() {
    return false;
  }

  @Override
  public byte[] readBody() {
    return "{}".getBytes(StandardCharsets.UTF_8);
  }

  @Override
  public @Nullable StreamEvent nextEvent() {
    return null;
  }

  @Override
  public void close() {
    // nothing is open
  }
}

package dev.warmpath.transport;

/**
 * One request to one worker, sent at most once: a transport never repeats it by itself. {@link
 * #execute()} is called once; {@link #cancel()} may come from any thread, any number of times,
 * before, during and after.
 */
public interface Exchange {
  /**
   * Sends the request and waits for the response's headers.
   *
   * @return the response, which the caller closes
   * @throws TransportException when no headers came
   */
  ExchangeResponse execute() throws TransportException;

  /**
   * Ends the exchange wherever it stands and lets the worker know at once, by its abort call first
   * where a dropped connection alone would leave the request running. Never blocks, never throws; a
   * thread waiting in the exchange gets a {@link TransportException} of kind {@code CANCELLED}.
   */
  void cancel();
}

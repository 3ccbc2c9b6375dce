package dev.warmpath.okhttp;

import dev.warmpath.transport.Exchange;
import dev.warmpath.transport.ExchangeResponse;
import dev.warmpath.transport.TransportException;
import java.io.IOException;
import java.time.Duration;
import java.util.function.Consumer;
import okhttp3.Call;
import okhttp3.Callback;
import okhttp3.Response;
import org.jspecify.annotations.Nullable;

/** One call to one worker. */
final class OkHttpExchange implements Exchange {
  private final Call call;
  private final @Nullable Call abort;
  private final ExchangeProgress progress;
  private final Duration interToken;
  private final InterruptWatch interrupts;

  /**
   * Creates an exchange.
   *
   * @param call the call, tagged with {@code progress}
   * @param abort tells the worker to end the request; made before the connection is dropped, where
   *     dropping alone would leave the request running; null where dropping suffices
   * @param interToken the longest silence of a stream that flows
   * @param interrupts ends the exchange when a thread that waits for it is interrupted
   */
  OkHttpExchange(
      Call call,
      @Nullable Call abort,
      ExchangeProgress progress,
      Duration interToken,
      InterruptWatch interrupts) {
    this.call = call;
    this.abort = abort;
    this.progress = progress;
    this.interToken = interToken;
    this.interrupts = interrupts;
  }

  @Override
  public ExchangeResponse execute() throws TransportException {
    Response response = interruptibly(call::execute, Response::close);
    return new OkHttpExchangeResponse(this, response, progress, interToken);
  }

  /**
   * Waits for I/O of this exchange; an interrupt of the calling thread cancels it and stays
   * pending.
   */
  <T> T interruptibly(Io<T> io) throws TransportException {
    return interruptibly(io, unused -> {});
  }

  private <T> T interruptibly(Io<T> io, Consumer<T> discard) throws TransportException {
    interrupts.waitingFor(this);
    try {
      T result = io.run();
      if (progress.cancelled()) {
        // An aborted request may still be answered: with what it had come to.
        discard.accept(result);
        throw new TransportException(
            TransportException.Kind.CANCELLED, progress.phase(), 0, "cancelled", null);
      }
      return result;
    } catch (IOException e) {
      throw Failures.of(e, progress);
    } finally {
      interrupts.done(this);
    }
  }

  /** Something that reads or writes. */
  interface Io<T> {
    T run() throws IOException;
  }

  @Override
  public void cancel() {
    if (progress.cancelled()) {
      return;
    }
    progress.cancel();
    Call first = abort;
    if (first == null || !progress.reachedWorker()) {
      call.cancel();
      return;
    }
    first.enqueue(
        new Callback() {
          @Override
          public void onFailure(Call aborted, IOException e) {
            call.cancel();
          }

          @Override
          public void onResponse(Call aborted, Response response) {
            call.cancel();
            response.close();
          }
        });
  }
}

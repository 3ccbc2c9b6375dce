package dev.warmpath.okhttp;

import dev.warmpath.transport.Exchange;
import dev.warmpath.transport.ExchangeResponse;
import dev.warmpath.transport.OutboundRequest;
import dev.warmpath.transport.TransportException;
import java.io.IOException;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Supplier;
import okhttp3.Call;
import okhttp3.Response;
import org.jspecify.annotations.Nullable;

/** One call to one worker. */
final class OkHttpExchange implements Exchange, InterruptWatch.Waiting {
  private final Call call;
  private final OutboundRequest request;
  private final @Nullable Supplier<CompletionStage<?>> abort;
  private final ExchangeProgress progress;
  private final Hangup hangup;
  private final InterruptWatch interrupts;

  /**
   * Creates an exchange.
   *
   * @param call the call, tagged with {@code progress}
   * @param request what it carries
   * @param abort tells the worker to end the request; made before the connection is dropped, where
   *     dropping alone would leave the request running; null where dropping suffices
   * @param interrupts ends the exchange when a thread that waits for it is interrupted
   */
  OkHttpExchange(
      Call call,
      OutboundRequest request,
      @Nullable Supplier<CompletionStage<?>> abort,
      ExchangeProgress progress,
      InterruptWatch interrupts) {
    this.call = call;
    this.request = request;
    this.abort = abort;
    this.progress = progress;
    this.hangup = new Hangup(call::cancel);
    this.interrupts = interrupts;
  }

  @Override
  public ExchangeResponse execute() throws TransportException {
    BodyLimits limits = BodyLimits.from(request.timeouts());
    Response response = interruptibly(call::execute, this::close);
    return new OkHttpExchangeResponse(response, this, progress, limits, request.path());
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
        throw Failures.cancelled(progress);
      }
      return result;
    } catch (IOException e) {
      throw Failures.of(e, progress);
    } catch (RuntimeException | TransportException e) {
      throw e;
    } catch (Exception e) {
      throw Failures.of(Failures.undeclared(e), progress);
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
    progress.cancel();
    hangup.begin(progress.reachedWorker() ? abort : null);
  }

  /** Closes a response, once no hang-up needs its connection any more. */
  void close(Response response) {
    hangup.close(response::close);
  }
}

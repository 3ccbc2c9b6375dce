package dev.warmpath.dispatch;

import dev.warmpath.api.FailurePhase;
import dev.warmpath.api.RequestRejectedException;
import dev.warmpath.api.RouterException;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.api.RouterResponse;
import dev.warmpath.api.RouterStream;
import dev.warmpath.api.StreamEvent;
import dev.warmpath.api.Usage;
import dev.warmpath.prompt.AnswerReader;
import dev.warmpath.prompt.Exactness;
import dev.warmpath.prompt.Prompt;
import dev.warmpath.prompt.ResponseReader;
import dev.warmpath.prompt.UsageReader;
import dev.warmpath.transport.Exchange;
import dev.warmpath.transport.ExchangeResponse;
import dev.warmpath.transport.OutboundRequest;
import dev.warmpath.transport.TransportException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Drives dispatches on the calling thread over blocking exchanges: whole responses, streams, and
 * open exchanges for callers that carry the bytes themselves. The one place where an attempt meets
 * a transport. Thread safe.
 */
public final class RequestRunner {
  private final Dispatcher dispatcher;
  private final Function<OutboundRequest, Exchange> transports;
  private final Executor executor;
  private final UsageReader usages = new UsageReader();

  /**
   * Creates a runner.
   *
   * @param dispatcher where requests come from
   * @param transports opens the exchange of an outbound request
   * @param executor delivers events to stream subscribers
   */
  public RequestRunner(
      Dispatcher dispatcher, Function<OutboundRequest, Exchange> transports, Executor executor) {
    this.dispatcher = dispatcher;
    this.transports = transports;
    this.executor = executor;
  }

  /** Reads the answer of a prompt whose blocks are known; null where nothing could use it. */
  private static @Nullable AnswerReader answers(Prompt prompt) {
    return prompt.blocks() != null && prompt.single() ? new AnswerReader() : null;
  }

  /** Makes something of a successful response, whose headers have arrived. */
  private interface Reader<T> {
    /**
     * Reads as much as it needs.
     *
     * @return null when the attempt has ended in failure and the next one is due
     */
    @Nullable T read(Attempt attempt, Exchange exchange, ExchangeResponse response)
        throws TransportException;
  }

  /**
   * Sends a request and waits for the whole response. A worker's client error is a response.
   *
   * @throws RouterException as {@link Dispatcher#begin} and {@link Dispatch#next} do
   */
  public RouterResponse send(RouterRequest request) {
    return send(dispatcher.begin(request));
  }

  /** Carries a begun request to its whole response. */
  public RouterResponse send(Dispatch dispatch) {
    return run(
        dispatch,
        transports,
        (attempt, exchange, response) -> {
          byte[] body = response.readBody();
          attempt.firstByte();
          int status = response.status();
          Usage usage = null;
          if (status >= 300) {
            attempt.rejected(status);
          } else {
            usage = usages.read(body);
            AnswerReader answer = answers(dispatch.prompt());
            if (answer != null) {
              answer.body(body);
            }
            attempt.completed(usage, answer == null ? null : answer.answer());
          }
          return new RouterResponse(status, response.headers(), body, usage, dispatch.decision());
        });
  }

  /**
   * Carries a begun request to the first event of its stream. Until then a failure is retried
   * elsewhere; from then on nothing is sent again.
   *
   * @throws RequestRejectedException when the worker refuses with a client error
   * @throws RouterException as {@link Dispatch#next} does
   */
  public RouterStream stream(Dispatch dispatch) {
    return run(
        dispatch,
        transports,
        (attempt, exchange, response) -> {
          int status = response.status();
          if (status >= 300) {
            byte[] body = response.readBody();
            attempt.rejected(status);
            throw new RequestRejectedException(status, body, dispatch.decision());
          }
          StreamEvent first;
          if (response.streaming()) {
            first = response.nextEvent();
          } else {
            // Asked for a stream, answered whole: one event, then the end.
            first = new StreamEvent(null, new String(response.readBody(), StandardCharsets.UTF_8));
          }
          attempt.firstByte();
          RoutedStream stream =
              new RoutedStream(
                  attempt, response, first, usages, answers(dispatch.prompt()), executor);
          if (first == null) {
            attempt.completed(null, null);
          }
          return stream;
        });
  }

  /**
   * A stream whose first event is at hand, for a driver of its own.
   *
   * @param owner is told how it fares
   * @param first the first event, or null where there is none
   */
  public RouterStream stream(
      AnswerOwner owner, ExchangeResponse response, @Nullable StreamEvent first) {
    return new RoutedStream(owner, response, first, usages, null, executor);
  }

  /**
   * An exchange whose headers have arrived, for a caller that carries the body itself.
   *
   * @param owner whose answer it is: the caller ends it through {@link Finisher}
   * @param response the response
   * @param finisher what the caller calls as the body goes by
   */
  public record Opened(AnswerOwner owner, ExchangeResponse response, Finisher finisher) {
    /** An exchange whose end is told to {@code owner}. */
    public Opened(AnswerOwner owner, ExchangeResponse response) {
      this(owner, response, new Finisher(owner));
    }
  }

  /**
   * Tells how the body of an {@link Opened} exchange fares. One terminal call counts, the first.
   */
  public static final class Finisher {
    private final AnswerOwner owner;

    private Finisher(AnswerOwner owner) {
      this.owner = owner;
    }

    /** A byte of the body reached the caller. */
    public void firstByte() {
      owner.firstByte();
    }

    /** Whether the body's bytes are of use to {@link #completed}. */
    public boolean wantsBody() {
      return owner.prompt().exactness() != Exactness.OPAQUE;
    }

    /**
     * The body ended well.
     *
     * @param body its bytes, or null where they are not at hand; from them come the token counts
     *     and, where the prompt's blocks are known, the answer
     */
    public void completed(int status, byte @Nullable [] body) {
      if (owner.ended()) {
        return;
      }
      if (status >= 300) {
        owner.rejected(status);
        return;
      }
      ResponseReader.Told told = body == null ? null : ResponseReader.read(body);
      owner.completed(
          told == null ? null : told.usage(),
          told == null || answers(owner.prompt()) == null ? null : told.answer());
    }

    /** The body broke. */
    public void failed(TransportException error) {
      if (!owner.ended()) {
        var unused = owner.broken(error);
      }
    }

    /** The caller gave up. */
    public void cancelled() {
      owner.abandon();
    }
  }

  /**
   * Sends a request through exchanges that the caller makes and returns at the headers of the first
   * response that is not to be retried.
   *
   * @param exchanges opens an exchange; called once per attempt
   * @param repeatable asked after a failed attempt: whether the caller could send its request again
   * @throws RouterException as {@link Dispatcher#begin} and {@link Dispatch#next} do
   */
  public Opened open(
      Dispatch dispatch,
      Function<OutboundRequest, Exchange> exchanges,
      BooleanSupplier repeatable) {
    dispatch.repeatable(repeatable);
    return run(dispatch, exchanges, (attempt, exchange, response) -> new Opened(attempt, response));
  }

  private <T> T run(
      Dispatch dispatch, Function<OutboundRequest, Exchange> exchanges, Reader<T> reader) {
    while (true) {
      Step step = dispatch.next();
      if (step instanceof Step.Pause pause) {
        dispatch.pause(pause);
        continue;
      }
      Attempt attempt = (Attempt) step;
      ExchangeResponse response = null;
      boolean handedOver = false;
      try {
        Exchange exchange = dispatch.exchange(attempt, exchanges.apply(attempt.outbound()));
        attempt.carriedBy(exchange);
        response = exchange.execute();
        Failure refusal =
            Failure.ofStatus(response.status(), retryAfter(response.headers().get("Retry-After")));
        if (response.status() >= 400 && refusal.retryable()) {
          attempt.failed(refusal, false);
          continue;
        }
        T result = reader.read(attempt, exchange, response);
        handedOver = result != null && !(result instanceof RouterResponse);
        if (result != null) {
          return result;
        }
      } catch (TransportException e) {
        attempt.failed(Failure.of(e), false);
      } catch (RouterException e) {
        throw e;
      } catch (Throwable e) {
        // A transport's bug, or a listener's: the lease goes back, and the caller sees what
        // happened. Code in other languages throws checked exceptions undeclared.
        attempt.failed(
            new Failure(
                Failure.Blame.NONE,
                false,
                FailurePhase.AWAIT_HEADERS,
                0,
                e.getClass().getName(),
                null,
                false,
                e),
            false);
        dispatch.cancel();
        throw e;
      } finally {
        if (response != null && !handedOver) {
          response.close();
        }
      }
    }
  }

  /** Seconds or an HTTP date, as RFC 9110 section 10.2.3 has it; null when absent or unreadable. */
  public static @Nullable Duration retryAfter(@Nullable String header) {
    if (header == null) {
      return null;
    }
    String text = header.trim();
    try {
      double seconds = Double.parseDouble(text);
      return seconds >= 0 && seconds < 1e9 ? Duration.ofMillis(Math.round(seconds * 1e3)) : null;
    } catch (NumberFormatException notSeconds) {
      try {
        Instant at = ZonedDateTime.parse(text, DateTimeFormatter.RFC_1123_DATE_TIME).toInstant();
        Duration wait = Duration.between(Instant.now(), at);
        return wait.isNegative() ? Duration.ZERO : wait;
      } catch (DateTimeParseException e) {
        return null;
      }
    }
  }
}

package dev.warmpath.api;

import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Follows requests one by one, each with an object of its own, and gives what is sent to workers
 * the headers by which their traces join the application's. Thread safe. As with listeners, what a
 * tracer throws is logged once and hurts no request.
 */
public interface RouterTracer {
  /**
   * A request came. Called on the thread that brought it, or on one to which {@link #carry} took
   * the bringing thread's context.
   *
   * @param request the request; its body is as private as the prompt is
   * @param since how long ago it came
   */
  RequestTrace begin(RouterRequest request, Duration since);

  /**
   * Takes the calling thread's context along to the thread on which {@code task} will run. By
   * default there is none to take.
   */
  default Runnable carry(Runnable task) {
    return task;
  }

  /**
   * Follows one request: hears what listeners hear of it, and of each of its exchanges with a
   * worker. Calls may come on several threads, one at a time for each exchange.
   */
  interface RequestTrace extends RouterListener {
    /** Follows nothing. */
    RequestTrace NONE = new RequestTrace() {};

    /** An exchange with a worker is about to begin. */
    default HopTrace hop(Hop hop) {
      return HopTrace.NONE;
    }

    /** The request was not taken in: no other event follows. */
    default void onRefused(RuntimeException error) {}
  }

  /** Follows one exchange. */
  interface HopTrace {
    /** Follows nothing. */
    HopTrace NONE = new HopTrace() {};

    /** Headers to send along, such as {@code traceparent}; they replace those of the same name. */
    default Map<String, String> headers() {
      return Map.of();
    }

    /** The exchange is over. Called once. */
    default void ended(HopEnd end) {}
  }

  /**
   * An exchange with one worker: an attempt, or one of the two legs of a prefill/decode attempt.
   *
   * @param worker the worker, with {@code #rank} where one was named
   * @param role {@code regular}, {@code prefill} or {@code decode}
   * @param attempt the attempt's number from 1
   * @param candidate why the worker was chosen
   */
  record Hop(String worker, String role, int attempt, RouteDecision.CandidateView candidate) {}

  /**
   * How an exchange ended.
   *
   * @param status the response's status, or 0 where none arrived
   * @param error what went wrong in a word or a few, without any payload; null where nothing did
   */
  record HopEnd(int status, @Nullable String error) {}
}

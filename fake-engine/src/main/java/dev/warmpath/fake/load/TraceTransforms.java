package dev.warmpath.fake.load;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/**
 * Changes to a trace that keep what it is like. Each returns new requests in the order of the old
 * ones.
 */
public final class TraceTransforms {
  private TraceTransforms() {}

  /**
   * Makes time go faster.
   *
   * @param requests the trace
   * @param ratio divides arrivals and delays, more than 0
   * @return the faster trace
   */
  public static List<TraceRequest> speedUp(List<TraceRequest> requests, double ratio) {
    requirePositive(ratio, "ratio");
    if (ratio == 1) {
      return List.copyOf(requests);
    }
    return map(
        requests,
        request -> request.at(request.arrivalMs() / ratio, request.delayAfterPreviousMs() / ratio));
  }

  /**
   * Lets the first request arrive at 0.
   *
   * @param requests the trace
   * @return the trace, shifted
   */
  public static List<TraceRequest> normaliseStart(List<TraceRequest> requests) {
    double first = first(requests);
    return map(
        requests,
        request -> request.at(request.arrivalMs() - first, request.delayAfterPreviousMs()));
  }

  /**
   * Stretches or squeezes the arrivals, from the first to the last, to a length. Delays within
   * sessions follow.
   *
   * @param requests the trace
   * @param spanMs the time between first and last arrival, more than 0; a trace whose requests all
   *     arrive at once stays as it is
   * @return the trace, beginning where it began
   */
  public static List<TraceRequest> rescaleSpan(List<TraceRequest> requests, double spanMs) {
    requirePositive(spanMs, "spanMs");
    double first = first(requests);
    double last = requests.stream().mapToDouble(TraceRequest::arrivalMs).max().orElse(first);
    if (last <= first) {
      return List.copyOf(requests);
    }
    double factor = spanMs / (last - first);
    return map(
        requests,
        request ->
            request.at(
                first + (request.arrivalMs() - first) * factor,
                request.delayAfterPreviousMs() * factor));
  }

  /**
   * Deals sessions out, in order of their first request, in turn.
   *
   * @param requests the trace
   * @param parts how many traces to make, at least 1
   * @return the parts; all requests of a session are in one
   */
  public static List<List<TraceRequest>> partitionBySession(
      List<TraceRequest> requests, int parts) {
    requirePositive(parts, "parts");
    List<List<TraceRequest>> dealt = new ArrayList<>();
    for (int i = 0; i < parts; i++) {
      dealt.add(new ArrayList<>());
    }
    Map<String, Integer> partOf = new HashMap<>();
    for (TraceRequest request : requests) {
      Integer part = partOf.computeIfAbsent(request.sessionId(), id -> partOf.size() % parts);
      dealt.get(part).add(request);
    }
    return dealt;
  }

  /**
   * Multiplies the load without making prefixes more popular: each request comes several times at
   * the same moment, in sessions and with blocks of their own.
   *
   * @param requests the trace
   * @param copies how many times, at least 1
   * @return the trace, copies of a request one after the other
   */
  public static List<TraceRequest> duplicateHashSpace(List<TraceRequest> requests, int copies) {
    requirePositive(copies, "copies");
    long most = -1;
    for (TraceRequest request : requests) {
      for (long id : request.hashIds()) {
        most = Math.max(most, id);
      }
    }
    long space = Math.addExact(most, 1);
    Math.multiplyExact(space, copies);
    List<TraceRequest> all = new ArrayList<>(requests.size() * copies);
    for (TraceRequest request : requests) {
      for (int copy = 0; copy < copies; copy++) {
        long offset = space * copy;
        long[] ids = Arrays.stream(request.hashIds()).map(id -> id + offset).toArray();
        all.add(
            new TraceRequest(
                request.arrivalMs(),
                copy == 0 ? request.sessionId() : request.sessionId() + "#" + copy,
                request.delayAfterPreviousMs(),
                request.inputTokens(),
                request.outputTokens(),
                ids,
                request.hashBlockTokens(),
                copy == 0 || request.program().isEmpty()
                    ? request.program()
                    : request.program() + "#" + copy));
      }
    }
    return all;
  }

  /**
   * Makes prompts longer by a whole factor: block {@code id} becomes the blocks {@code id * factor}
   * to {@code id * factor + factor - 1}, and a prompt is that many times as long.
   *
   * @param requests the trace
   * @param factor at least 1
   * @return the deeper trace
   */
  public static List<TraceRequest> expandPrefixDepth(List<TraceRequest> requests, int factor) {
    requirePositive(factor, "factor");
    return map(
        requests,
        request -> {
          int tokens = Math.multiplyExact(request.inputTokens(), factor);
          int block = request.hashBlockTokens();
          long[] ids = new long[(tokens + block - 1) / block];
          for (int i = 0; i < ids.length; i++) {
            ids[i] =
                Math.addExact(
                    Math.multiplyExact(request.hashIds()[i / factor], factor), i % factor);
          }
          return new TraceRequest(
              request.arrivalMs(),
              request.sessionId(),
              request.delayAfterPreviousMs(),
              tokens,
              request.outputTokens(),
              ids,
              block,
              request.program());
        });
  }

  /** Adds up to {@code mostMs} to arrivals, uniformly, in the order of the requests. */
  static List<TraceRequest> jitter(List<TraceRequest> requests, double mostMs, long seed) {
    Draws draws = new Draws(seed);
    Map<String, Double> bySession = new HashMap<>();
    return map(
        requests,
        request ->
            request.at(
                request.arrivalMs()
                    + bySession.computeIfAbsent(request.sessionId(), id -> draws.uniform(mostMs)),
                request.delayAfterPreviousMs()));
  }

  private static double first(List<TraceRequest> requests) {
    return requests.stream().mapToDouble(TraceRequest::arrivalMs).min().orElse(0);
  }

  private static List<TraceRequest> map(
      List<TraceRequest> requests, UnaryOperator<TraceRequest> change) {
    return requests.stream().map(change).toList();
  }

  private static void requirePositive(double value, String name) {
    if (!(value > 0) || Double.isInfinite(value)) {
      throw new IllegalArgumentException(name + " must be more than 0, was " + value);
    }
  }
}

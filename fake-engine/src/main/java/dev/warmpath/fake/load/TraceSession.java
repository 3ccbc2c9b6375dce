package dev.warmpath.fake.load;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Requests that follow one another: each is sent when the answer to the one before has ended and
 * its delay has passed. One-shot requests are sessions of one turn.
 *
 * @param id names it; a client may use it as session key
 * @param systemTokens how much of the beginning is a system prompt, 0 where nothing is known
 * @param documentTokens how much behind it is a document that others ask about, too; 0 for none
 * @param turns the requests, in order, at least one
 */
public record TraceSession(
    String id, int systemTokens, int documentTokens, List<TraceRequest> turns) {
  /**
   * A session without a document.
   *
   * @param id names it
   * @param systemTokens how much of the beginning is a system prompt
   * @param turns the requests
   */
  public TraceSession(String id, int systemTokens, List<TraceRequest> turns) {
    this(id, systemTokens, 0, turns);
  }

  /** Copies {@code turns}. */
  public TraceSession {
    turns = List.copyOf(turns);
    if (turns.isEmpty()) {
      throw new IllegalArgumentException("session " + id + " has no turns");
    }
  }

  /**
   * Returns when its first turn is due.
   *
   * @return milliseconds
   */
  public double arrivalMs() {
    return turns.get(0).arrivalMs();
  }

  /**
   * Returns this session at another time.
   *
   * @param arrivalMs when its first turn is due
   * @return the session, its later turns moved along
   */
  public TraceSession startingAt(double arrivalMs) {
    double shift = arrivalMs - arrivalMs();
    return new TraceSession(
        id,
        systemTokens,
        documentTokens,
        turns.stream()
            .map(turn -> turn.at(turn.arrivalMs() + shift, turn.delayAfterPreviousMs()))
            .toList());
  }

  /**
   * Returns this session, which has one turn, with a prompt of other blocks.
   *
   * @param hashIds as many as it had; not copied
   * @return a session of the same lengths and times
   * @throws IllegalArgumentException if it has several turns
   */
  public TraceSession madeOf(long[] hashIds) {
    if (turns.size() != 1) {
      throw new IllegalArgumentException("a session of " + turns.size() + " turns");
    }
    return new TraceSession(id, systemTokens, documentTokens, List.of(turns.get(0).of(hashIds)));
  }

  /**
   * Returns the document that its first prompt has behind the system prompt, as text.
   *
   * @return the same for all sessions about it; empty for none
   */
  public String document() {
    return ChatBody.text(turns.get(0), systemTokens, systemTokens + documentTokens);
  }

  /**
   * Returns this session with users who think for another time.
   *
   * @param factor multiplies the delays between its turns
   * @return the session
   */
  public TraceSession thinking(double factor) {
    return new TraceSession(
        id,
        systemTokens,
        documentTokens,
        turns.stream()
            .map(turn -> turn.at(turn.arrivalMs(), turn.delayAfterPreviousMs() * factor))
            .toList());
  }

  /**
   * Returns the token ids of a turn's prompt: each block's id, repeated, where it is an int, and a
   * hash of it elsewhere. Prompts share tokens where they share ids.
   *
   * @param turn from 0
   * @return as many tokens as the prompt is long
   */
  public int[] promptTokens(int turn) {
    TraceRequest request = turns.get(turn);
    return tokens(request, 0, request.inputTokens());
  }

  /**
   * Returns the token ids of a turn's answer, those that the next turn's prompt goes on with if it
   * continues this one.
   *
   * @param turn from 0
   * @return as many tokens as the answer is long
   */
  public int[] outputTokens(int turn) {
    TraceRequest request = turns.get(turn);
    int end = request.inputTokens() + request.outputTokens();
    if (turn + 1 < turns.size() && turns.get(turn + 1).continues(request)) {
      return tokens(turns.get(turn + 1), request.inputTokens(), end);
    }
    long last = request.hashIds()[request.hashIds().length - 1];
    int[] tokens = new int[request.outputTokens()];
    for (int i = 0; i < tokens.length; i++) {
      tokens[i] = (int) (Texts.name(last, "answer", i) & Integer.MAX_VALUE);
    }
    return tokens;
  }

  /**
   * Returns the ids of a turn's prompt and, where the next turn continues it, of its answer.
   *
   * @param turn from 0
   * @return one id for each of the turn's blocks, which may not be changed
   */
  public long[] ids(int turn) {
    TraceRequest request = turns.get(turn);
    if (turn + 1 < turns.size() && turns.get(turn + 1).continues(request)) {
      int end = request.inputTokens() + request.outputTokens();
      int blocks = (end + request.hashBlockTokens() - 1) / request.hashBlockTokens();
      return Arrays.copyOf(turns.get(turn + 1).hashIds(), blocks);
    }
    return request.hashIds();
  }

  private static int[] tokens(TraceRequest request, int from, int to) {
    int[] tokens = new int[to - from];
    for (int i = from; i < to; i++) {
      long id = request.hashIds()[i / request.hashBlockTokens()];
      tokens[i - from] =
          id >= 0 && id <= Integer.MAX_VALUE
              ? (int) id
              : (int) (Texts.name(id, "token", 0) & Integer.MAX_VALUE);
    }
    return tokens;
  }

  /**
   * Puts requests together that belong together.
   *
   * @param requests requests in any order
   * @return their sessions by arrival, each with its turns by arrival
   */
  public static List<TraceSession> of(List<TraceRequest> requests) {
    Map<String, List<TraceRequest>> byId = new LinkedHashMap<>();
    requests.stream()
        .sorted(Comparator.comparingDouble(TraceRequest::arrivalMs))
        .forEach(
            request ->
                byId.computeIfAbsent(request.sessionId(), id -> new ArrayList<>()).add(request));
    return byId.entrySet().stream()
        .map(entry -> new TraceSession(entry.getKey(), 0, entry.getValue()))
        .toList();
  }

  /**
   * Takes sessions apart.
   *
   * @param sessions sessions in any order
   * @return all of their requests by arrival
   */
  public static List<TraceRequest> requests(List<TraceSession> sessions) {
    return sessions.stream()
        .flatMap(session -> session.turns().stream())
        .sorted(Comparator.comparingDouble(TraceRequest::arrivalMs))
        .toList();
  }

  /** Sizes only. */
  @Override
  public String toString() {
    return "TraceSession[" + id + ", " + turns.size() + " turns]";
  }
}

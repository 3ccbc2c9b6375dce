package dev.warmpath.grpc.internal;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What one message says of one of a request's answers.
 *
 * @param index which answer
 * @param ids the new tokens
 * @param text the new text where the engine decodes itself, else null
 * @param logprobs those of {@code ids}, one by one; empty where none were asked for
 * @param end how the answer ended, or null if it goes on
 */
record Delta(
    int index,
    List<Integer> ids,
    @Nullable String text,
    List<Logprob> logprobs,
    @Nullable End end) {

  /**
   * One token's log probability and its best alternatives.
   *
   * @param topIds the alternatives' ids, best first
   * @param topValues their log probabilities
   */
  record Logprob(int id, float value, List<Integer> topIds, List<Float> topValues) {}

  /**
   * How an answer ended.
   *
   * @param reason OpenAI's finish reason, or an engine's own, such as {@code abort}
   * @param matched the stop string or token id that ended it, or null
   */
  record End(String reason, @Nullable Object matched) {}
}

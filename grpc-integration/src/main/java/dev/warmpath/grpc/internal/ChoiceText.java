package dev.warmpath.grpc.internal;

import dev.warmpath.transport.PromptTokens;
import dev.warmpath.transport.TokenDecoder;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** One answer as it grows: tokens to text, cut at its stops. */
final class ChoiceText {
  private final StopCutter cutter;
  private final @Nullable TokenDecoder decoder;
  private final Set<Integer> silent;
  private int tokens;
  private Delta.@Nullable End end;

  /**
   * Creates an answer.
   *
   * @param tokens decodes it, or null where the engine does
   * @param silent tokens that end it without being part of its text
   */
  ChoiceText(Sampling sampling, @Nullable PromptTokens tokens, Set<Integer> silent) {
    this.cutter = new StopCutter(sampling.stop(), sampling.includeStop());
    this.decoder = tokens == null ? null : tokens.decoder(sampling.skipSpecialTokens());
    this.silent = silent;
  }

  /**
   * What became certain by a delta.
   *
   * @param text the text
   * @param logprobs those of the tokens that count
   * @param end how the answer ended, told once; null if it goes on or has ended before
   */
  record Step(String text, List<Delta.Logprob> logprobs, Delta.@Nullable End end) {}

  /** Tokens so far, up to where it was cut. */
  int tokens() {
    return tokens;
  }

  Delta.@Nullable End end() {
    return end;
  }

  Step take(Delta delta) {
    if (end != null) {
      return new Step("", List.of(), null);
    }
    StringBuilder text = new StringBuilder();
    List<Delta.Logprob> logprobs = new ArrayList<>(delta.logprobs().size());
    for (int i = 0; i < delta.ids().size() && cutter.matched() == null; i++) {
      int id = delta.ids().get(i);
      tokens++;
      if (decoder != null && !silent.contains(id)) {
        text.append(cutter.append(decoder.append(id)));
      }
      if (i < delta.logprobs().size()) {
        logprobs.add(delta.logprobs().get(i));
      }
    }
    if (delta.text() != null) {
      text.append(cutter.append(delta.text()));
    }
    String cutBy = cutter.matched();
    if (cutBy != null) {
      end = new Delta.End("stop", cutBy);
    } else if (delta.end() != null) {
      if (decoder != null) {
        text.append(cutter.append(decoder.finish()));
      }
      cutBy = cutter.matched();
      text.append(cutter.finish());
      end = cutBy == null ? delta.end() : new Delta.End("stop", cutBy);
    }
    return new Step(text.toString(), logprobs, end);
  }
}

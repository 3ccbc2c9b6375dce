package dev.warmpath.fake.internal.surface;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.fake.text.PromptEncoder;
import dev.warmpath.worker.WorkerRole;

/**
 * What SGLang's {@code /generate} tells in {@code meta_info} where {@code return_logprob} asks for
 * it: {@code [value, id, text]} of each token, whose text is null unless {@code
 * return_text_in_logprobs} asks for it. In streams the lists grow with each chunk. The first token
 * of a prompt has no value, and of prompts only what {@code logprob_start_len} names is told, by
 * the worker that computed it.
 */
final class NativeLogprobs {
  private final JsonNode wanted;
  private final JsonNode start;
  private final JsonNode top;
  private final boolean texts;
  private final boolean computesPrompt;
  private final PromptEncoder encoder;

  private NativeLogprobs(JsonNode body, EngineSettings settings) {
    wanted = body.path("return_logprob");
    start = body.path("logprob_start_len");
    top = body.path("top_logprobs_num");
    texts = body.path("return_text_in_logprobs").asBoolean(false);
    computesPrompt = settings.role() != WorkerRole.DECODE;
    encoder = settings.encoder();
  }

  static NativeLogprobs asked(JsonNode body, EngineSettings settings) {
    return new NativeLogprobs(body, settings);
  }

  /** A batch may say it for each of its prompts. */
  private static JsonNode of(JsonNode value, int prompt) {
    return value.isArray() ? value.path(prompt) : value;
  }

  /** Adds what was asked for of an answer to the prompt of that number. */
  void addTo(ObjectNode meta, Generation.Item item, int prompt) {
    if (!of(wanted, prompt).asBoolean(false)) {
      return;
    }
    int tops = of(top, prompt).asInt(0);
    int from = of(start, prompt).asInt(-1);
    int[] input = item.prompt();
    boolean none = from < 0 || !computesPrompt;
    list(meta, "input", input, none ? input.length : from, input.length, tops, true);
    list(meta, "output", item.text().tokens(), 0, item.generated(), tops, false);
  }

  private void list(
      ObjectNode meta, String side, int[] tokens, int from, int to, int tops, boolean prompt) {
    ArrayNode values = meta.putArray(side + "_token_logprobs");
    for (int i = from; i < to; i++) {
      if (prompt && i == 0) {
        entry(values.addArray().addNull(), tokens[i]);
      } else {
        entry(values.addArray().add(Logprobs.of(tokens, i)), tokens[i]);
      }
    }
    if (tops > 0) {
      ArrayNode likeliest = meta.putArray(side + "_top_logprobs");
      for (int i = from; i < to; i++) {
        if (prompt && i == 0) {
          likeliest.addNull();
        } else {
          ArrayNode candidates = likeliest.addArray();
          for (int candidate : Logprobs.candidates(tokens, i, tops)) {
            int rank = candidates.size();
            entry(candidates.addArray().add(Logprobs.of(tokens, i, rank)), candidate);
          }
        }
      }
    }
  }

  private void entry(ArrayNode entry, int token) {
    entry.add(token);
    if (texts) {
      entry.add(encoder.decode(new int[] {token}));
    } else {
      entry.addNull();
    }
  }
}

package dev.warmpath.fake.internal.surface;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.fake.text.PromptEncoder;
import dev.warmpath.worker.EngineKind;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The field {@code logprobs} of an OpenAI choice: an object for each token in chats, parallel lists
 * in completions. SGLang doesn't tell where tokens begin in the text and says -1; vLLM names the
 * chosen token among the likeliest even if none are asked for.
 */
final class OpenAiLogprobs {
  /** vLLM's {@code --max-logprobs}. */
  private static final int MAX_TOP = 20;

  private final boolean chat;
  private final int top;
  private final boolean vllm;
  private final PromptEncoder encoder;

  private OpenAiLogprobs(boolean chat, int top, boolean vllm, PromptEncoder encoder) {
    this.chat = chat;
    this.top = top;
    this.vllm = vllm;
    this.encoder = encoder;
  }

  /**
   * Reads what a body asks for.
   *
   * @return null for nothing
   * @throws IllegalArgumentException with what vLLM says of a body that it refuses
   */
  static @Nullable OpenAiLogprobs asked(JsonNode body, boolean chat, EngineSettings settings) {
    boolean vllm = settings.kind() == EngineKind.VLLM;
    JsonNode count = body.path(chat ? "top_logprobs" : "logprobs");
    boolean wanted = chat ? body.path("logprobs").asBoolean(false) : count.isIntegralNumber();
    int top = count.asInt(0);
    if (vllm && top < 0) {
      throw new IllegalArgumentException(
          "`" + (chat ? "top_logprobs" : "logprobs") + "` must be a positive value.");
    }
    if (vllm && top > 0 && !wanted) {
      throw new IllegalArgumentException(
          "when using `top_logprobs`, `logprobs` must be set to true.");
    }
    if (vllm && top > MAX_TOP) {
      throw new IllegalArgumentException(
          "Requested sample logprobs of "
              + top
              + ", which is greater than max allowed: "
              + MAX_TOP);
    }
    return wanted ? new OpenAiLogprobs(chat, top, vllm, settings.encoder()) : null;
  }

  /**
   * Tells of some tokens of an answer.
   *
   * @param from first token
   * @param to token after the last one
   */
  ObjectNode of(Generation.Item item, int from, int to) {
    return chat ? content(item.text().tokens(), from, to) : lists(item, from, to);
  }

  private ObjectNode content(int[] tokens, int from, int to) {
    ObjectNode logprobs = Json.object();
    ArrayNode content = logprobs.putArray("content");
    for (int i = from; i < to; i++) {
      ObjectNode token = token(tokens[i], Logprobs.of(tokens, i));
      ArrayNode tops = token.putArray("top_logprobs");
      int rank = 0;
      for (int candidate : Logprobs.candidates(tokens, i, top)) {
        tops.add(token(candidate, Logprobs.of(tokens, i, rank++)));
      }
      content.add(token);
    }
    return logprobs;
  }

  private ObjectNode token(int id, float value) {
    String text = text(id);
    ObjectNode token = Json.object().put("token", text).put("logprob", value);
    ArrayNode bytes = token.putArray("bytes");
    for (byte each : text.getBytes(StandardCharsets.UTF_8)) {
      bytes.add(each & 0xff);
    }
    return token;
  }

  private ObjectNode lists(Generation.Item item, int from, int to) {
    int[] tokens = item.text().tokens();
    ObjectNode logprobs = Json.object();
    ArrayNode offsets = logprobs.putArray("text_offset");
    ArrayNode values = logprobs.putArray("token_logprobs");
    ArrayNode texts = logprobs.putArray("tokens");
    ArrayNode tops = logprobs.putArray("top_logprobs");
    int offset = item.text().text(0, from).length();
    for (int i = from; i < to; i++) {
      String text = text(tokens[i]);
      offsets.add(vllm ? offset : -1);
      offset += text.length();
      values.add(Logprobs.of(tokens, i));
      texts.add(text);
      if (vllm || top > 0) {
        ObjectNode likeliest = tops.addObject();
        List<Integer> candidates = Logprobs.candidates(tokens, i, Math.max(1, top));
        for (int rank = 0; rank < candidates.size(); rank++) {
          likeliest.put(text(candidates.get(rank)), Logprobs.of(tokens, i, rank));
        }
      }
    }
    return logprobs;
  }

  private String text(int id) {
    return encoder.decode(new int[] {id});
  }
}

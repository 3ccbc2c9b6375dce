package dev.warmpath.grpc.internal;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The sampling parameters that a request itself names; null or empty is what it leaves out.
 *
 * @param topK -1 and 0 are off
 * @param minTokens tokens before which nothing ends the answer
 * @param n how many answers
 * @param includeStop whether the stop string stays in the text
 * @param logitBias biases by token id
 */
record Sampling(
    @Nullable Double temperature,
    @Nullable Double topP,
    @Nullable Integer topK,
    @Nullable Double minP,
    double frequencyPenalty,
    double presencePenalty,
    @Nullable Double repetitionPenalty,
    @Nullable Integer maxTokens,
    int minTokens,
    List<String> stop,
    List<Integer> stopTokenIds,
    boolean skipSpecialTokens,
    boolean spacesBetweenSpecialTokens,
    int n,
    boolean ignoreEos,
    boolean includeStop,
    @Nullable Long seed,
    Map<Integer, Float> logitBias,
    @Nullable Constraint constraint) {

  /** The fields it is read from, but for those of {@link Constraint}. */
  static final List<String> FIELDS =
      List.of(
          "temperature",
          "top_p",
          "top_k",
          "min_p",
          "frequency_penalty",
          "presence_penalty",
          "repetition_penalty",
          "max_tokens",
          "max_completion_tokens",
          "min_tokens",
          "stop",
          "stop_token_ids",
          "skip_special_tokens",
          "spaces_between_special_tokens",
          "n",
          "ignore_eos",
          "no_stop_trim",
          "include_stop_str_in_output",
          "seed",
          "logit_bias");

  static Sampling read(BodyFields body) throws InexpressibleException {
    Integer most = body.integer("max_completion_tokens");
    most = most == null ? body.integer("max_tokens") : most;
    if (most != null && most < 1) {
      throw new InexpressibleException("max_tokens must be at least 1");
    }
    Integer n = body.integer("n");
    if (n != null && n < 1) {
      throw new InexpressibleException("n must be at least 1");
    }
    return new Sampling(
        body.number("temperature"),
        body.number("top_p"),
        body.integer("top_k"),
        body.number("min_p"),
        orZero(body.number("frequency_penalty")),
        orZero(body.number("presence_penalty")),
        body.number("repetition_penalty"),
        most,
        (int) orZero(body.number("min_tokens")),
        stops(body),
        body.ids("stop_token_ids"),
        body.flag("skip_special_tokens", true),
        body.flag("spaces_between_special_tokens", true),
        n == null ? 1 : n,
        body.flag("ignore_eos", false),
        body.flag("include_stop_str_in_output", false) || body.flag("no_stop_trim", false),
        body.longer("seed"),
        logitBias(body),
        Constraint.read(body));
  }

  private static double orZero(@Nullable Double value) {
    return value == null ? 0 : value;
  }

  private static List<String> stops(BodyFields body) throws InexpressibleException {
    List<String> stops = body.texts("stop");
    if (stops.contains("")) {
      throw new InexpressibleException("an empty stop string");
    }
    return List.copyOf(stops);
  }

  private static Map<Integer, Float> logitBias(BodyFields body) throws InexpressibleException {
    JsonNode biases = body.get("logit_bias");
    Map<Integer, Float> read = new LinkedHashMap<>();
    if (biases != null) {
      for (Map.Entry<String, JsonNode> bias : biases.properties()) {
        try {
          read.put(Integer.parseUnsignedInt(bias.getKey()), bias.getValue().floatValue());
        } catch (NumberFormatException e) {
          throw new InexpressibleException("logit_bias must name token ids");
        }
      }
    }
    return read;
  }

  double temperature(SamplingDefaults otherwise) {
    return temperature == null ? otherwise.temperature() : temperature;
  }

  double topP(SamplingDefaults otherwise) {
    return topP == null ? otherwise.topP() : topP;
  }

  int topK(SamplingDefaults otherwise) {
    return topK == null ? otherwise.topK() : topK;
  }

  double minP(SamplingDefaults otherwise) {
    return minP == null ? otherwise.minP() : minP;
  }

  double repetitionPenalty(SamplingDefaults otherwise) {
    return repetitionPenalty == null ? otherwise.repetitionPenalty() : repetitionPenalty;
  }
}

package dev.warmpath.grpc.internal;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.api.RouterRequest;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A chat or text completion as it is asked for: everything of its body but the prompt. A field that
 * no gRPC service could carry, or that is not known, makes it inexpressible: nothing is left out in
 * silence.
 *
 * @param chat whether it is a chat
 * @param model the model it names, or empty
 * @param stream whether the answer is streamed
 * @param includeUsage whether a stream ends with its token counts
 * @param sampling how to generate
 * @param topLogprobs alternatives to tell at each position; -1 where no log probabilities are asked
 * @param promptText a completion's prompt where it is one text, else null
 * @param cacheSalt separates caches, or null
 * @param lora the adapter by SGLang's {@code lora_path}, or null
 * @param priority the engine's scheduling priority, or null
 * @param bootstrap where a prefill and a decode worker meet, or null
 * @param kvTransferParams what a connector hands over, as JSON, or null
 */
record Generation(
    boolean chat,
    String model,
    boolean stream,
    boolean includeUsage,
    Sampling sampling,
    int topLogprobs,
    @Nullable String promptText,
    @Nullable String cacheSalt,
    @Nullable String lora,
    @Nullable Integer priority,
    @Nullable Bootstrap bootstrap,
    @Nullable String kvTransferParams) {

  /**
   * Tokens of an answer to a text completion that names no limit: OpenAI's and the engines' rule.
   */
  static final int COMPLETION_TOKENS = 16;

  /**
   * Where a prefill and a decode worker of SGLang meet.
   *
   * @param port the bootstrap server's port, or null for its default
   */
  record Bootstrap(String host, @Nullable Integer port, long room) {}

  /** What the client renders into the prompt, and what says nothing to an engine. */
  private static final Set<String> RENDERED_OR_IDLE =
      Set.of(
          "messages",
          "prompt",
          "tools",
          "functions",
          "documents",
          "chat_template_kwargs",
          "add_generation_prompt",
          "continue_final_message",
          "add_special_tokens",
          "reasoning_effort",
          "parallel_tool_calls",
          "user",
          "metadata",
          "safety_identifier",
          "prompt_cache_key",
          "rid",
          "request_id",
          "routed_dp_rank",
          "data_parallel_rank",
          "disagg_prefill_dp_rank");

  private static final Set<String> READ_HERE =
      Set.of(
          "model",
          "stream",
          "stream_options",
          "logprobs",
          "top_logprobs",
          "tool_choice",
          "function_call",
          "cache_salt",
          "lora_path",
          "priority",
          "bootstrap_host",
          "bootstrap_port",
          "bootstrap_room",
          "kv_transfer_params",
          "echo",
          "best_of",
          "store",
          "return_hidden_states");

  private static final Set<String> KNOWN = known();

  private static Set<String> known() {
    Set<String> known = new HashSet<>(RENDERED_OR_IDLE);
    known.addAll(READ_HERE);
    known.addAll(Sampling.FIELDS);
    known.addAll(Constraint.FIELDS);
    return Set.copyOf(known);
  }

  /**
   * Reads a request.
   *
   * @param path its path, with its query if any
   * @throws InexpressibleException saying which part can't be carried, and what to do
   */
  static Generation read(String path, byte[] json) throws InexpressibleException {
    int query = path.indexOf('?');
    String plain = query < 0 ? path : path.substring(0, query);
    boolean chat = plain.equals(RouterRequest.CHAT_COMPLETIONS);
    if (!chat && !plain.equals(RouterRequest.COMPLETIONS)) {
      throw new InexpressibleException(
          "its gRPC service takes chat completions and completions only: "
              + plain
              + " needs an HTTP worker");
    }
    BodyFields body = BodyFields.read(json);
    for (String name : body.names()) {
      if (!KNOWN.contains(name)) {
        throw new InexpressibleException(
            "field '" + name + "' can't be carried over gRPC: leave it out, or use an HTTP worker");
      }
    }
    refuseUnlessFalse(body, "echo");
    refuseUnlessFalse(body, "store");
    refuseUnlessFalse(body, "return_hidden_states");
    checkToolChoice(body);
    Sampling sampling = Sampling.read(body);
    Integer bestOf = body.integer("best_of");
    if (bestOf != null && bestOf != sampling.n()) {
      throw new InexpressibleException("best_of can't be carried over gRPC: use n");
    }
    JsonNode prompt = body.get("prompt");
    JsonNode transfer = body.get("kv_transfer_params");
    String model = body.text("model");
    return new Generation(
        chat,
        model == null ? "" : model,
        body.flag("stream", false),
        includeUsage(body),
        sampling,
        chat ? chatLogprobs(body) : completionLogprobs(body),
        prompt != null && prompt.isTextual() ? prompt.asText() : null,
        body.text("cache_salt"),
        body.text("lora_path"),
        body.integer("priority"),
        bootstrap(body),
        transfer == null ? null : transfer.toString());
  }

  private static void refuseUnlessFalse(BodyFields body, String name)
      throws InexpressibleException {
    if (body.flag(name, false)) {
      throw new InexpressibleException(name + " can't be carried over gRPC: use an HTTP worker");
    }
  }

  /** Tools are part of the prompt; that one is called can't be enforced. */
  private static void checkToolChoice(BodyFields body) throws InexpressibleException {
    for (String name : new String[] {"tool_choice", "function_call"}) {
      JsonNode choice = body.get(name);
      String word = choice == null ? "auto" : choice.asText();
      if (!word.equals("auto") && !word.equals("none")) {
        throw new InexpressibleException(
            name + " can only be auto or none over gRPC: an HTTP worker enforces the others");
      }
    }
  }

  private static boolean includeUsage(BodyFields body) throws InexpressibleException {
    JsonNode options = body.get("stream_options");
    if (options == null) {
      return false;
    }
    if (options.path("continuous_usage_stats").asBoolean()) {
      throw new InexpressibleException(
          "stream_options.continuous_usage_stats can't be had over gRPC: use include_usage");
    }
    return options.path("include_usage").asBoolean();
  }

  private static int chatLogprobs(BodyFields body) throws InexpressibleException {
    Integer top = body.integer("top_logprobs");
    if (!body.flag("logprobs", false)) {
      return -1;
    }
    return top == null ? 0 : top;
  }

  private static int completionLogprobs(BodyFields body) throws InexpressibleException {
    Integer top = body.integer("logprobs");
    return top == null ? -1 : top;
  }

  private static @Nullable Bootstrap bootstrap(BodyFields body) throws InexpressibleException {
    String host = body.text("bootstrap_host");
    Long room = body.longer("bootstrap_room");
    return host == null || room == null
        ? null
        : new Bootstrap(host, body.integer("bootstrap_port"), room);
  }

  /**
   * The tokens that the answer may have: as asked, else a text completion's few, else what the
   * model's own limit and the context leave.
   *
   * @return null where none of these is known
   */
  @Nullable Integer maxTokens(ModelFacts facts, int promptTokens) {
    Integer asked = sampling.maxTokens();
    if (asked != null) {
      return asked;
    }
    if (!chat) {
      return COMPLETION_TOKENS;
    }
    Integer context = facts.contextLength();
    Integer left = context == null ? null : Integer.valueOf(Math.max(1, context - promptTokens));
    Integer own = facts.defaults().maxTokens();
    return own == null ? left : left == null ? own : Integer.valueOf(Math.min(own, left));
  }
}

package dev.warmpath.prompt;

import dev.warmpath.prompt.template.ChatTemplate;
import dev.warmpath.worker.EngineKind;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A chat as an engine lays it out before its template sees it: which template, which variables, and
 * what becomes of a final message that is to be continued.
 *
 * <p>Sources: vLLM, {@code entrypoints/chat_utils.py} and {@code openai/serving_chat.py}; SGLang,
 * {@code entrypoints/openai/serving_chat.py} and {@code parser/jinja_template_utils.py}; and
 * transformers' {@code apply_chat_template} beneath both. What differs:
 *
 * <ul>
 *   <li>Text parts become one string, joined by a line break (vLLM) or a space (SGLang), unless the
 *       template walks through content; then vLLM makes lists of all contents, SGLang keeps them.
 *   <li>vLLM passes on the fields of a message that it knows, SGLang those that are not null.
 *   <li>Tools are written anew, see {@link ToolForm}; SGLang heeds {@code tool_choice}.
 *   <li>SGLang always asks for a generation prompt, and continues a final message by appending its
 *       tokens; vLLM leaves both to transformers.
 * </ul>
 */
final class ChatLayout {
  /** What transformers puts behind a final message to find where it ends. */
  static final String MARK = "CONTINUE_FINAL_MESSAGE_TAG ";

  /** What else transformers' {@code apply_chat_template} takes by name, besides variables. */
  private static final Set<String> RESERVED =
      Set.of(
          "messages",
          "tools",
          "documents",
          "add_generation_prompt",
          "conversation",
          "continue_final_message",
          "tokenize",
          "padding",
          "truncation",
          "max_length",
          "return_tensors",
          "return_dict",
          "return_assistant_tokens_mask",
          "tokenizer_kwargs");

  private final RequestBody body;
  private final ModelFiles files;
  private final EngineKind engine;
  private final boolean sglang;
  private final boolean lists;

  /**
   * What to render.
   *
   * @param template the template
   * @param context its variables
   * @param marked the variables with {@link #MARK} behind that content; the same as {@code context}
   *     where nothing is continued
   * @param continued the content of the final message, which the prompt is to end with; else null
   * @param appended whether {@code continued} follows the rendered text as tokens of its own;
   *     otherwise it is in the text, which is to be cut after it
   */
  record Chat(
      ChatTemplate template,
      Map<String, @Nullable Object> context,
      Map<String, @Nullable Object> marked,
      @Nullable String continued,
      boolean appended) {}

  private ChatLayout(RequestBody body, ModelFiles files, EngineKind engine, ChatTemplate template) {
    this.body = body;
    this.files = files;
    this.engine = engine;
    this.sglang = engine == EngineKind.SGLANG;
    this.lists = template.loopsOverContent() || (sglang && template.mentionsMedia());
  }

  /**
   * Lays out a chat.
   *
   * @throws NotExactException where the engine's way can't be followed, or it would refuse the
   *     request
   */
  static Chat of(RequestBody body, ModelFiles files, EngineKind engine, ToolForm form)
      throws NotExactException {
    if (body.has("chat_template")) {
      throw new NotExactException("the request brings a chat template of its own");
    }
    List<?> tools = tools(body, engine);
    ChatTemplate template = files.template(tools != null);
    if (template == null) {
      throw new NotExactException("the model has no chat template");
    }
    return new ChatLayout(body, files, engine, template).lay(template, tools, form);
  }

  /** Whether the layout of every engine is the same, so that one stands for all. */
  static boolean neutral(RequestBody body, ModelFiles files) {
    ChatTemplate template = files.template(false);
    if (template == null
        || template.loopsOverContent()
        || template.mentionsMedia()
        || body.get("tools") != null
        || body.get("reasoning_effort") != null
        || body.flag("continue_final_message")
        || body.has("add_generation_prompt")
        || !(body.get("messages") instanceof List<?> messages)) {
      return false;
    }
    for (Object each : messages) {
      if (!(each instanceof Map<?, ?> message)
          || message.size() != 2
          || !(message.get("role") instanceof String)
          || !(message.get("content") instanceof String)) {
        return false;
      }
    }
    return true;
  }

  /** The tools that the engine shows to the template; null where there are none. */
  private static @Nullable List<?> tools(RequestBody body, EngineKind engine) {
    if (!(body.get("tools") instanceof List<?> tools) || tools.isEmpty()) {
      return null;
    }
    if (engine != EngineKind.SGLANG) {
      return tools;
    }
    Object choice = body.get("tool_choice");
    if ("none".equals(choice)) {
      return null;
    }
    if (choice instanceof Map<?, ?> named && named.get("function") instanceof Map<?, ?> function) {
      Object name = function.get("name");
      List<Object> chosen = new ArrayList<>();
      for (Object tool : tools) {
        if (tool instanceof Map<?, ?> map
            && map.get("function") instanceof Map<?, ?> candidate
            && name != null
            && name.equals(candidate.get("name"))) {
          chosen.add(tool);
        }
      }
      return chosen;
    }
    return tools;
  }

  private Chat lay(ChatTemplate template, @Nullable List<?> tools, ToolForm form)
      throws NotExactException {
    List<Map<String, @Nullable Object>> messages = messages();
    boolean continues = body.flag("continue_final_message");
    boolean generation =
        sglang || !body.has("add_generation_prompt") || body.flag("add_generation_prompt");
    String continued = null;
    if (continues) {
      Map<String, @Nullable Object> last = messages.get(messages.size() - 1);
      if (sglang) {
        if ("assistant".equals(last.get("role"))) {
          continued = finalContent(last);
          if (!(last.get("content") instanceof String)) {
            throw new NotExactException("SGLang continues no list of parts");
          }
          messages.remove(messages.size() - 1);
        }
      } else {
        if (body.flag("add_generation_prompt")) {
          throw new NotExactException(
              "a request can't both continue the final message and ask for a generation prompt");
        }
        generation = false;
        continued = finalContent(last);
      }
    }
    Map<String, @Nullable Object> context = new LinkedHashMap<>(files.specialTokens());
    context.put("messages", messages);
    context.put("tools", tools == null ? null : form.apply(tools));
    context.put("documents", sglang ? null : body.get("documents"));
    context.put("add_generation_prompt", generation);
    if (!sglang
        && body.get("tools") instanceof List<?> given
        && given.isEmpty()
        && template.mentions("tools")) {
      throw new NotExactException("versions of vLLM differ in what an empty list of tools becomes");
    }
    if (engine == EngineKind.VLLM
        && body.get("reasoning_effort") != null
        && template.mentions("enable_thinking")
        && !(body.get("chat_template_kwargs") instanceof Map<?, ?> given
            && given.containsKey("enable_thinking"))) {
      throw new NotExactException(
          "versions of vLLM differ in whether reasoning_effort sets enable_thinking");
    }
    if (body.get("reasoning_effort") != null) {
      context.put("reasoning_effort", body.get("reasoning_effort"));
    }
    if (body.get("chat_template_kwargs") instanceof Map<?, ?> arguments) {
      addArguments(context, arguments);
    }
    Map<String, @Nullable Object> marked = context;
    if (continued != null && !sglang) {
      marked = new LinkedHashMap<>(context);
      marked.put("messages", marked(messages));
    }
    return new Chat(template, context, marked, continued, sglang);
  }

  /** The messages with {@link #MARK} behind the text that {@link #finalContent} found. */
  private static List<Map<String, @Nullable Object>> marked(
      List<Map<String, @Nullable Object>> messages) {
    List<Map<String, @Nullable Object>> out = new ArrayList<>(messages);
    Map<String, @Nullable Object> last = new LinkedHashMap<>(out.remove(out.size() - 1));
    if (last.get("content") instanceof List<?> parts) {
      List<@Nullable Object> copy = new ArrayList<>(parts);
      int at = lastText(parts);
      if (at >= 0 && parts.get(at) instanceof Map<?, ?> part) {
        Map<String, @Nullable Object> longer = new LinkedHashMap<>();
        part.forEach((name, value) -> longer.put(String.valueOf(name), value));
        longer.put("text", part.get("text") + MARK);
        copy.set(at, longer);
      }
      last.put("content", copy);
    } else {
      last.put("content", last.get("content") + MARK);
    }
    out.add(last);
    return out;
  }

  private void addArguments(Map<String, @Nullable Object> context, Map<?, ?> arguments)
      throws NotExactException {
    for (Map.Entry<?, ?> argument : arguments.entrySet()) {
      String name = String.valueOf(argument.getKey());
      if (name.equals("chat_template")) {
        throw new NotExactException("the request brings a chat template of its own");
      }
      if (RESERVED.contains(name)) {
        throw new NotExactException("chat_template_kwargs name " + name + ", which is not theirs");
      }
      if (!sglang
          && name.equals("reasoning_effort")
          && body.get(name) != null
          && !Objects.equals(body.get(name), argument.getValue())) {
        throw new NotExactException("the request gives reasoning_effort twice");
      }
      context.put(name, argument.getValue());
    }
  }

  private static String finalContent(Map<String, @Nullable Object> message)
      throws NotExactException {
    Object content = message.get("content");
    if (content instanceof List<?> parts) {
      int at = lastText(parts);
      if (at >= 0 && parts.get(at) instanceof Map<?, ?> part) {
        return String.valueOf(part.get("text"));
      }
    }
    if (content instanceof String text) {
      return text;
    }
    throw new NotExactException("the final message, which is to be continued, has no text");
  }

  /** Where the last part with a text is, or -1. */
  private static int lastText(List<?> parts) {
    int at = parts.size() - 1;
    while (at >= 0
        && !(parts.get(at) instanceof Map<?, ?> part && part.get("text") instanceof String)) {
      at--;
    }
    return at;
  }

  private List<Map<String, @Nullable Object>> messages() throws NotExactException {
    if (!(body.get("messages") instanceof List<?> given) || given.isEmpty()) {
      throw new NotExactException("there are no messages");
    }
    List<Map<String, @Nullable Object>> messages = new ArrayList<>(given.size());
    for (Object each : given) {
      if (!(each instanceof Map<?, ?> message) || !(message.get("role") instanceof String role)) {
        throw new NotExactException("a message is no object with a role");
      }
      messages.add(sglang ? sglangMessage(message, role) : plainMessage(message, role));
    }
    return messages;
  }

  private Map<String, @Nullable Object> plainMessage(Map<?, ?> message, String role)
      throws NotExactException {
    Map<String, @Nullable Object> out = new LinkedHashMap<>();
    out.put("role", role);
    out.put("content", plainContent(message.get("content"), role));
    if (role.equals("assistant")) {
      if (message.get("tool_calls") instanceof List<?> calls && !calls.isEmpty()) {
        out.put("tool_calls", calls(calls, true));
      }
      Object reasoning = message.get("reasoning");
      reasoning = reasoning == null ? message.get("reasoning_content") : reasoning;
      if (reasoning != null) {
        out.put("reasoning", reasoning);
        out.put("reasoning_content", reasoning);
      }
    } else if (role.equals("tool") && message.containsKey("tool_call_id")) {
      out.put("tool_call_id", message.get("tool_call_id"));
    } else if (role.equals("developer")) {
      out.put("tools", message.get("tools"));
    }
    if (message.get("name") instanceof String name) {
      out.put("name", name);
    }
    return out;
  }

  private @Nullable Object plainContent(@Nullable Object content, String role)
      throws NotExactException {
    List<String> texts = new ArrayList<>();
    if (content instanceof String text) {
      if (!lists) {
        return text;
      }
      texts.add(text);
    } else if (content instanceof List<?> parts) {
      if (parts.size() > 1 && engine == EngineKind.ATOM) {
        throw new NotExactException("how ATOM joins parts of a message is not known");
      }
      if (lists && role.equals("tool")) {
        throw new NotExactException("engines differ in how they lay out a tool's list of parts");
      }
      for (Object part : parts) {
        texts.add(partText(part));
      }
    } else if (content != null) {
      throw new NotExactException("a message's content is neither text nor a list of parts");
    }
    if (!lists) {
      return String.join("\n", texts);
    }
    List<Object> wrapped = new ArrayList<>(texts.size());
    for (String text : texts) {
      Map<String, Object> part = new LinkedHashMap<>();
      part.put("type", "text");
      part.put("text", text);
      wrapped.add(part);
    }
    return wrapped;
  }

  private static String partText(@Nullable Object part) throws NotExactException {
    if (part instanceof String text) {
      return text;
    }
    if (part instanceof Map<?, ?> map) {
      Object type = map.get("type");
      if (("text".equals(type) || "input_text".equals(type) || "output_text".equals(type))
          && map.get("text") instanceof String text) {
        return text;
      }
      if ("refusal".equals(type) && map.get("refusal") instanceof String text) {
        return text;
      }
    }
    throw new NotExactException("a message has parts other than text");
  }

  private Map<String, @Nullable Object> sglangMessage(Map<?, ?> message, String role)
      throws NotExactException {
    Map<String, @Nullable Object> out = new LinkedHashMap<>();
    for (Map.Entry<?, ?> entry : message.entrySet()) {
      if (entry.getValue() != null) {
        out.put(String.valueOf(entry.getKey()), entry.getValue());
      }
    }
    Object content = out.get("content");
    if (content == null) {
      out.put("content", "");
    } else if (content instanceof List<?> parts) {
      List<String> texts = new ArrayList<>(parts.size());
      for (Object part : parts) {
        if (!(part instanceof Map<?, ?> map)
            || !"text".equals(map.get("type"))
            || !(map.get("text") instanceof String text)) {
          throw new NotExactException("a message has parts other than text");
        }
        texts.add(text);
      }
      if (lists && role.equals("tool")) {
        throw new NotExactException("engines differ in how they lay out a tool's list of parts");
      }
      if (!lists) {
        out.put("content", String.join(" ", texts));
      }
    } else if (!(content instanceof String)) {
      throw new NotExactException("a message's content is neither text nor a list of parts");
    }
    if (role.equals("assistant") && out.get("tool_calls") instanceof List<?> calls) {
      out.put("tool_calls", calls(calls, false));
    }
    return out;
  }

  /**
   * Tool calls with their arguments parsed, which templates expect.
   *
   * @param emptyIsObject whether absent or empty arguments become an empty object (vLLM)
   */
  private static List<Object> calls(List<?> calls, boolean emptyIsObject) throws NotExactException {
    List<Object> out = new ArrayList<>(calls.size());
    for (Object each : calls) {
      if (!(each instanceof Map<?, ?> call)
          || !(call.get("function") instanceof Map<?, ?> function)) {
        throw new NotExactException("a tool call names no function");
      }
      Map<String, @Nullable Object> inner = new LinkedHashMap<>();
      function.forEach((name, value) -> inner.put(String.valueOf(name), value));
      Object arguments = inner.get("arguments");
      if (emptyIsObject && (arguments == null || arguments.equals(""))) {
        inner.put("arguments", new LinkedHashMap<String, Object>());
      } else if (arguments instanceof String text) {
        try {
          Object parsed = JsonValues.parse(text);
          if (!emptyIsObject && !JsonValues.within64Bits(parsed)) {
            // orjson reads them as floats, or refuses them.
            throw new NotExactException("SGLang reads numbers beyond 64 bits differently");
          }
          inner.put("arguments", parsed);
        } catch (IOException e) {
          throw new NotExactException("the arguments of a tool call are not JSON");
        }
      }
      Map<String, @Nullable Object> outer = new LinkedHashMap<>();
      call.forEach((name, value) -> outer.put(String.valueOf(name), value));
      outer.put("function", inner);
      out.add(outer);
    }
    return out;
  }
}

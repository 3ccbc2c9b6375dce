package dev.warmpath.examples;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.warmpath.prompt.ModelFiles;
import dev.warmpath.prompt.template.ChatTemplate;
import dev.warmpath.prompt.template.TemplateException;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A chat in a file: a list of messages, or a whole OpenAI body. Rendered as transformers' {@code
 * apply_chat_template} does, after what engines do first: the arguments of tool calls are parsed,
 * absent content is empty, and text parts become one text where the template does not walk through
 * parts.
 */
final class ChatFile {
  private final Map<String, @Nullable Object> body;
  private final List<?> messages;

  private ChatFile(Map<String, @Nullable Object> body, List<?> messages) {
    this.body = body;
    this.messages = messages;
  }

  static ChatFile read(Path file) throws IOException {
    Object value = InputFiles.json("messages", file);
    Map<String, @Nullable Object> body = new LinkedHashMap<>();
    if (value instanceof Map<?, ?> map) {
      map.forEach((name, each) -> body.put(String.valueOf(name), each));
    } else {
      body.put("messages", value);
    }
    if (!(body.get("messages") instanceof List<?> messages)
        || messages.isEmpty()
        || !messages.stream().allMatch(Map.class::isInstance)) {
      throw CommandFailure.usage("messages file '" + file + "' holds no list of messages");
    }
    return new ChatFile(body, messages);
  }

  /**
   * The prompt.
   *
   * @throws CommandFailure if the model has no template, or it refuses the chat
   */
  String render(ModelFiles model, Clock clock) {
    List<?> tools = body.get("tools") instanceof List<?> list && !list.isEmpty() ? list : null;
    ChatTemplate template = model.template(tools != null);
    if (template == null) {
      throw CommandFailure.work("the model has no chat template");
    }
    boolean continues = Boolean.TRUE.equals(body.get("continue_final_message"));
    if (continues && Boolean.TRUE.equals(body.get("add_generation_prompt"))) {
      throw CommandFailure.usage(
          "a chat can't both continue its final message and ask for a generation prompt");
    }
    Map<String, @Nullable Object> context = new LinkedHashMap<>(model.specialTokens());
    if (body.get("chat_template_kwargs") instanceof Map<?, ?> arguments) {
      arguments.forEach((name, value) -> context.put(String.valueOf(name), value));
    }
    List<Object> laidOut = new ArrayList<>();
    for (Object message : messages) {
      laidOut.add(message((Map<?, ?>) message, template.loopsOverContent()));
    }
    context.put("messages", laidOut);
    context.put("tools", tools);
    context.put("documents", body.get("documents"));
    context.put(
        "add_generation_prompt",
        !continues && !Boolean.FALSE.equals(body.get("add_generation_prompt")));
    try {
      String text = template.render(context, clock);
      return continues ? cutAfterFinalMessage(text) : text;
    } catch (TemplateException e) {
      throw CommandFailure.work("the chat template fails: " + e.type() + ": " + e.getMessage());
    }
  }

  private static Map<String, @Nullable Object> message(Map<?, ?> given, boolean parts) {
    Map<String, @Nullable Object> message = new LinkedHashMap<>();
    given.forEach((name, value) -> message.put(String.valueOf(name), value));
    if (!parts && message.get("content") instanceof List<?> content) {
      message.put("content", joined(content));
    }
    message.putIfAbsent("content", "");
    if (message.get("tool_calls") instanceof List<?> calls) {
      message.put("tool_calls", calls.stream().map(ChatFile::call).toList());
    }
    return message;
  }

  private static String joined(List<?> parts) {
    return parts.stream().map(ChatFile::partText).collect(Collectors.joining("\n"));
  }

  private static String partText(@Nullable Object part) {
    if (part instanceof Map<?, ?> map && map.get("text") instanceof String text) {
      return text;
    }
    if (part instanceof String text) {
      return text;
    }
    throw CommandFailure.work("a message has parts other than text, and the template takes none");
  }

  private static Object call(Object given) {
    if (!(given instanceof Map<?, ?> call
        && call.get("function") instanceof Map<?, ?> function
        && function.get("arguments") instanceof String arguments)) {
      return given;
    }
    Map<Object, @Nullable Object> parsed = new LinkedHashMap<>(function);
    try {
      parsed.put("arguments", InputFiles.parse(arguments.isEmpty() ? "{}" : arguments));
    } catch (JsonProcessingException e) {
      return given; // the template gets the text
    }
    Map<Object, @Nullable Object> out = new LinkedHashMap<>(call);
    out.put("function", parsed);
    return out;
  }

  /** As transformers cuts: after the last place where the final message's text stands. */
  private String cutAfterFinalMessage(String text) {
    String last = finalText();
    int at = text.lastIndexOf(last.strip());
    if (at < 0) {
      throw CommandFailure.work("the template leaves the final message out: it can't be continued");
    }
    String spaced = last.stripLeading();
    return text.startsWith(spaced, at)
        ? text.substring(0, at + spaced.length())
        : text.substring(0, at + last.strip().length());
  }

  private String finalText() {
    Object content = ((Map<?, ?>) messages.get(messages.size() - 1)).get("content");
    if (content instanceof List<?> parts) {
      for (int i = parts.size() - 1; i >= 0; i--) {
        if (parts.get(i) instanceof Map<?, ?> part && part.get("text") instanceof String text) {
          return text;
        }
      }
    }
    if (content instanceof String text) {
      return text;
    }
    throw CommandFailure.work("the final message, which is to be continued, has no text");
  }
}

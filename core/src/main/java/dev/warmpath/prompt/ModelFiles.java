package dev.warmpath.prompt;

import dev.warmpath.prompt.template.ChatTemplate;
import dev.warmpath.prompt.template.TemplateException;
import dev.warmpath.prompt.tokenizer.Tokenizer;
import dev.warmpath.prompt.tokenizer.TokenizerLoadException;
import dev.warmpath.prompt.tokenizer.Tokenizers;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What turns requests into a model's own tokens: its tokenizer, chat templates and special tokens,
 * as Hugging Face lays them out in a directory. Immutable; safe for any number of threads; share
 * one for all clients of a process, since a vocabulary takes tens of megabytes.
 *
 * <p>Read are {@code tokenizer.json}, {@code tokenizer_config.json}, {@code
 * special_tokens_map.json} and, for the chat template, in this order of precedence: {@code
 * chat_template.jinja} with the named ones of {@code additional_chat_templates/}, {@code
 * chat_template.json}, and the configuration's {@code chat_template}, which may be a text or a list
 * of named ones.
 */
public final class ModelFiles {
  /** The template that is used where no other name applies. */
  public static final String DEFAULT_TEMPLATE = "default";

  /** The template that takes over where a request brings tools, if the model has one so named. */
  public static final String TOOL_TEMPLATE = "tool_use";

  private static final String CHAT_ML =
      "{% for message in messages %}"
          + "{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n' }}"
          + "{% endfor %}"
          + "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

  private static final List<String> NAMED_TOKENS =
      List.of(
          "bos_token",
          "eos_token",
          "unk_token",
          "sep_token",
          "pad_token",
          "cls_token",
          "mask_token");

  private final Tokenizer tokenizer;
  private final Map<String, ChatTemplate> templates;
  private final Map<String, Object> specialTokens;

  private ModelFiles(
      Tokenizer tokenizer, Map<String, ChatTemplate> templates, Map<String, Object> specialTokens) {
    this.tokenizer = tokenizer;
    this.templates = Collections.unmodifiableMap(new LinkedHashMap<>(templates));
    this.specialTokens = Collections.unmodifiableMap(new LinkedHashMap<>(specialTokens));
  }

  /**
   * Reads a model's directory. Takes a second or so for a large vocabulary.
   *
   * @param directory holds {@code tokenizer.json} and mostly the other files
   * @throws TokenizerLoadException if the tokenizer can't be read, or not be followed exactly
   * @throws ModelFilesException if another file can't be read, or a chat template does not compile
   */
  public static ModelFiles of(Path directory) {
    Tokenizer tokenizer = Tokenizers.load(directory);
    Map<String, ?> config = object(directory.resolve("tokenizer_config.json"));
    Map<String, Object> tokens = specialTokens(config);
    specialTokens(object(directory.resolve("special_tokens_map.json")))
        .forEach(tokens::putIfAbsent);
    return new ModelFiles(tokenizer, templates(directory, config), tokens);
  }

  /**
   * A model from its parts.
   *
   * @param tokenizer the tokenizer
   * @param template the chat template's Jinja2 source, or null where the model has none
   * @param specialTokens what templates know as {@code bos_token}, {@code eos_token} and so on
   * @throws ModelFilesException if the template does not compile
   */
  public static ModelFiles of(
      Tokenizer tokenizer, @Nullable String template, Map<String, String> specialTokens) {
    return new ModelFiles(
        tokenizer,
        template == null
            ? Map.of()
            : Map.of(DEFAULT_TEMPLATE, compile("the chat template", template)),
        new LinkedHashMap<>(specialTokens));
  }

  /**
   * The same model with ChatML ({@code <|im_start|>role\ncontent<|im_end|>\n}) where it has no
   * template of its own: for engines that were started with such a fallback. None of SGLang, vLLM
   * and ATOM has one by itself, so that chats of a model without a template are inexact otherwise.
   */
  public ModelFiles orChatMl() {
    return templates.isEmpty()
        ? new ModelFiles(
            tokenizer, Map.of(DEFAULT_TEMPLATE, compile("ChatML", CHAT_ML)), specialTokens)
        : this;
  }

  /** The tokenizer. */
  public Tokenizer tokenizer() {
    return tokenizer;
  }

  /** The chat templates by name; empty where the model has none. */
  public Map<String, ChatTemplate> templates() {
    return templates;
  }

  /**
   * The template for a chat, chosen as transformers does.
   *
   * @param tools whether the chat brings tools
   * @return null where the model has none that applies
   */
  public @Nullable ChatTemplate template(boolean tools) {
    ChatTemplate named = tools ? templates.get(TOOL_TEMPLATE) : null;
    return named == null ? templates.get(DEFAULT_TEMPLATE) : named;
  }

  /**
   * The special tokens as templates see them: a text for each name, and a list of texts for {@code
   * additional_special_tokens}.
   */
  public Map<String, Object> specialTokens() {
    return specialTokens;
  }

  private static Map<String, ChatTemplate> templates(Path directory, Map<String, ?> config) {
    Map<String, ChatTemplate> templates = new LinkedHashMap<>();
    Path jinja = directory.resolve("chat_template.jinja");
    Path json = directory.resolve("chat_template.json");
    Path more = directory.resolve("additional_chat_templates");
    if (Files.isRegularFile(jinja) || Files.isDirectory(more)) {
      if (Files.isRegularFile(jinja)) {
        templates.put(DEFAULT_TEMPLATE, compile(jinja.toString(), text(jinja)));
      }
      for (Path file : jinjaFiles(more)) {
        String name = String.valueOf(file.getFileName());
        templates.put(
            name.substring(0, name.length() - ".jinja".length()),
            compile(file.toString(), text(file)));
      }
    } else if (Files.isRegularFile(json)) {
      addTemplates(templates, json.toString(), object(json).get("chat_template"));
    } else {
      addTemplates(templates, directory + "/tokenizer_config.json", config.get("chat_template"));
    }
    return templates;
  }

  private static void addTemplates(
      Map<String, ChatTemplate> templates, String where, @Nullable Object given) {
    if (given instanceof String source) {
      templates.put(DEFAULT_TEMPLATE, compile(where, source));
    } else if (given instanceof List<?> list) {
      for (Object each : list) {
        if (each instanceof Map<?, ?> entry
            && entry.get("name") instanceof String name
            && entry.get("template") instanceof String source) {
          templates.put(name, compile(where + " (" + name + ")", source));
        } else {
          throw new ModelFilesException(
              where + ": chat_template must be a text or a list of name and template", null);
        }
      }
    } else if (given != null) {
      throw new ModelFilesException(
          where + ": chat_template must be a text or a list of name and template", null);
    }
  }

  private static ChatTemplate compile(String where, String source) {
    try {
      return ChatTemplate.compile(source);
    } catch (TemplateException e) {
      throw new ModelFilesException(
          "the chat template in " + where + " does not compile: " + e.getMessage(), e);
    }
  }

  private static Map<String, Object> specialTokens(Map<String, ?> config) {
    Map<String, Object> tokens = new LinkedHashMap<>();
    for (String name : NAMED_TOKENS) {
      String content = content(config.get(name));
      if (content != null) {
        tokens.put(name, content);
      }
    }
    List<Object> additional = new ArrayList<>();
    if (config.get("additional_special_tokens") instanceof List<?> list) {
      for (Object each : list) {
        String content = content(each);
        if (content != null) {
          additional.add(content);
        }
      }
    }
    if (config.get("extra_special_tokens") instanceof Map<?, ?> named) {
      named.forEach(
          (name, value) -> {
            String content = content(value);
            if (content != null) {
              tokens.put(String.valueOf(name), content);
            }
          });
    }
    if (!additional.isEmpty()) {
      tokens.put("additional_special_tokens", additional);
    }
    return tokens;
  }

  /** A token is written as its text, or as an object that holds it. */
  private static @Nullable String content(@Nullable Object token) {
    if (token instanceof String text) {
      return text;
    }
    return token instanceof Map<?, ?> map && map.get("content") instanceof String text
        ? text
        : null;
  }

  private static List<Path> jinjaFiles(Path directory) {
    if (!Files.isDirectory(directory)) {
      return List.of();
    }
    List<Path> files = new ArrayList<>();
    try (DirectoryStream<Path> found = Files.newDirectoryStream(directory, "*.jinja")) {
      found.forEach(files::add);
    } catch (IOException e) {
      throw new ModelFilesException("can't list " + directory, e);
    }
    Collections.sort(files);
    return files;
  }

  private static String text(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new ModelFilesException("can't read " + file + ": " + e.getMessage(), e);
    }
  }

  /** The JSON object in a file; empty where there is no such file. */
  private static Map<String, ?> object(Path file) {
    if (!Files.isRegularFile(file)) {
      return Map.of();
    }
    Map<String, Object> object = new LinkedHashMap<>();
    try {
      if (JsonValues.parse(text(file)) instanceof Map<?, ?> map) {
        map.forEach(
            (name, value) -> {
              if (value != null) {
                object.put(String.valueOf(name), value);
              }
            });
        return object;
      }
    } catch (IOException e) {
      throw new ModelFilesException(file + " is not valid JSON", e);
    }
    throw new ModelFilesException(file + " is not a JSON object", null);
  }

  /** Names of templates and tokens, and the size of the vocabulary. */
  @Override
  public String toString() {
    return "ModelFiles["
        + tokenizer.vocabularySize()
        + " tokens, templates "
        + templates.keySet()
        + "]";
  }
}

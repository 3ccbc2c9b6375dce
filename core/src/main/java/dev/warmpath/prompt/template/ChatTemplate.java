package dev.warmpath.prompt.template;

import dev.warmpath.prompt.template.TemplateException.Kind;
import dev.warmpath.prompt.template.internal.compile.Compiler;
import dev.warmpath.prompt.template.internal.exec.Program;
import dev.warmpath.prompt.template.internal.python.PyError;
import dev.warmpath.prompt.template.internal.python.Rendering;
import dev.warmpath.prompt.template.internal.python.TextOut;
import java.time.Clock;
import java.util.List;
import java.util.Map;

/**
 * A compiled chat template.
 *
 * <p>The language is that of Jinja2 3.1 in the environment of transformers' {@code
 * apply_chat_template}: an immutable sandbox with {@code trim_blocks} and {@code lstrip_blocks},
 * without autoescaping and without a loader, with {@code break}, {@code continue} and {@code
 * generation}, with {@code raise_exception}, {@code strftime_now} and a {@code tojson} that does
 * not escape HTML.
 *
 * <p>Instances are safe for use by many threads at once.
 */
public final class ChatTemplate {
  private static final List<String> MEDIA = List.of("image", "audio", "video", "vision");

  private final Program program;
  private final TemplateLimits limits;
  private final String source;
  private final boolean mentionsMedia;

  private ChatTemplate(Program program, TemplateLimits limits, String source) {
    this.program = program;
    this.limits = limits;
    this.source = source;
    this.mentionsMedia = MEDIA.stream().anyMatch(source::contains);
  }

  /**
   * Compiles a template under the {@linkplain TemplateLimits#defaults() default limits}.
   *
   * @param source the template's Jinja2 source
   * @throws TemplateException where Jinja2 would not compile it
   */
  public static ChatTemplate compile(String source) {
    return compile(source, TemplateLimits.defaults());
  }

  /**
   * Compiles a template.
   *
   * @param source the template's Jinja2 source
   * @param limits what compiling and each rendering may use up
   * @throws TemplateException where Jinja2 would not compile it, or it is longer or nested deeper
   *     than allowed
   */
  public static ChatTemplate compile(String source, TemplateLimits limits) {
    if (source.length() > limits.maxSourceLength()) {
      throw exception(
          PyError.limit("the source is longer than " + limits.maxSourceLength() + " characters"));
    }
    try {
      return new ChatTemplate(Compiler.compile(source), limits, source);
    } catch (PyError e) {
      throw exception(e);
    } catch (StackOverflowError e) {
      throw exception(PyError.recursion());
    }
  }

  /**
   * Renders the template.
   *
   * <p>Values are those of a parsed JSON document: {@code Map}, {@code List}, {@code String},
   * {@code Boolean}, the integral and floating {@code Number} types and {@code null}. They are read
   * in place and never changed; they must not change meanwhile. What is in the context comes before
   * the global function of the same name.
   *
   * @param context the variables: {@code messages}, {@code tools}, {@code add_generation_prompt},
   *     special tokens and whatever else the template asks for
   * @param clock what {@code strftime_now} shows, in the clock's zone
   * @return the text
   * @throws TemplateException where Jinja2 would raise an error, or a limit is reached
   */
  public String render(Map<String, ?> context, Clock clock) {
    return output(context, clock).toString();
  }

  /**
   * Renders the template as UTF-8, without the detour over a string. Lone surrogates become
   * question marks.
   *
   * @param context as for {@link #render}
   * @param clock as for {@link #render}
   * @return the text's bytes
   * @throws TemplateException as {@link #render} does
   */
  public byte[] renderUtf8(Map<String, ?> context, Clock clock) {
    return output(context, clock).utf8();
  }

  private TextOut output(Map<String, ?> context, Clock clock) {
    Rendering rendering =
        new Rendering(clock, limits.maxWork(), limits.maxOutputLength(), limits.maxDepth());
    try {
      program.run(rendering, context);
      return rendering.out();
    } catch (PyError e) {
      throw exception(e);
    } catch (StackOverflowError e) {
      throw exception(PyError.recursion());
    }
  }

  /**
   * Whether the template walks through the parts of a message's content, by the rule that vLLM and
   * SGLang decide by: to such a template they hand content as a list of parts, to others as one
   * string.
   */
  public boolean loopsOverContent() {
    return program.loopsOverContent();
  }

  /**
   * Whether the source speaks of images, audio or video, which SGLang takes for a template that
   * wants lists of parts.
   */
  public boolean mentionsMedia() {
    return mentionsMedia;
  }

  /**
   * Whether the source has this name anywhere: if not, a variable of that name changes nothing.
   *
   * @param name a variable's name
   */
  public boolean mentions(String name) {
    return source.contains(name);
  }

  private static TemplateException exception(PyError e) {
    return new TemplateException(kind(e), e.type(), e.line(), e.reason());
  }

  private static Kind kind(PyError e) {
    if (e.raisedByTemplate()) {
      return Kind.RAISED;
    }
    return switch (e.type()) {
      case "TemplateSyntaxError", "TemplateAssertionError", "SyntaxError" -> Kind.SYNTAX;
      case "UndefinedError" -> Kind.UNDEFINED;
      case "TypeError", "AttributeError" -> Kind.TYPE;
      case "ValueError",
          "KeyError",
          "IndexError",
          "LookupError",
          "OverflowError",
          "ZeroDivisionError",
          "UnicodeEncodeError",
          "UnicodeDecodeError",
          "FilterArgumentError" ->
          Kind.VALUE;
      case "SecurityError" -> Kind.SECURITY;
      case "LimitExceeded", "RecursionError" -> Kind.LIMIT;
      default -> Kind.RUNTIME;
    };
  }
}

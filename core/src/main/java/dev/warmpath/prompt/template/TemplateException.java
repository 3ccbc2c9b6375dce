package dev.warmpath.prompt.template;

/**
 * A template could not be compiled or rendered.
 *
 * <p>The message begins with the line and then says why, in Jinja2's words. It may quote names and
 * values from the template's context: don't log it where prompts must not be logged.
 */
public final class TemplateException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Groups of errors. */
  public enum Kind {
    /** The source is no template: found when compiling. */
    SYNTAX,
    /** Something undefined was used. */
    UNDEFINED,
    /** An operation does not exist for the types of its operands. */
    TYPE,
    /** A value is none that an operation can take. */
    VALUE,
    /** The template refused its input with {@code raise_exception}. */
    RAISED,
    /** The sandbox stepped in. */
    SECURITY,
    /** Any other error of the template while rendering. */
    RUNTIME,
    /** A {@linkplain TemplateLimits limit} was reached. */
    LIMIT
  }

  private final Kind kind;
  private final String type;
  private final int line;
  private final String reason;

  TemplateException(Kind kind, String type, int line, String reason) {
    super((line > 0 ? "line " + line + ": " : "") + reason);
    this.kind = kind;
    this.type = type;
    this.line = line;
    this.reason = reason;
  }

  /** The group of the error. */
  public Kind kind() {
    return kind;
  }

  /**
   * The class name of the exception that Python raises here, such as {@code UndefinedError}, {@code
   * TypeError} or {@code TemplateSyntaxError}. {@code LimitExceeded} is this engine's own.
   */
  public String type() {
    return type;
  }

  /** The line of the template, from 1; 0 where it is unknown. */
  public int line() {
    return line;
  }

  /** What is wrong, without the line: the message of Python's exception. */
  public String reason() {
    return reason;
  }
}

package dev.warmpath.prompt.template.internal.python;

/**
 * An exception that Python or Jinja2 would raise, by its class name and message. It carries no
 * stack trace: it is an outcome of a template, not of this program.
 */
public final class PyError extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String type;
  private final boolean raisedByTemplate;
  private int line;

  private PyError(String type, String message, boolean raisedByTemplate) {
    super(message, null, false, false);
    this.type = type;
    this.raisedByTemplate = raisedByTemplate;
  }

  /** An exception of any class. */
  public static PyError of(String type, String message) {
    return new PyError(type, message, false);
  }

  /** Python's {@code TypeError}. */
  public static PyError type(String message) {
    return of("TypeError", message);
  }

  /** Python's {@code ValueError}. */
  public static PyError value(String message) {
    return of("ValueError", message);
  }

  /** Python's {@code OverflowError}. */
  public static PyError overflow(String message) {
    return of("OverflowError", message);
  }

  /** Jinja2's {@code FilterArgumentError}. */
  public static PyError filterArgument(String message) {
    return of("FilterArgumentError", message);
  }

  /** Jinja2's {@code TemplateRuntimeError}. */
  public static PyError runtime(String message) {
    return of("TemplateRuntimeError", message);
  }

  /** A syntax error at a line. */
  public static PyError syntax(String message, int line) {
    return of("TemplateSyntaxError", message).at(line);
  }

  /** An error that Jinja2's compiler finds behind the grammar. */
  public static PyError assertion(String message, int line) {
    return of("TemplateAssertionError", message).at(line);
  }

  /** What {@code raise_exception} raises. */
  public static PyError raised(String message) {
    return new PyError("TemplateError", message, true);
  }

  /** Too deep a recursion. */
  public static PyError recursion() {
    return of("RecursionError", "maximum recursion depth exceeded");
  }

  /** A limit of this engine that Python does not have. */
  public static PyError limit(String message) {
    return of("LimitExceeded", message);
  }

  /** Remembers the line, unless a deeper construct has already done so. */
  public PyError at(int templateLine) {
    if (line == 0) {
      line = templateLine;
    }
    return this;
  }

  /** The class name of the exception in Python. */
  public String type() {
    return type;
  }

  /** Whether the template itself asked for the error. */
  public boolean raisedByTemplate() {
    return raisedByTemplate;
  }

  /** The template line, from 1; 0 where unknown. */
  public int line() {
    return line;
  }

  /** The message; never null. */
  public String reason() {
    String message = getMessage();
    return message == null ? "" : message;
  }
}

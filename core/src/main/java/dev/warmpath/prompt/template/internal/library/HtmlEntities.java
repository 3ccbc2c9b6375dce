package dev.warmpath.prompt.template.internal.library;

/** Character references of HTML. */
final class HtmlEntities {
  private HtmlEntities() {}

  static String unescape(String s) {
    return s;
  }
}

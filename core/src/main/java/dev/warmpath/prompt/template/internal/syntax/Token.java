package dev.warmpath.prompt.template.internal.syntax;

/**
 * A token.
 *
 * @param line the line it begins on, from 1
 * @param type its kind
 * @param value a name, text or operator as a {@code String}, or a number
 */
record Token(int line, TokenType type, Object value) {
  boolean isName(String name) {
    return type == TokenType.NAME && value.equals(name);
  }

  String text() {
    return (String) value;
  }

  String describe() {
    return type == TokenType.NAME ? text() : type.description();
  }
}

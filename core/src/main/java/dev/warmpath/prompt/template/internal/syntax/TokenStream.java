package dev.warmpath.prompt.template.internal.syntax;

import dev.warmpath.prompt.template.internal.python.PyError;
import dev.warmpath.prompt.template.internal.python.Repr;
import org.jspecify.annotations.Nullable;

/** The tokens of a source with one to look ahead. */
final class TokenStream {
  private final Lexer lexer;
  private Token current;
  private @Nullable Token following;

  TokenStream(String source) {
    lexer = new Lexer(source);
    current = lexer.next();
  }

  Token current() {
    return current;
  }

  TokenType type() {
    return current.type();
  }

  /** The token behind the current one. */
  Token look() {
    if (following == null) {
      following = lexer.next();
    }
    return following;
  }

  /** Gives the current token and goes on to the next. */
  Token next() {
    Token token = current;
    if (following != null) {
      current = following;
      following = null;
    } else if (token.type() != TokenType.EOF) {
      current = lexer.next();
    }
    return token;
  }

  boolean skipIf(TokenType type) {
    if (current.type() == type) {
      next();
      return true;
    }
    return false;
  }

  boolean skipIfName(String name) {
    if (current.isName(name)) {
      next();
      return true;
    }
    return false;
  }

  Token expect(TokenType type) {
    if (current.type() != type) {
      throw unexpected(type.description());
    }
    return next();
  }

  Token expectName(String name) {
    if (!current.isName(name)) {
      throw unexpected(name);
    }
    return next();
  }

  private PyError unexpected(String expected) {
    String message =
        current.type() == TokenType.EOF
            ? "unexpected end of template, expected " + Repr.ofString(expected) + "."
            : "expected token "
                + Repr.ofString(expected)
                + ", got "
                + Repr.ofString(current.describe());
    return PyError.syntax(message, current.line());
  }
}

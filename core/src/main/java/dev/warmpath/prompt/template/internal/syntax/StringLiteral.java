package dev.warmpath.prompt.template.internal.syntax;

import dev.warmpath.prompt.template.internal.python.PyError;
import dev.warmpath.prompt.template.internal.python.Repr;

/** The text between the quotes of a string literal, with Python's escapes. */
final class StringLiteral {
  private final String body;
  private final int line;
  private final StringBuilder out;
  private int at;

  StringLiteral(String body, int line) {
    this.body = body;
    this.line = line;
    this.out = new StringBuilder(body.length());
  }

  String value() {
    if (body.indexOf('\\') < 0) {
      return body;
    }
    while (at < body.length()) {
      char c = body.charAt(at++);
      if (c == '\\') {
        escape(body.charAt(at++));
      } else {
        out.append(c);
      }
    }
    return out.toString();
  }

  private void escape(char c) {
    switch (c) {
      case '\n' -> {}
      case '\\', '\'', '"' -> out.append(c);
      case 'a' -> out.append('\u0007');
      case 'b' -> out.append('\b');
      case 'f' -> out.append('\f');
      case 'n' -> out.append('\n');
      case 'r' -> out.append('\r');
      case 't' -> out.append('\t');
      case 'v' -> out.append('\u000b');
      case '0', '1', '2', '3', '4', '5', '6', '7' -> {
        int value = c - '0';
        for (int i = 0;
            i < 2 && at < body.length() && body.charAt(at) >= '0' && body.charAt(at) <= '7';
            i++) {
          value = value * 8 + body.charAt(at++) - '0';
        }
        out.append((char) value);
      }
      case 'x' -> hex(2, "truncated \\xXX escape");
      case 'u' -> hex(4, "truncated \\uXXXX escape");
      case 'U' -> hex(8, "truncated \\UXXXXXXXX escape");
      case 'N' -> named();
      default -> {
        if (c < 0x80) {
          out.append('\\').append(c);
        } else {
          // the decoder sees such a character as an escape, and the backslash before it takes the
          // escape's own away
          int cp = body.codePointAt(at - 1);
          at += Character.charCount(cp) - 1;
          Repr.escape(out, cp);
        }
      }
    }
  }

  private void hex(int digits, String message) {
    if (at + digits > body.length()) {
      throw PyError.syntax(message, line);
    }
    long value = 0;
    for (int i = 0; i < digits; i++) {
      int digit = body.charAt(at) < 0x80 ? Character.digit(body.charAt(at), 16) : -1;
      if (digit < 0) {
        throw PyError.syntax(message, line);
      }
      value = value * 16 + digit;
      at++;
    }
    if (value > Character.MAX_CODE_POINT) {
      throw PyError.syntax("illegal Unicode character", line);
    }
    out.appendCodePoint((int) value);
  }

  private void named() {
    int end = at < body.length() && body.charAt(at) == '{' ? body.indexOf('}', at) : -1;
    if (end < 0 || end == at + 1) {
      throw PyError.syntax("malformed \\N character escape", line);
    }
    try {
      out.appendCodePoint(Character.codePointOf(body.substring(at + 1, end)));
    } catch (IllegalArgumentException e) {
      throw PyError.syntax("unknown Unicode character name", line);
    }
    at = end + 1;
  }
}

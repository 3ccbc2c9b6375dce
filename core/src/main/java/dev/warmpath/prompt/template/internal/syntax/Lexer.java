package dev.warmpath.prompt.template.internal.syntax;

import dev.warmpath.prompt.template.internal.python.Numbers;
import dev.warmpath.prompt.template.internal.python.PyError;
import dev.warmpath.prompt.template.internal.python.Repr;
import dev.warmpath.prompt.template.internal.python.Text;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Cuts a source into tokens, with the delimiters of Jinja2's default environment, {@code
 * trim_blocks} and {@code lstrip_blocks} on. It works only as far as the parser asks, so that of
 * two errors the earlier one is found.
 */
final class Lexer {
  private enum State {
    ROOT,
    COMMENT,
    RAW,
    BLOCK,
    VARIABLE
  }

  /** Longer operators first. */
  private static final String[] OPERATORS = {
    "//", "**", "==", "!=", ">=", "<=", "+", "-", "/", "*", "%", "~", "[", "]", "(", ")", "{", "}",
    ">", "<", "=", ".", ":", "|", ",", ";"
  };

  private static final TokenType[] OPERATOR_TYPES = {
    TokenType.FLOORDIV,
    TokenType.POW,
    TokenType.EQ,
    TokenType.NE,
    TokenType.GTEQ,
    TokenType.LTEQ,
    TokenType.ADD,
    TokenType.SUB,
    TokenType.DIV,
    TokenType.MUL,
    TokenType.MOD,
    TokenType.TILDE,
    TokenType.LBRACKET,
    TokenType.RBRACKET,
    TokenType.LPAREN,
    TokenType.RPAREN,
    TokenType.LBRACE,
    TokenType.RBRACE,
    TokenType.GT,
    TokenType.LT,
    TokenType.ASSIGN,
    TokenType.DOT,
    TokenType.COLON,
    TokenType.PIPE,
    TokenType.COMMA,
    TokenType.SEMICOLON
  };

  private final String source;
  private final Deque<Token> ready = new ArrayDeque<>();
  private final Deque<Character> open = new ArrayDeque<>();
  private State state = State.ROOT;
  private int at;
  private int line = 1;
  private boolean lineStarting = true;

  Lexer(String source) {
    this.source = normalize(source);
  }

  /** Lines end in a newline; the last newline goes. */
  private static String normalize(String source) {
    String s = normalizeNewlines(source);
    return s.endsWith("\n") ? s.substring(0, s.length() - 1) : s;
  }

  private static String normalizeNewlines(String s) {
    return s.indexOf('\r') < 0 ? s : s.replace("\r\n", "\n").replace('\r', '\n');
  }

  /** The next token; {@code EOF} at the end, and ever after. */
  Token next() {
    while (ready.isEmpty()) {
      if (at >= source.length()) {
        return new Token(line, TokenType.EOF, "");
      }
      switch (state) {
        case ROOT -> root();
        case COMMENT -> comment();
        case RAW -> raw();
        default -> code();
      }
    }
    return ready.remove();
  }

  private void root() {
    int tag = findTag(at);
    if (tag < 0) {
      data(source.substring(at));
      consume(source.length());
      return;
    }
    int rawEnd = matchRawBegin(tag);
    int signAt = tag + 2;
    char sign = signAt(signAt);
    char kind = source.charAt(tag + 1);
    dataBefore(tag, sign, kind == '{');
    int end = rawEnd >= 0 ? rawEnd : signAt + (sign == 0 ? 0 : 1);
    if (rawEnd >= 0) {
      state = State.RAW;
    } else if (kind == '#') {
      state = State.COMMENT;
    } else {
      boolean variable = kind == '{';
      state = variable ? State.VARIABLE : State.BLOCK;
      ready.add(
          new Token(
              line,
              variable ? TokenType.VARIABLE_BEGIN : TokenType.BLOCK_BEGIN,
              source.substring(tag, end)));
    }
    line += newlines(source, tag, end);
    at = end;
    lineStarting = source.charAt(end - 1) == '\n';
  }

  private int findTag(int from) {
    for (int i = source.indexOf('{', from);
        i >= 0 && i + 1 < source.length();
        i = source.indexOf('{', i + 1)) {
      char c = source.charAt(i + 1);
      if (c == '%' || c == '{' || c == '#') {
        return i;
      }
    }
    return -1;
  }

  private char signAt(int index) {
    char c = index < source.length() ? source.charAt(index) : 0;
    return c == '-' || c == '+' ? c : 0;
  }

  /** Where {@code {% raw %}} at an offset ends, or -1. */
  private int matchRawBegin(int tag) {
    if (source.charAt(tag + 1) != '%') {
      return -1;
    }
    int i = keyword(skipSpace(tag + 2 + (signAt(tag + 2) == 0 ? 0 : 1)), "raw");
    if (i < 0) {
      return -1;
    }
    if (source.startsWith("-%}", i)) {
      return skipSpace(i + 3);
    }
    return source.startsWith("%}", i) ? i + 2 : -1;
  }

  /**
   * The offset behind a word and the white space that follows it, or -1 where another word stands.
   */
  private int keyword(int from, String word) {
    return source.startsWith(word, from) ? skipSpace(from + word.length()) : -1;
  }

  private int skipSpace(int from) {
    int i = from;
    while (i < source.length() && Text.isSpace(source.charAt(i))) {
      i++;
    }
    return i;
  }

  /** Emits the text up to a tag, without the white space that the tag takes away. */
  private void dataBefore(int tag, char sign, boolean variable) {
    String text = source.substring(at, tag);
    String kept = text;
    if (sign == '-') {
      kept = Text.stripRight(text);
    } else if (sign != '+' && !variable) {
      int lineAt = text.lastIndexOf('\n') + 1;
      if ((lineAt > 0 || lineStarting)
          && lineAt < text.length()
          && Text.strip(text.substring(lineAt)).isEmpty()) {
        kept = text.substring(0, lineAt);
      }
    }
    data(kept);
    line += newlines(text, 0, text.length());
  }

  private void data(String text) {
    if (!text.isEmpty()) {
      ready.add(new Token(line, TokenType.DATA, text));
    }
  }

  private void consume(int end) {
    line += newlines(source, at, end);
    lineStarting = source.charAt(end - 1) == '\n';
    at = end;
  }

  private static int newlines(String s, int from, int to) {
    int count = 0;
    for (int i = from; i < to; i++) {
      if (s.charAt(i) == '\n') {
        count++;
      }
    }
    return count;
  }

  private void comment() {
    int close = source.indexOf("#}", at);
    if (close < 0) {
      throw PyError.syntax("Missing end of comment tag", line);
    }
    char sign = close > at ? signAt(close - 1) : 0;
    consume(tagEnd(close + 2, sign));
    state = State.ROOT;
  }

  /**
   * Where a tag ends that closes at an offset: {@code -} takes all white space, none takes a
   * newline.
   */
  private int tagEnd(int close, char sign) {
    if (sign == '-') {
      return skipSpace(close);
    }
    return sign == 0 && close < source.length() && source.charAt(close) == '\n' ? close + 1 : close;
  }

  private void raw() {
    for (int tag = source.indexOf("{%", at); tag >= 0; tag = source.indexOf("{%", tag + 1)) {
      char sign = signAt(tag + 2);
      int i = keyword(skipSpace(tag + 2 + (sign == 0 ? 0 : 1)), "endraw");
      if (i < 0) {
        continue;
      }
      char endSign = signAt(i);
      int close = endSign == 0 ? i : i + 1;
      if (source.startsWith("%}", close)) {
        dataBefore(tag, sign, false);
        at = tag;
        consume(tagEnd(close + 2, endSign));
        state = State.ROOT;
        return;
      }
    }
    throw PyError.syntax("Missing end of raw directive", line);
  }

  private void code() {
    if (open.isEmpty()) {
      int end = matchCodeEnd();
      if (end >= 0) {
        ready.add(
            new Token(
                line,
                state == State.VARIABLE ? TokenType.VARIABLE_END : TokenType.BLOCK_END,
                source.substring(at, end)));
        consume(end);
        state = State.ROOT;
        return;
      }
    }
    int end = skipSpace(at);
    if (end > at) {
      consume(end);
      return;
    }
    if (number() || name() || string()) {
      return;
    }
    operator();
  }

  private int matchCodeEnd() {
    char sign = signAt(at);
    int close = at + (sign == 0 ? 0 : 1);
    if (state == State.BLOCK) {
      return source.startsWith("%}", close) ? tagEnd(close + 2, sign) : -1;
    }
    if (sign == '+' || !source.startsWith("}}", close)) {
      return -1;
    }
    return sign == '-' ? skipSpace(close + 2) : close + 2;
  }

  private void emit(TokenType type, int end, Object value) {
    Token token = new Token(line, type, value);
    consume(end);
    ready.add(token);
  }

  private boolean number() {
    if (!isDigit(at)) {
      return false;
    }
    int end = at > 0 && source.charAt(at - 1) == '.' ? -1 : matchFloat();
    if (end >= 0) {
      emit(TokenType.FLOAT, end, Double.parseDouble(source.substring(at, end).replace("_", "")));
      return true;
    }
    end = matchInteger();
    String digits = source.substring(at, end).replace("_", "");
    emit(TokenType.INTEGER, end, Numbers.parseInt(digits, 0, digits));
    return true;
  }

  private boolean isDigit(int index) {
    return index < source.length() && source.charAt(index) >= '0' && source.charAt(index) <= '9';
  }

  /** Behind digits with single underscores between them; the offset itself where there are none. */
  private int skipDigits(int from, int radix) {
    int i = from;
    while (i < source.length()) {
      boolean separator = i > from && source.charAt(i) == '_';
      int digitAt = separator ? i + 1 : i;
      if (digitAt >= source.length()
          || source.charAt(digitAt) >= 0x80
          || Character.digit(source.charAt(digitAt), radix) < 0) {
        break;
      }
      i = digitAt + 1;
    }
    return i;
  }

  private int matchFloat() {
    int whole = skipDigits(at, 10);
    int fraction = whole;
    if (whole < source.length() && source.charAt(whole) == '.' && isDigit(whole + 1)) {
      fraction = skipDigits(whole + 1, 10);
    }
    int exponent = matchExponent(fraction);
    if (exponent < 0 && fraction > whole) {
      return fraction;
    }
    return exponent;
  }

  private int matchExponent(int from) {
    if (from >= source.length() || Character.toLowerCase(source.charAt(from)) != 'e') {
      return -1;
    }
    int digits = from + 1 + (signAt(from + 1) == 0 ? 0 : 1);
    return isDigit(digits) ? skipDigits(digits, 10) : -1;
  }

  private int matchInteger() {
    if (source.charAt(at) != '0') {
      return skipDigits(at, 10);
    }
    if (at + 1 < source.length()) {
      int radix =
          switch (source.charAt(at + 1)) {
            case 'b', 'B' -> 2;
            case 'o', 'O' -> 8;
            case 'x', 'X' -> 16;
            default -> 0;
          };
      if (radix > 0) {
        int digits = at + 2 + (at + 2 < source.length() && source.charAt(at + 2) == '_' ? 1 : 0);
        int end = skipDigits(digits, radix);
        if (end > digits) {
          return end;
        }
      }
    }
    int end = at + 1;
    while (end < source.length()
        && (source.charAt(end) == '0'
            || (source.charAt(end) == '_'
                && end + 1 < source.length()
                && source.charAt(end + 1) == '0'))) {
      end++;
    }
    return end;
  }

  private boolean name() {
    int end = at;
    while (end < source.length()) {
      int cp = source.codePointAt(end);
      if (!Text.isWord(cp) && !(cp > 0x7f && Character.isUnicodeIdentifierPart(cp))) {
        break;
      }
      end += Character.charCount(cp);
    }
    if (end == at) {
      return false;
    }
    String name = source.substring(at, end);
    if (!Text.isIdentifier(name)) {
      throw PyError.syntax("Invalid character in identifier", line);
    }
    emit(TokenType.NAME, end, name);
    return true;
  }

  private boolean string() {
    char quote = source.charAt(at);
    if (quote != '\'' && quote != '"') {
      return false;
    }
    for (int i = at + 1; i < source.length(); i++) {
      char c = source.charAt(i);
      if (c == '\\') {
        i++;
      } else if (c == quote) {
        emit(TokenType.STRING, i + 1, new StringLiteral(source.substring(at + 1, i), line).value());
        return true;
      }
    }
    return false;
  }

  private void operator() {
    for (int i = 0; i < OPERATORS.length; i++) {
      if (source.startsWith(OPERATORS[i], at)) {
        if (OPERATORS[i].length() == 1) {
          balance(OPERATORS[i].charAt(0));
        }
        emit(OPERATOR_TYPES[i], at + OPERATORS[i].length(), OPERATORS[i]);
        return;
      }
    }
    throw PyError.syntax(
        "unexpected char "
            + Repr.ofString(Character.toString(source.codePointAt(at)))
            + " at "
            + source.codePointCount(0, at),
        line);
  }

  private void balance(char c) {
    switch (c) {
      case '{' -> open.push('}');
      case '(' -> open.push(')');
      case '[' -> open.push(']');
      case '}', ')', ']' -> {
        if (open.isEmpty()) {
          throw PyError.syntax("unexpected '" + c + "'", line);
        }
        char expected = open.pop();
        if (expected != c) {
          throw PyError.syntax("unexpected '" + c + "', expected '" + expected + "'", line);
        }
      }
      default -> {}
    }
  }
}

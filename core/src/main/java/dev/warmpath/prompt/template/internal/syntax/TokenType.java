package dev.warmpath.prompt.template.internal.syntax;

/** Kinds of tokens, each as an error message describes it. */
enum TokenType {
  ADD("+"),
  ASSIGN("="),
  COLON(":"),
  COMMA(","),
  DIV("/"),
  DOT("."),
  EQ("=="),
  FLOORDIV("//"),
  GT(">"),
  GTEQ(">="),
  LBRACE("{"),
  LBRACKET("["),
  LPAREN("("),
  LT("<"),
  LTEQ("<="),
  MOD("%"),
  MUL("*"),
  NE("!="),
  PIPE("|"),
  POW("**"),
  RBRACE("}"),
  RBRACKET("]"),
  RPAREN(")"),
  SEMICOLON(";"),
  SUB("-"),
  TILDE("~"),
  FLOAT("float"),
  INTEGER("integer"),
  NAME("name"),
  STRING("string"),
  BLOCK_BEGIN("begin of statement block"),
  BLOCK_END("end of statement block"),
  VARIABLE_BEGIN("begin of print statement"),
  VARIABLE_END("end of print statement"),
  DATA("template data / text"),
  EOF("end of template");

  private final String description;

  TokenType(String description) {
    this.description = description;
  }

  String description() {
    return description;
  }
}

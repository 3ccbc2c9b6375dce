package dev.warmpath.prompt.template.internal.syntax;

import dev.warmpath.prompt.template.internal.python.PyError;
import dev.warmpath.prompt.template.internal.python.PyNone;
import dev.warmpath.prompt.template.internal.python.Repr;
import dev.warmpath.prompt.template.internal.python.Text;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Jinja2's recursive-descent parser with the tags of transformers' environment: all built-in ones,
 * {@code break}, {@code continue} and {@code generation}.
 */
public final class Parser {
  /** What nesting may weigh in all: some 200 brackets or blocks, or 1,000 signs. */
  private static final int MAX_NESTING = 1000;

  /** What a bracket or a block adds to the nesting; a sign adds 1. */
  private static final int BRACKET = 4;

  /**
   * Operators of one kind in a row: the tree leans to the left and is as deep as the row is long.
   */
  private static final int MAX_CHAIN = 1000;

  private final TokenStream stream;
  private final Deque<String> openTags = new ArrayDeque<>();
  private final Deque<List<String>> endTags = new ArrayDeque<>();
  private int nesting;

  private Parser(String source) {
    stream = new TokenStream(source);
  }

  /** Parses a template; a {@link PyError} where it is none. */
  public static List<Stmt> parse(String source) {
    return new Parser(source).statements(List.of());
  }

  // Statements

  private List<Stmt> statements(List<String> until) {
    List<Stmt> body = new ArrayList<>();
    List<Expr> output = new ArrayList<>();
    endTags.push(until);
    enter(BRACKET);
    while (stream.type() != TokenType.EOF) {
      Token token = stream.current();
      switch (token.type()) {
        case DATA -> {
          output.add(new Expr.TemplateData(token.line(), token.text()));
          stream.next();
        }
        case VARIABLE_BEGIN -> {
          stream.next();
          output.add(tuple(true, Set.of(), false));
          stream.expect(TokenType.VARIABLE_END);
        }
        default -> {
          flush(output, body);
          stream.next();
          if (stream.type() == TokenType.NAME && until.contains(stream.current().text())) {
            leaveStatements();
            return body;
          }
          body.add(statement());
          stream.expect(TokenType.BLOCK_END);
        }
      }
    }
    flush(output, body);
    leaveStatements();
    return body;
  }

  private void leaveStatements() {
    endTags.pop();
    leave(BRACKET);
  }

  private static void flush(List<Expr> output, List<Stmt> body) {
    if (!output.isEmpty()) {
      body.add(new Stmt.Output(output.get(0).line(), List.copyOf(output)));
      output.clear();
    }
  }

  private Stmt statement() {
    Token token = stream.current();
    if (token.type() != TokenType.NAME) {
      throw PyError.syntax("tag name expected", token.line());
    }
    String tag = token.text();
    openTags.push(tag);
    Stmt statement =
        switch (tag) {
          case "for" -> forLoop();
          case "if" -> ifStatement();
          case "block" -> block();
          case "extends" -> extendsStatement();
          case "print" -> print();
          case "macro" -> macro();
          case "include" -> include();
          case "from" -> fromImport();
          case "import" -> importStatement();
          case "set" -> set();
          case "with" -> with();
          case "autoescape" -> autoescape();
          case "call" -> callBlock();
          case "filter" -> filterBlock();
          case "generation" -> new Stmt.Generation(stream.next().line(), body("endgeneration"));
          case "break" -> new Stmt.Break(stream.next().line());
          case "continue" -> new Stmt.Continue(stream.next().line());
          default -> {
            openTags.pop();
            throw unknownTag(tag, endTags, token.line());
          }
        };
    openTags.pop();
    return statement;
  }

  /** The statements up to one of the tags, which stays the current token. */
  private List<Stmt> bodyUntil(String... tags) {
    stream.skipIf(TokenType.COLON);
    stream.expect(TokenType.BLOCK_END);
    List<String> until = List.of(tags);
    List<Stmt> body = statements(until);
    if (stream.type() == TokenType.EOF) {
      Deque<List<String>> all = new ArrayDeque<>(endTags);
      all.push(until);
      throw unknownTag("", all, stream.current().line());
    }
    return body;
  }

  private List<Stmt> body(String endTag) {
    List<Stmt> body = bodyUntil(endTag);
    stream.next();
    return body;
  }

  /**
   * The error of a tag that is not known here, or of the end of the template where the tag is
   * empty.
   */
  private PyError unknownTag(String tag, Deque<List<String>> expected, int line) {
    StringBuilder message = new StringBuilder();
    if (tag.isEmpty()) {
      message.append("Unexpected end of template.");
    } else {
      message.append("Encountered unknown tag ").append(Repr.ofString(tag)).append('.');
    }
    Set<String> all = new LinkedHashSet<>();
    expected.forEach(all::addAll);
    List<String> innermost = expected.isEmpty() ? List.of() : expected.peek();
    if (!innermost.isEmpty()) {
      String looking = String.join(" or ", innermost.stream().map(Repr::ofString).toList());
      if (all.contains(tag)) {
        message
            .append(
                " You probably made a nesting mistake. Jinja is expecting this tag, but currently"
                    + " looking for ")
            .append(looking)
            .append('.');
      } else {
        message.append(" Jinja was looking for the following tags: ").append(looking).append('.');
      }
    }
    if (!openTags.isEmpty()) {
      message
          .append(" The innermost block that needs to be closed is ")
          .append(Repr.ofString(openTags.peek()))
          .append('.');
    }
    return PyError.syntax(message.toString(), line);
  }

  private Stmt set() {
    int line = stream.next().line();
    Expr target = assignTarget(Set.of(), true);
    if (stream.skipIf(TokenType.ASSIGN)) {
      return new Stmt.Assign(line, target, tuple(true, Set.of(), false));
    }
    Expr.Filter filter = null;
    while (stream.type() == TokenType.PIPE) {
      stream.next();
      filter = filter(filter);
    }
    return new Stmt.AssignBlock(line, target, filter, body("endset"));
  }

  private Stmt forLoop() {
    int line = stream.expectName("for").line();
    Expr target = assignTarget(Set.of("in"), false);
    stream.expectName("in");
    Expr iterable = tuple(false, Set.of("recursive"), false);
    Expr test = stream.skipIfName("if") ? expression() : null;
    boolean recursive = stream.skipIfName("recursive");
    List<Stmt> body = bodyUntil("endfor", "else");
    List<Stmt> otherwise = stream.next().isName("endfor") ? List.of() : body("endfor");
    return new Stmt.For(line, target, iterable, body, otherwise, test, recursive);
  }

  private Stmt ifStatement() {
    int line = stream.expectName("if").line();
    Expr test = tuple(false, Set.of(), false);
    List<Stmt> body = bodyUntil("elif", "else", "endif");
    List<Stmt.If> elifs = new ArrayList<>();
    while (true) {
      Token token = stream.next();
      if (token.isName("elif")) {
        int elifLine = stream.current().line();
        Expr elifTest = tuple(false, Set.of(), false);
        elifs.add(
            new Stmt.If(
                elifLine, elifTest, bodyUntil("elif", "else", "endif"), List.of(), List.of()));
        continue;
      }
      List<Stmt> otherwise = token.isName("else") ? body("endif") : List.of();
      return new Stmt.If(line, test, body, elifs, otherwise);
    }
  }

  private Stmt with() {
    int line = stream.next().line();
    List<Expr> targets = new ArrayList<>();
    List<Expr> values = new ArrayList<>();
    while (stream.type() != TokenType.BLOCK_END) {
      if (!targets.isEmpty()) {
        stream.expect(TokenType.COMMA);
      }
      targets.add(use(assignTarget(Set.of(), false), Expr.Use.PARAM));
      stream.expect(TokenType.ASSIGN);
      values.add(expression());
    }
    return new Stmt.With(line, targets, values, body("endwith"));
  }

  private Stmt autoescape() {
    int line = stream.next().line();
    Expr value = expression();
    return new Stmt.Autoescape(line, value, body("endautoescape"));
  }

  private Stmt block() {
    int line = stream.next().line();
    String name = stream.expect(TokenType.NAME).text();
    boolean scoped = stream.skipIfName("scoped");
    boolean required = stream.skipIfName("required");
    if (stream.type() == TokenType.SUB) {
      throw PyError.syntax(
          "Block names in Jinja have to be valid Python identifiers and may not contain hyphens,"
              + " use an underscore instead.",
          stream.current().line());
    }
    List<Stmt> body = body("endblock");
    if (required && !body.stream().allMatch(Parser::isBlank)) {
      throw PyError.syntax(
          "Required blocks can only contain comments or whitespace", stream.current().line());
    }
    stream.skipIfName(name);
    return new Stmt.Block(line, name, body, scoped, required);
  }

  private static boolean isBlank(Stmt statement) {
    return statement instanceof Stmt.Output output
        && output.parts().stream()
            .allMatch(
                p -> p instanceof Expr.TemplateData data && Text.strip(data.data()).isEmpty());
  }

  private Stmt extendsStatement() {
    return new Stmt.Extends(stream.next().line(), expression());
  }

  private boolean skipContextClause() {
    if ((stream.current().isName("with") || stream.current().isName("without"))
        && stream.look().isName("context")) {
      stream.next();
      stream.next();
      return true;
    }
    return false;
  }

  private Stmt include() {
    int line = stream.next().line();
    Expr template = expression();
    boolean ignoreMissing = stream.current().isName("ignore") && stream.look().isName("missing");
    if (ignoreMissing) {
      stream.next();
      stream.next();
    }
    skipContextClause();
    return new Stmt.Include(line, template, ignoreMissing);
  }

  private Stmt importStatement() {
    int line = stream.next().line();
    Expr template = expression();
    stream.expectName("as");
    String target = nameTarget(Expr.Use.STORE).name();
    skipContextClause();
    return new Stmt.Import(line, template, List.of(target));
  }

  private Stmt fromImport() {
    int line = stream.next().line();
    Expr template = expression();
    stream.expectName("import");
    List<String> names = new ArrayList<>();
    while (true) {
      if (!names.isEmpty()) {
        stream.expect(TokenType.COMMA);
      }
      if (stream.type() != TokenType.NAME) {
        stream.expect(TokenType.NAME);
      }
      if (skipContextClause()) {
        break;
      }
      Expr.Name target = nameTarget(Expr.Use.STORE);
      if (target.name().startsWith("_")) {
        throw PyError.assertion(
            "names starting with an underline can not be imported", target.line());
      }
      names.add(stream.skipIfName("as") ? nameTarget(Expr.Use.STORE).name() : target.name());
      if (skipContextClause() || stream.type() != TokenType.COMMA) {
        break;
      }
    }
    return new Stmt.Import(line, template, names);
  }

  private void signature(List<Expr.Name> parameters, List<Expr> defaults) {
    stream.expect(TokenType.LPAREN);
    while (stream.type() != TokenType.RPAREN) {
      if (!parameters.isEmpty()) {
        stream.expect(TokenType.COMMA);
      }
      Expr.Name parameter = nameTarget(Expr.Use.PARAM);
      if (stream.skipIf(TokenType.ASSIGN)) {
        defaults.add(expression());
      } else if (!defaults.isEmpty()) {
        throw PyError.syntax(
            "non-default argument follows default argument", stream.current().line());
      }
      parameters.add(parameter);
    }
    stream.expect(TokenType.RPAREN);
  }

  private Stmt callBlock() {
    int line = stream.next().line();
    List<Expr.Name> parameters = new ArrayList<>();
    List<Expr> defaults = new ArrayList<>();
    if (stream.type() == TokenType.LPAREN) {
      signature(parameters, defaults);
    }
    if (!(expression() instanceof Expr.Call call)) {
      throw PyError.syntax("expected call", line);
    }
    return new Stmt.CallBlock(line, call, parameters, defaults, body("endcall"));
  }

  private Stmt filterBlock() {
    int line = stream.next().line();
    Expr.Filter filter = filter(null);
    while (stream.type() == TokenType.PIPE) {
      stream.next();
      filter = filter(filter);
    }
    return new Stmt.FilterBlock(line, body("endfilter"), filter);
  }

  private Stmt macro() {
    int line = stream.next().line();
    String name = nameTarget(Expr.Use.STORE).name();
    List<Expr.Name> parameters = new ArrayList<>();
    List<Expr> defaults = new ArrayList<>();
    signature(parameters, defaults);
    return new Stmt.Macro(line, name, parameters, defaults, body("endmacro"));
  }

  private Stmt print() {
    int line = stream.next().line();
    List<Expr> parts = new ArrayList<>();
    while (stream.type() != TokenType.BLOCK_END) {
      if (!parts.isEmpty()) {
        stream.expect(TokenType.COMMA);
      }
      parts.add(expression());
    }
    return new Stmt.Output(line, parts);
  }

  // Targets

  private Expr.Name nameTarget(Expr.Use use) {
    Token token = stream.expect(TokenType.NAME);
    if (isConstantName(token.text())) {
      throw PyError.syntax("can't assign to 'name'", token.line());
    }
    return new Expr.Name(token.line(), token.text(), use);
  }

  private static boolean isConstantName(String name) {
    return switch (name) {
      case "true", "false", "none", "True", "False", "None" -> true;
      default -> false;
    };
  }

  private Expr assignTarget(Set<String> endNames, boolean withNamespace) {
    Expr target = use(simpleTuple(endNames, withNamespace), Expr.Use.STORE);
    if (!isAssignable(target)) {
      throw PyError.syntax("can't assign to " + Repr.ofString(kind(target)), target.line());
    }
    return target;
  }

  private static boolean isAssignable(Expr target) {
    return target instanceof Expr.Name
        || target instanceof Expr.NsRef
        || (target instanceof Expr.TupleExpr tuple
            && tuple.items().stream().allMatch(Parser::isAssignable));
  }

  /** Jinja2's name of a node's class, in lower case. */
  private static String kind(Expr expr) {
    if (expr instanceof Expr.Binary binary) {
      return binary.op().name().toLowerCase(java.util.Locale.ROOT);
    }
    if (expr instanceof Expr.Unary unary) {
      return unary.op().name().toLowerCase(java.util.Locale.ROOT);
    }
    if (expr instanceof Expr.TupleExpr) {
      return "tuple";
    }
    if (expr instanceof Expr.ListExpr) {
      return "list";
    }
    if (expr instanceof Expr.DictExpr) {
      return "dict";
    }
    if (expr instanceof Expr.Conditional) {
      return "condexpr";
    }
    if (expr instanceof Expr.Item) {
      return "getitem";
    }
    if (expr instanceof Expr.Attribute) {
      return "getattr";
    }
    if (expr instanceof Expr.Comparison) {
      return "compare";
    }
    return expr.getClass().getSimpleName().toLowerCase(java.util.Locale.ROOT);
  }

  private static Expr use(Expr expr, Expr.Use use) {
    if (expr instanceof Expr.Name name) {
      return new Expr.Name(name.line(), name.name(), use);
    }
    if (expr instanceof Expr.TupleExpr tuple) {
      return new Expr.TupleExpr(
          tuple.line(), tuple.items().stream().map(item -> use(item, use)).toList());
    }
    return expr;
  }

  // Expressions

  private void enter(int weight) {
    nesting += weight;
    if (nesting > MAX_NESTING) {
      throw PyError.recursion().at(stream.current().line());
    }
  }

  private void leave(int weight) {
    nesting -= weight;
  }

  private void checkChain(int length) {
    if (length > MAX_CHAIN) {
      throw PyError.recursion().at(stream.current().line());
    }
  }

  private Expr expression() {
    enter(BRACKET);
    Expr expr = conditional();
    leave(BRACKET);
    return expr;
  }

  private Expr conditional() {
    int line = stream.current().line();
    Expr expr = or();
    for (int chain = 0; stream.skipIfName("if"); checkChain(++chain)) {
      Expr test = or();
      Expr otherwise = null;
      if (stream.skipIfName("else")) {
        enter(BRACKET);
        otherwise = conditional();
        leave(BRACKET);
      }
      expr = new Expr.Conditional(line, test, expr, otherwise);
      line = stream.current().line();
    }
    return expr;
  }

  private Expr or() {
    int line = stream.current().line();
    Expr left = and();
    for (int chain = 0; stream.skipIfName("or"); checkChain(++chain)) {
      left = new Expr.Binary(line, Expr.BinaryOp.OR, left, and());
      line = stream.current().line();
    }
    return left;
  }

  private Expr and() {
    int line = stream.current().line();
    Expr left = not();
    for (int chain = 0; stream.skipIfName("and"); checkChain(++chain)) {
      left = new Expr.Binary(line, Expr.BinaryOp.AND, left, not());
      line = stream.current().line();
    }
    return left;
  }

  private Expr not() {
    if (!stream.current().isName("not")) {
      return comparison();
    }
    int line = stream.next().line();
    enter(1);
    Expr operand = not();
    leave(1);
    return new Expr.Unary(line, Expr.UnaryOp.NOT, operand);
  }

  private Expr comparison() {
    int line = stream.current().line();
    Expr first = addition();
    List<Expr.Operand> operands = new ArrayList<>();
    for (Expr.CompareOp op = compareOp(); op != null; op = compareOp()) {
      int operandLine = stream.current().line();
      operands.add(new Expr.Operand(operandLine, op, addition()));
      line = stream.current().line();
    }
    return operands.isEmpty() ? first : new Expr.Comparison(line, first, operands);
  }

  private Expr.@Nullable CompareOp compareOp() {
    Expr.CompareOp op =
        switch (stream.type()) {
          case EQ -> Expr.CompareOp.EQ;
          case NE -> Expr.CompareOp.NE;
          case LT -> Expr.CompareOp.LT;
          case LTEQ -> Expr.CompareOp.LTEQ;
          case GT -> Expr.CompareOp.GT;
          case GTEQ -> Expr.CompareOp.GTEQ;
          default -> null;
        };
    if (op != null) {
      stream.next();
      return op;
    }
    if (stream.skipIfName("in")) {
      return Expr.CompareOp.IN;
    }
    if (stream.current().isName("not") && stream.look().isName("in")) {
      stream.next();
      stream.next();
      return Expr.CompareOp.NOT_IN;
    }
    return null;
  }

  private Expr addition() {
    int line = stream.current().line();
    Expr left = concat();
    for (int chain = 0;
        stream.type() == TokenType.ADD || stream.type() == TokenType.SUB;
        checkChain(++chain)) {
      Expr.BinaryOp op =
          stream.next().type() == TokenType.ADD ? Expr.BinaryOp.ADD : Expr.BinaryOp.SUB;
      left = new Expr.Binary(line, op, left, concat());
      line = stream.current().line();
    }
    return left;
  }

  private Expr concat() {
    int line = stream.current().line();
    Expr first = multiplication();
    if (stream.type() != TokenType.TILDE) {
      return first;
    }
    List<Expr> operands = new ArrayList<>(List.of(first));
    while (stream.skipIf(TokenType.TILDE)) {
      operands.add(multiplication());
    }
    return new Expr.Concat(line, operands);
  }

  private Expr multiplication() {
    int line = stream.current().line();
    Expr left = power();
    for (int chain = 0; ; checkChain(++chain)) {
      Expr.BinaryOp op =
          switch (stream.type()) {
            case MUL -> Expr.BinaryOp.MUL;
            case DIV -> Expr.BinaryOp.DIV;
            case FLOORDIV -> Expr.BinaryOp.FLOORDIV;
            case MOD -> Expr.BinaryOp.MOD;
            default -> null;
          };
      if (op == null) {
        return left;
      }
      stream.next();
      left = new Expr.Binary(line, op, left, power());
      line = stream.current().line();
    }
  }

  private Expr power() {
    int line = stream.current().line();
    Expr left = unary(true);
    for (int chain = 0; stream.skipIf(TokenType.POW); checkChain(++chain)) {
      left = new Expr.Binary(line, Expr.BinaryOp.POW, left, unary(true));
      line = stream.current().line();
    }
    return left;
  }

  private Expr unary(boolean withFilter) {
    int line = stream.current().line();
    Expr node;
    enter(1);
    if (stream.skipIf(TokenType.SUB)) {
      node = new Expr.Unary(line, Expr.UnaryOp.NEG, unary(false));
    } else if (stream.skipIf(TokenType.ADD)) {
      node = new Expr.Unary(line, Expr.UnaryOp.POS, unary(false));
    } else {
      node = primary(false);
    }
    node = postfix(node);
    if (withFilter) {
      node = filtersAndTests(node);
    }
    leave(1);
    return node;
  }

  private Expr primary(boolean withNamespace) {
    Token token = stream.current();
    int line = token.line();
    switch (token.type()) {
      case NAME -> {
        stream.next();
        return switch (token.text()) {
          case "true", "True" -> new Expr.Const(line, true);
          case "false", "False" -> new Expr.Const(line, false);
          case "none", "None" -> new Expr.Const(line, PyNone.NONE);
          default -> {
            if (withNamespace && stream.skipIf(TokenType.DOT)) {
              yield new Expr.NsRef(line, token.text(), stream.expect(TokenType.NAME).text());
            }
            yield new Expr.Name(line, token.text(), Expr.Use.LOAD);
          }
        };
      }
      case STRING -> {
        stream.next();
        if (stream.type() != TokenType.STRING) {
          return new Expr.Const(line, token.value());
        }
        StringBuilder all = new StringBuilder(token.text());
        while (stream.type() == TokenType.STRING) {
          all.append(stream.next().text());
        }
        return new Expr.Const(line, all.toString());
      }
      case INTEGER, FLOAT -> {
        stream.next();
        return new Expr.Const(line, token.value());
      }
      case LPAREN -> {
        stream.next();
        Expr node = tuple(true, Set.of(), true);
        stream.expect(TokenType.RPAREN);
        return node;
      }
      case LBRACKET -> {
        return list();
      }
      case LBRACE -> {
        return dict();
      }
      default -> throw PyError.syntax("unexpected " + Repr.ofString(token.describe()), line);
    }
  }

  private boolean isTupleEnd(Set<String> endNames) {
    return switch (stream.type()) {
      case VARIABLE_END, BLOCK_END, RPAREN -> true;
      case NAME -> endNames.contains(stream.current().text());
      default -> false;
    };
  }

  /** Expressions with commas between them make a tuple; one without a comma is itself. */
  private Expr tuple(boolean withConditional, Set<String> endNames, boolean parenthesized) {
    return tuple(
        () -> {
          if (withConditional) {
            return expression();
          }
          enter(BRACKET);
          Expr expr = or();
          leave(BRACKET);
          return expr;
        },
        endNames,
        parenthesized);
  }

  private Expr simpleTuple(Set<String> endNames, boolean withNamespace) {
    return tuple(() -> primary(withNamespace), endNames, false);
  }

  private Expr tuple(
      java.util.function.Supplier<Expr> item, Set<String> endNames, boolean parenthesized) {
    int line = stream.current().line();
    List<Expr> items = new ArrayList<>();
    boolean isTuple = false;
    while (true) {
      if (!items.isEmpty()) {
        stream.expect(TokenType.COMMA);
      }
      if (isTupleEnd(endNames)) {
        break;
      }
      items.add(item.get());
      if (stream.type() != TokenType.COMMA) {
        break;
      }
      isTuple = true;
      line = stream.current().line();
    }
    if (!isTuple) {
      if (!items.isEmpty()) {
        return items.get(0);
      }
      if (!parenthesized) {
        throw PyError.syntax(
            "Expected an expression, got " + Repr.ofString(stream.current().describe()),
            stream.current().line());
      }
    }
    return new Expr.TupleExpr(line, items);
  }

  private Expr list() {
    int line = stream.expect(TokenType.LBRACKET).line();
    List<Expr> items = new ArrayList<>();
    while (stream.type() != TokenType.RBRACKET) {
      if (!items.isEmpty()) {
        stream.expect(TokenType.COMMA);
      }
      if (stream.type() == TokenType.RBRACKET) {
        break;
      }
      items.add(expression());
    }
    stream.expect(TokenType.RBRACKET);
    return new Expr.ListExpr(line, items);
  }

  private Expr dict() {
    int line = stream.expect(TokenType.LBRACE).line();
    List<Expr.Pair> items = new ArrayList<>();
    while (stream.type() != TokenType.RBRACE) {
      if (!items.isEmpty()) {
        stream.expect(TokenType.COMMA);
      }
      if (stream.type() == TokenType.RBRACE) {
        break;
      }
      Expr key = expression();
      stream.expect(TokenType.COLON);
      items.add(new Expr.Pair(key.line(), key, expression()));
    }
    stream.expect(TokenType.RBRACE);
    return new Expr.DictExpr(line, items);
  }

  private Expr postfix(Expr first) {
    Expr node = first;
    for (int chain = 0; ; checkChain(++chain)) {
      switch (stream.type()) {
        case DOT, LBRACKET -> node = subscript(node);
        case LPAREN -> node = call(node);
        default -> {
          return node;
        }
      }
    }
  }

  private Expr filtersAndTests(Expr first) {
    Expr node = first;
    for (int chain = 0; ; checkChain(++chain)) {
      if (stream.skipIf(TokenType.PIPE)) {
        node = filter(node);
      } else if (stream.current().isName("is")) {
        node = test(node);
      } else if (stream.type() == TokenType.LPAREN) {
        node = call(node);
      } else {
        return node;
      }
    }
  }

  private Expr subscript(Expr object) {
    Token token = stream.next();
    if (token.type() == TokenType.DOT) {
      Token attribute = stream.next();
      return switch (attribute.type()) {
        case NAME -> new Expr.Attribute(token.line(), object, attribute.text());
        case INTEGER ->
            new Expr.Item(
                token.line(), object, new Expr.Const(attribute.line(), attribute.value()));
        default -> throw PyError.syntax("expected name or number", attribute.line());
      };
    }
    List<Expr> keys = new ArrayList<>();
    while (stream.type() != TokenType.RBRACKET) {
      if (!keys.isEmpty()) {
        stream.expect(TokenType.COMMA);
      }
      keys.add(subscribed());
    }
    stream.expect(TokenType.RBRACKET);
    Expr key = keys.size() == 1 ? keys.get(0) : new Expr.TupleExpr(token.line(), keys);
    return new Expr.Item(token.line(), object, key);
  }

  private Expr subscribed() {
    int line = stream.current().line();
    Expr start = null;
    if (stream.type() != TokenType.COLON) {
      start = expression();
      if (stream.type() != TokenType.COLON) {
        return start;
      }
    }
    stream.next();
    Expr stop = isSliceEnd() || stream.type() == TokenType.COLON ? null : expression();
    Expr step = null;
    if (stream.skipIf(TokenType.COLON) && !isSliceEnd()) {
      step = expression();
    }
    return new Expr.Slice(line, start, stop, step);
  }

  private boolean isSliceEnd() {
    return stream.type() == TokenType.RBRACKET || stream.type() == TokenType.COMMA;
  }

  private Expr.Call call(Expr callee) {
    int line = stream.current().line();
    return new Expr.Call(line, callee, arguments());
  }

  private Expr.Arguments arguments() {
    int line = stream.expect(TokenType.LPAREN).line();
    List<Expr> positional = new ArrayList<>();
    List<Expr.Keyword> keywords = new ArrayList<>();
    Expr more = null;
    Expr moreKeywords = null;
    boolean comma = false;
    while (stream.type() != TokenType.RPAREN) {
      if (comma) {
        stream.expect(TokenType.COMMA);
        if (stream.type() == TokenType.RPAREN) {
          break;
        }
      }
      if (stream.type() == TokenType.MUL) {
        checkArgument(more == null && moreKeywords == null, line);
        stream.next();
        more = expression();
      } else if (stream.type() == TokenType.POW) {
        checkArgument(moreKeywords == null, line);
        stream.next();
        moreKeywords = expression();
      } else if (stream.type() == TokenType.NAME && stream.look().type() == TokenType.ASSIGN) {
        checkArgument(moreKeywords == null, line);
        String key = stream.next().text();
        stream.next();
        Expr value = expression();
        keywords.add(new Expr.Keyword(value.line(), key, value));
      } else {
        checkArgument(more == null && moreKeywords == null && keywords.isEmpty(), line);
        positional.add(expression());
      }
      comma = true;
    }
    stream.expect(TokenType.RPAREN);
    return positional.isEmpty() && keywords.isEmpty() && more == null && moreKeywords == null
        ? Expr.Arguments.NONE
        : new Expr.Arguments(
            Collections.unmodifiableList(positional),
            Collections.unmodifiableList(keywords),
            more,
            moreKeywords);
  }

  private static void checkArgument(boolean ok, int line) {
    if (!ok) {
      throw PyError.syntax("invalid syntax for function call expression", line);
    }
  }

  private Expr.Filter filter(@Nullable Expr value) {
    Token token = stream.expect(TokenType.NAME);
    String name = dottedName(token.text());
    Expr.Arguments arguments =
        stream.type() == TokenType.LPAREN ? arguments() : Expr.Arguments.NONE;
    return new Expr.Filter(token.line(), value, name, arguments);
  }

  private String dottedName(String first) {
    StringBuilder name = new StringBuilder(first);
    while (stream.skipIf(TokenType.DOT)) {
      name.append('.').append(stream.expect(TokenType.NAME).text());
    }
    return name.toString();
  }

  private Expr test(Expr value) {
    int line = stream.next().line();
    boolean negated = stream.skipIfName("not");
    String name = dottedName(stream.expect(TokenType.NAME).text());
    Expr.Arguments arguments = Expr.Arguments.NONE;
    if (stream.type() == TokenType.LPAREN) {
      arguments = arguments();
    } else if (beginsOperand()) {
      if (stream.current().isName("is")) {
        throw PyError.syntax("You cannot chain multiple tests with is", stream.current().line());
      }
      arguments = new Expr.Arguments(List.of(postfix(primary(false))), List.of(), null, null);
    }
    Expr test = new Expr.Test(line, value, name, arguments);
    return negated ? new Expr.Unary(line, Expr.UnaryOp.NOT, test) : test;
  }

  private boolean beginsOperand() {
    return switch (stream.type()) {
      case STRING, INTEGER, FLOAT, LBRACKET, LBRACE -> true;
      case NAME ->
          !stream.current().isName("else")
              && !stream.current().isName("or")
              && !stream.current().isName("and");
      default -> false;
    };
  }
}

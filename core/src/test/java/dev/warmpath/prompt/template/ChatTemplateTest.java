package dev.warmpath.prompt.template;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.warmpath.prompt.template.TemplateException.Kind;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ChatTemplateTest {
  private static final Clock CLOCK =
      Clock.fixed(Instant.parse("2025-07-10T12:00:00Z"), ZoneOffset.UTC);

  private static String render(String source, Map<String, ?> context) {
    return ChatTemplate.compile(source).render(context, CLOCK);
  }

  private static TemplateException failure(String source, Map<String, ?> context) {
    return catchThrowableOfType(TemplateException.class, () -> render(source, context));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      textBlock =
          """
          true ; {% for m in messages %}{% for p in m['content'] %}x{% endfor %}{% endfor %}
          true ; {% for m in messages[::-1] %}{% for p in m.content|list %}x{% endfor %}{% endfor %}
          true ; {% set ms = messages[1:] %}{% for m in ms %}{% for p in m.content %}x{% endfor %}{% endfor %}
          false ; {% for m in messages %}{{ m['content'] }}{% for p in m.tool_calls %}x{% endfor %}{% endfor %}
          false ; {% for m in tools %}{% for p in m['content'] %}x{% endfor %}{% endfor %}
          false ; {% for m in messages %}{% for p in m %}x{% endfor %}{% endfor %}
          """)
  void knowsWhetherATemplateWalksThroughContent(boolean expected, String source) {
    assertThat(ChatTemplate.compile(source).loopsOverContent()).isEqualTo(expected);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      textBlock =
          """
          {{ 'a' + 'b' + 'c' }}         ; abc
          {{ 1 + 2 + 3 }}               ; 6
          {{ 1.5 + 2 }}                 ; 3.5
          {{ [1] + [2] + [3] }}         ; [1, 2, 3]
          {{ ('a' + 'b') + ('c' + 'd') }} ; abcd
          """)
  void printsSums(String source, String expected) {
    assertThat(render(source, Map.of())).isEqualTo(expected);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      textBlock =
          """
          {{ 'a' + 1 }}
          {{ 'a' + 'b' + 1 + 'c' }}
          {{ 1 + 'a' }}
          {{ 'a' + none }}
          """)
  void aSumOfStringAndNumberIsATypeError(String source) {
    assertThat(failure(source, Map.of()).kind()).isEqualTo(Kind.TYPE);
  }

  @Test
  void rendersTheSameAsBytes() {
    ChatTemplate template = ChatTemplate.compile("{% for x in xs %}{{ x + '|' }}{% endfor %}");
    Map<String, ?> context = Map.of("xs", List.of("é".repeat(300), "東", "b".repeat(999)));
    assertThat(
            new String(
                template.renderUtf8(context, CLOCK), java.nio.charset.StandardCharsets.UTF_8))
        .isEqualTo(template.render(context, CLOCK));
  }

  @Test
  void everyNumberOfADocumentReadsAsPythons() {
    Map<String, Object> numbers = new LinkedHashMap<>();
    numbers.put("int", 7);
    numbers.put("long", 7L);
    numbers.put("short", (short) 7);
    numbers.put("byte", (byte) 7);
    numbers.put("big", BigInteger.ONE.shiftLeft(70));
    numbers.put("double", 7.0);
    numbers.put("float", 0.1f);
    numbers.put("decimal", new BigDecimal("2.50"));

    assertThat(render("{{ v }}", Map.of("v", numbers)))
        .isEqualTo(
            "{'int': 7, 'long': 7, 'short': 7, 'byte': 7, 'big': 1180591620717411303424,"
                + " 'double': 7.0, 'float': 0.1, 'decimal': 2.5}");
    assertThat(
            render("{{ v.int == v.long == v.double == v.short == v.byte }}", Map.of("v", numbers)))
        .isEqualTo("True");
    assertThat(render("{{ v.int + v.decimal }} {{ v.big // v.byte }}", Map.of("v", numbers)))
        .isEqualTo("9.5 168655945816773043346");
  }

  @Test
  void nullIsNoneWhereverItStands() {
    Map<String, Object> context = new HashMap<>();
    context.put("nothing", null);
    context.put("list", Arrays.asList(1, null));
    context.put("map", new HashMap<>(context));

    assertThat(
            render(
                "{{ nothing }} {{ nothing is none }} {{ list }} {{ map.nothing is defined }}"
                    + " {{ map['nothing'] }} {% for x in list %}{{ x is none }}{% endfor %}"
                    + " {{ none in list }} {{ map.get('nothing', 1) }} {{ list | tojson }}",
                context))
        .isEqualTo("None True [1, None] True None FalseTrue True None [1, null]");
  }

  @Test
  void theContextComesBeforeGlobals() {
    assertThat(render("{{ range }}{{ dict }}", Map.of("range", "r", "dict", 1))).isEqualTo("r1");
  }

  @Test
  void unmodifiableContextsWillDo() {
    Map<String, Object> context =
        Map.of("messages", List.of(Map.of("role", "user", "content", "hi")), "x", 1);

    assertThat(
            render(
                "{% set x = 2 %}{% set m = messages + [{'role': 'r', 'content': 'c'}] %}{{ x }}"
                    + "{{ m | length }}{{ messages | length }}{{ 1 in messages[0] }}"
                    + "{{ none in messages[0] }}",
                context))
        .isEqualTo("221FalseFalse");
  }

  @Test
  void stringsAreSequencesOfCodePoints() {
    assertThat(render("{{ s | length }} {{ s[1] }} {{ s[::-1] }}", Map.of("s", "a\ud83d\ude00b")))
        .isEqualTo("3 \ud83d\ude00 b\ud83d\ude00a");
  }

  @Test
  void nowIsTheClocksInItsZone() {
    Clock tokyo = CLOCK.withZone(ZoneId.of("Asia/Tokyo"));

    assertThat(ChatTemplate.compile("{{ strftime_now('%d %b %Y %H:%M') }}").render(Map.of(), tokyo))
        .isEqualTo("10 Jul 2025 21:00");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      textBlock =
          """
          {{ 1 +;                            SYNTAX;    TemplateSyntaxError;    1
          {% for x in [] %};                 SYNTAX;    TemplateSyntaxError;    1
          {{ x | nope }};                    SYNTAX;    TemplateAssertionError; 1
          {% break %};                       SYNTAX;    SyntaxError;            0
          {{ nope.x }};                      UNDEFINED; UndefinedError;         1
          {{ 1 + 'a' }};                     TYPE;      TypeError;              1
          {{ 5 | wordwrap }};                TYPE;      AttributeError;         1
          {{ 1 / 0 }};                       VALUE;     ZeroDivisionError;      1
          {{ [] | map | list }};             NONE;      ;                       0
          {{ [1] | map | list }};            VALUE;     FilterArgumentError;    1
          {{ raise_exception('no') }};       RAISED;    TemplateError;          1
          {{ [].append(1) }};                SECURITY;  SecurityError;          1
          {{ ''.__class__.x }};              SECURITY;  SecurityError;          1
          {% set x.y = 1 %};                 RUNTIME;   TemplateRuntimeError;   1
          {% macro m() %}{{ m() }}{% endmacro %}{{ m() }}; LIMIT; RecursionError; 1
          """)
  void errorsSayWhatTheyAre(String source, String kind, String type, int line) {
    TemplateException error = failure(source, Map.of());

    if (kind.equals("NONE")) {
      assertThat(error).isNull();
      return;
    }
    assertThat(error.kind()).isEqualTo(Kind.valueOf(kind));
    assertThat(error.type()).isEqualTo(type);
    assertThat(error.line()).isEqualTo(line);
    assertThat(error.reason()).isNotBlank();
    assertThat(error).hasMessageEndingWith(error.reason());
  }

  @Test
  void anErrorNamesTheLineItComesFrom() {
    String source =
        """
        {% for m in messages %}
        {{ m.role }}
          {% if m.content is string %}

            {{- m.content + 1 }}
          {% endif %}
        {% endfor %}
        """;

    TemplateException error =
        failure(source, Map.of("messages", List.of(Map.of("role", "r", "content", "c"))));

    assertThat(error.line()).isEqualTo(5);
    assertThat(error).hasMessage("line 5: can only concatenate str (not \"int\") to str");
  }

  @Test
  void anErrorInAMacroNamesTheMacrosLine() {
    TemplateException error =
        failure("{% macro m(x) %}\n{{ x.y.z }}\n{% endmacro %}\n\n{{ m({}) }}", Map.of());

    assertThat(error.line()).isEqualTo(2);
    assertThat(error.reason()).isEqualTo("'dict object' has no attribute 'y'");
  }

  @Test
  void oneTemplateServesManyThreads() throws Exception {
    ChatTemplate template =
        ChatTemplate.compile(
            "{% set ns = namespace(n=0) %}{% macro m(x) %}<{{ x }}>{% endmacro %}{% for i in"
                + " range(id) %}{% set ns.n = ns.n + i %}{{ m(i) }}{% endfor %}={{ ns.n }}");
    ExecutorService threads = Executors.newFixedThreadPool(8);
    try {
      List<Callable<String>> renderings =
          java.util.stream.IntStream.range(0, 400)
              .<Callable<String>>mapToObj(i -> () -> template.render(Map.of("id", i % 20), CLOCK))
              .toList();
      List<Future<String>> results = threads.invokeAll(renderings);
      for (int i = 0; i < results.size(); i++) {
        int id = i % 20;
        assertThat(results.get(i).get()).endsWith("=" + id * (id - 1) / 2);
      }
    } finally {
      threads.shutdownNow();
    }
  }

  @Test
  void limitsAreChecked() {
    assertThatIllegalArgumentException().isThrownBy(() -> new TemplateLimits(0, 1, 1, 1));
    assertThatIllegalArgumentException().isThrownBy(() -> new TemplateLimits(1, 0, 1, 1));
    assertThatIllegalArgumentException().isThrownBy(() -> new TemplateLimits(1, 1, 0, 1));
    assertThatIllegalArgumentException().isThrownBy(() -> new TemplateLimits(1, 1, 1, 0));
  }
}

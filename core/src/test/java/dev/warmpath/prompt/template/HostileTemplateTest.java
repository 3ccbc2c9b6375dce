package dev.warmpath.prompt.template;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.warmpath.prompt.template.TemplateException.Kind;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Templates that would hang or exhaust a JVM without limits. */
class HostileTemplateTest {
  private static final TemplateLimits SMALL = new TemplateLimits(1 << 16, 1_000_000, 1 << 18, 200);

  /** Doubles a value in a variable 60 times over. */
  private static String doubled(String start, String step, String use) {
    return "{% set ns = namespace(v="
        + start
        + ") %}{% for i in range(60) %}{% set ns.v = "
        + step
        + " %}{% endfor %}{{ "
        + use
        + " }}";
  }

  static Stream<String> endless() {
    String pair = doubled("[1]", "[ns.v, ns.v]", "USE");
    String tuple = doubled("(1,)", "(ns.v, ns.v)", "USE");
    String hundredThousand = "{% set a = 'a' * 100000 %}";
    return Stream.of(
        "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
        "{% for a in range(99999) %}{% for b in range(99999) if false %}{% endfor %}{% endfor %}",
        "{% macro m() %}{{ m() }}{{ m() }}{% endmacro %}{{ m() }}",
        "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(150)"
            + " }}",
        "{% for a in [1] recursive %}{{ loop([1]) }}{% endfor %}",
        "{% for a in [1, 2] recursive %}{% if loop.depth < 100 %}{{ loop([1, 2]) }}{% endif %}{%"
            + " endfor %}",
        "{% block b %}{{ self.b() }}{% endblock %}",
        "{% for a in range(99999) %}0123456789{% endfor %}",
        doubled("'a'", "ns.v ~ ns.v", "ns.v"),
        doubled("'a'", "ns.v + ns.v", "ns.v"),
        doubled("[1]", "ns.v + ns.v", "ns.v"),
        doubled("7", "ns.v * ns.v", "ns.v"),
        doubled("'a'", "[ns.v, ns.v] | join", "ns.v"),
        doubled("'a'", "(ns.v, ns.v).__class__ or ns.v.join([ns.v, ns.v])", "ns.v"),
        doubled("'aa'", "ns.v | replace('a', 'aa')", "ns.v"),
        doubled("'aa'", "ns.v.replace('', 'aa')", "ns.v"),
        doubled("'a'", "'%s%s' % (ns.v, ns.v)", "ns.v"),
        doubled("'a'", "'{0}{0}'.format(ns.v)", "ns.v"),
        pair.replace("USE", "ns.v"),
        pair.replace("USE", "ns.v | tojson"),
        pair.replace("USE", "ns.v | pprint"),
        pair.replace("USE", "ns.v | string | length"),
        pair.replace("USE", "'%s' % (ns.v,)"),
        pair.replace("USE", "[ns.v] | join"),
        doubled(
            "namespace(a=[1], b=[1])",
            "namespace(a=[ns.v.a, ns.v.a], b=[ns.v.b, ns.v.b])",
            "ns.v.a == ns.v.b"),
        doubled(
            "namespace(a=[1], b=[1])",
            "namespace(a=[ns.v.a, ns.v.a], b=[ns.v.b, ns.v.b])",
            "ns.v.a < ns.v.b"),
        tuple.replace("USE", "{ns.v: 1}"),
        tuple.replace("USE", "[ns.v] | unique | list"),
        "{{ 'a' * 10 ** 12 }}",
        "{{ [0] * 10 ** 9 }}",
        "{{ (0,) * 10 ** 9 }}",
        "{{ 10 ** (10 ** 10) }}",
        "{{ 7 ** 10000000 }}",
        "{{ '%999999999d' % 1 }}",
        "{{ '%*d' % (999999999, 1) }}",
        "{{ '%.999999999f' % 1 }}",
        "{{ '{:999999999}'.format(1) }}",
        "{{ '{:.999999999f}'.format(1) }}",
        "{{ '{:{}}'.format(1, 999999999) }}",
        "{{ 'a'.center(999999999) }}",
        "{{ 'a'.ljust(999999999) }}",
        "{{ 'a'.rjust(999999999) }}",
        "{{ 'a'.zfill(999999999) }}",
        "{{ '\t'.expandtabs(999999999) }}",
        "{{ 'a' | center(999999999) }}",
        "{{ 'a' | indent(999999999, true) }}",
        "{{ ('a\n' * 50000) | indent(1000) }}",
        "{{ [1] | tojson(indent=999999999) }}",
        "{{ [1] | batch(999999999, 0) | list }}",
        "{{ [1] | slice(999999999) | list }}",
        "{{ (5).to_bytes(999999999) }}",
        "{{ lipsum(n=999999) }}",
        "{% for i in range(99999) %}{% set x = range(99999) | list %}{% endfor %}",
        "{% for i in range(99999) %}{% set x = range(99999) | sort | length %}{% endfor %}",
        "{% for i in range(99999) %}{% set x = range(99999) | map('string') | join %}{% endfor %}",
        "{% for i in range(99999) %}{% set x = range(99999) | select('odd') | last %}{% endfor %}",
        "{% for i in range(99999) %}{% set x = 99998.5 in range(99999) %}{% endfor %}",
        hundredThousand + "{% for i in range(99999) %}{% set x = a ~ i %}{% endfor %}",
        hundredThousand + "{% for i in range(99999) %}{% set x = a[::-1] %}{% endfor %}",
        hundredThousand + "{% for i in range(99999) %}{% set x = a | wordwrap(1) %}{% endfor %}",
        hundredThousand + "{% for i in range(99999) %}{% set x = a | urlize %}{% endfor %}",
        hundredThousand + "{% for i in range(99999) %}{% set x = a.count('aab') %}{% endfor %}",
        hundredThousand
            + "{% set b = 'a' * 50000 ~ 'b' %}"
            + "{% for i in range(99999) %}{% set x = b in a %}{% endfor %}",
        hundredThousand
            + "{% set b = 'b' ~ 'a' * 50000 %}"
            + "{% for i in range(99999) %}{% set x = a.rfind(b) %}{% endfor %}",
        hundredThousand
            + "{% set b = a[1:] ~ 'b' %}"
            + "{% for i in range(99999) %}{% set x = a == b or a < b %}{% endfor %}",
        "{% for i in range(99999) %}{% for k in dict.fromkeys(range(9999)) %}{% endfor %}{% endfor"
            + " %}",
        "{{ dict(*[range(99999) | list] * 999) }}{{ f(*range(99999)) }}");
  }

  @ParameterizedTest
  @MethodSource("endless")
  void endsWithAnError(String source) {
    TemplateException error =
        catchThrowableOfType(
            TemplateException.class,
            () -> ChatTemplate.compile(source, SMALL).render(Map.of(), Clock.systemUTC()));

    assertThat(error).isNotNull();
    assertThat(error.kind()).isIn(Kind.LIMIT, Kind.TYPE);
  }

  static Stream<String> deep() {
    return Stream.of(
        "{{ " + "(".repeat(20_000) + "1" + ")".repeat(20_000) + " }}",
        "{{ " + "[".repeat(20_000) + "]".repeat(20_000) + " }}",
        "{{ " + "{1:".repeat(10_000) + "1" + "}".repeat(10_000) + " }}",
        "{{ " + "not ".repeat(16_000) + "1 }}",
        "{{ " + "-".repeat(60_000) + "1 }}",
        "{{ 1" + "+1".repeat(30_000) + " }}",
        "{{ 1" + " and 1".repeat(10_000) + " }}",
        "{{ 1" + " if 1".repeat(10_000) + " }}",
        "{{ " + "1 if x else ".repeat(5_000) + "1 }}",
        "{{ x" + "|e".repeat(30_000) + " }}",
        "{{ x" + ".y".repeat(30_000) + " }}",
        "{{ x" + "[0]".repeat(20_000) + " }}",
        "{{ x" + "()".repeat(30_000) + " }}",
        "{% if x %}".repeat(6_000),
        "{% for x in y %}".repeat(4_000),
        "{% filter e %}".repeat(4_000),
        "{% macro m() %}".repeat(4_000) + "{% endmacro %}".repeat(100),
        "{{ x is " + "in (".repeat(15_000));
  }

  @ParameterizedTest
  @MethodSource("deep")
  void deepNestingIsRefused(String source) {
    TemplateException error =
        catchThrowableOfType(TemplateException.class, () -> ChatTemplate.compile(source, SMALL));

    assertThat(error).isNotNull();
    assertThat(error.kind()).isEqualTo(Kind.LIMIT);
    assertThat(error.type()).isEqualTo("RecursionError");
  }

  @Test
  void nestingAsDeepAsJinja2TakesIsFine() {
    assertThat(render("{{ " + "(".repeat(69) + "1" + ")".repeat(69) + " }}")).isEqualTo("1");
    assertThat(render("{{ " + "not ".repeat(490) + "1 }}")).isEqualTo("True");
    assertThat(render("{{ 1" + "+1".repeat(490) + " }}")).isEqualTo("491");
    assertThat(render("{% if true %}".repeat(98) + "x" + "{% endif %}".repeat(98))).isEqualTo("x");
    assertThat(
            render(
                "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{% else %}end{% endif %}{% endmacro %}"
                    + "{{ m(190) }}"))
        .isEqualTo("end");
  }

  @Test
  void valuesNestedTooDeepForPythonAreRefused() {
    String nested =
        "{% set ns = namespace(v=[]) %}{% for i in range(5000) %}{% set ns.v = [ns.v] %}{% endfor"
            + " %}";
    for (String use :
        List.of(
            "{{ ns.v }}", "{{ ns.v | tojson }}", "{{ ns.v | pprint }}", "{{ ns.v == [[ns.v]] }}")) {
      TemplateException error =
          catchThrowableOfType(TemplateException.class, () -> render(nested + use));
      assertThat(error.type()).isEqualTo("RecursionError");
    }
  }

  @Test
  void aNamespaceMayHoldItself() {
    assertThat(render("{% set ns = namespace() %}{% set ns.me = ns %}{{ ns }}"))
        .isEqualTo("<Namespace {'me': <Namespace {...}>}>");
  }

  @Test
  void theSourcesLengthIsBounded() {
    TemplateException error =
        catchThrowableOfType(
            TemplateException.class, () -> ChatTemplate.compile("x".repeat((1 << 16) + 1), SMALL));

    assertThat(error.kind()).isEqualTo(Kind.LIMIT);
    assertThat(error.type()).isEqualTo("LimitExceeded");
  }

  private static String render(String source) {
    return ChatTemplate.compile(source).render(Map.of(), Clock.systemUTC());
  }
}

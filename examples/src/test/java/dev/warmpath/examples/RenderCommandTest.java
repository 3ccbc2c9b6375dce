package dev.warmpath.examples;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The templates of real models, and what users do wrong, through the command line. */
@Tag("long")
class RenderCommandTest {
  private static final String GOLDENS = "/dev/warmpath/prompt/template/model-goldens.json";
  private static final String NOW = "2025-07-10T12:00:00";

  @TempDir Path folder;

  @TestFactory
  List<DynamicTest> rendersAsJinjaDoes() {
    List<DynamicTest> tests = new ArrayList<>();
    for (JsonNode model : Run.resource(GOLDENS)) {
      for (JsonNode golden : model.path("cases")) {
        tests.add(
            DynamicTest.dynamicTest(
                model.path("model").asText() + " " + golden.path("name").asText(),
                () -> check(model.path("template").asText(), golden)));
      }
    }
    assertThat(tests).hasSizeGreaterThan(50);
    return tests;
  }

  private void check(String template, JsonNode golden) throws IOException {
    String context = golden.path("context").toString();
    Run document = render(template, context, "--now", NOW, "--json");
    Run plain = render(template, context, "--now", NOW);
    if (golden.has("expected")) {
      assertThat(document.exitCode()).isZero();
      assertThat(document.json().path("text").asText()).isEqualTo(golden.path("expected").asText());
      assertThat(plain.out()).isEqualTo(golden.path("expected").asText());
    } else {
      assertThat(document.exitCode()).isEqualTo(1);
      assertThat(document.err()).isEmpty();
      JsonNode error = document.json().path("error");
      assertThat(error.path("type").asText()).isEqualTo(golden.path("error").asText());
      assertThat(error.path("message").asText()).isEqualTo(golden.path("message").asText());
      assertThat(plain.exitCode()).isEqualTo(1);
      assertThat(plain.out()).isEmpty();
      assertThat(plain.err().lines()).hasSize(1);
      assertThat(plain.err()).contains(golden.path("error").asText());
    }
  }

  private Run render(String template, String context, String... options) throws IOException {
    Path source = folder.resolve("template.jinja");
    Path variables = folder.resolve("context.json");
    Files.writeString(source, template);
    Files.writeString(variables, context);
    List<String> args =
        new ArrayList<>(
            List.of("render", "--template", source.toString(), "--context", variables.toString()));
    args.addAll(List.of(options));
    return Run.of(args.toArray(String[]::new));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "123456789012345678901234567890 | 123456789012345678901234567890",
        "-0 | 0",
        "-0.0 | -0.0",
        "1.0 | 1.0",
        "1E5 | 100000.0",
        "1e400 | inf",
        "1e16 | 1e+16",
        "0.1 | 0.1",
        "NaN | nan",
        "-Infinity | -inf",
        "true | True",
        "null | None",
        "{\"a\": 1, \"b\": 2, \"a\": 3} | {'a': 3, 'b': 2}",
        "[1, 2.50] | [1, 2.5]"
      })
  void readsTheContextAsPythonDoes(String value, String text) throws IOException {
    Run run = render("{{ x }}", "{\"x\": " + value + "}");
    assertThat(run.exitCode()).as(run.err()).isZero();
    assertThat(run.out()).isEqualTo(text);
  }

  @Test
  void aLoneSurrogateSurvives() throws IOException {
    Run run = render("{{ x }}", "{\"x\": \"a\\ud800b\"}", "--json");
    assertThat(StandardCharsets.UTF_8.newEncoder().canEncode(run.out())).isTrue();
    assertThat(run.json().path("text").asText()).isEqualTo("a\ud800b");
  }

  @ParameterizedTest
  @CsvSource({
    "2025-07-10T12:00:00, 10 Jul 2025 12:00",
    "2025-07-10T12:00:00Z, 10 Jul 2025 12:00",
    "2025-07-10T12:00:00+02:00, 10 Jul 2025 12:00",
    "2024-02-29T23:59, 29 Feb 2024 23:59",
    "2025-07-10, 10 Jul 2025 00:00"
  })
  void theClockStandsAtNow(String now, String shown) throws IOException {
    Run run = render("{{ strftime_now('%d %b %Y %H:%M') }}", "{}", "--now", now);
    assertThat(run.out()).isEqualTo(shown);
  }

  @ParameterizedTest
  @ValueSource(strings = {"today", "2025-13-01", "2025-07-10T25:00:00", "10.7.2025"})
  void aWrongTimeIsOneLineAndTwo(String now) throws IOException {
    Run run = render("x", "{}", "--now", now);
    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err().lines()).hasSize(1);
    assertThat(run.err()).contains(now, "ISO");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{{ 1 | TemplateSyntaxError",
        "{{ x.y.z }} | UndefinedError",
        "{{ 1 + 'a' }} | TypeError",
        "{{ 1 / 0 }} | ZeroDivisionError",
        "{{ raise_exception('no') }} | TemplateError",
        "{{ ().__class__.x }} | SecurityError"
      })
  void errorsAreDocumentsToo(String template, String type) throws IOException {
    Run run = render(template, "{}", "--json");
    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.json().size()).isEqualTo(1);
    assertThat(run.json().path("error").path("type").asText()).isEqualTo(type);
    assertThat(run.json().path("error").path("message").asText()).isNotBlank();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{\"x\": | not valid JSON",
        "{} {} | not valid JSON",
        "[1] | not a JSON object",
        "3 | not a JSON object",
        "null | not a JSON object"
      })
  void aWrongContextIsOneLineAndTwo(String context, String complaint) throws IOException {
    Run run = render("x", context, "--json");
    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.out()).isEmpty();
    assertThat(run.err().lines()).hasSize(1);
    assertThat(run.err()).contains(complaint, "context.json");
  }

  @Test
  void filesThatAreNoTextAreNamed() throws IOException {
    Path binary = folder.resolve("binary");
    Files.write(binary, new byte[] {(byte) 0xFF, (byte) 0xFE});
    Path context = folder.resolve("context.json");
    Files.writeString(context, "{}");
    Run run = Run.of("render", "--template", binary.toString(), "--context", context.toString());
    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err()).contains("binary", "not UTF-8");
    run = Run.of("render", "--template", folder + "/none", "--context", context.toString());
    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err()).contains("template file", "can't be read");
    assertThat(Run.of("render", "--template", "x").exitCode()).isEqualTo(2);
  }
}

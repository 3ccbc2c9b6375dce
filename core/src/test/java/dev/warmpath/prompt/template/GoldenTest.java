package dev.warmpath.prompt.template;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * Templates of real models, of every corner of the language and of a random grammar, against what
 * Jinja2 makes of them. {@code src/test/scripts/goldens.py} keeps the latter two.
 */
class GoldenTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Clock CLOCK =
      Clock.fixed(Instant.parse("2025-07-10T12:00:00Z"), ZoneOffset.UTC);

  @TestFactory
  List<DynamicNode> modelTemplates() {
    List<DynamicNode> tests = new ArrayList<>();
    for (JsonNode model : read("model-goldens.json")) {
      String source = model.get("template").textValue();
      for (JsonNode golden : model.get("cases")) {
        String name = model.get("model").textValue() + " " + golden.get("name").textValue();
        tests.add(
            DynamicTest.dynamicTest(name, () -> check(source, golden.get("context"), golden)));
      }
    }
    return tests;
  }

  @TestFactory
  List<DynamicNode> language() {
    return templates("language-goldens.json");
  }

  @TestFactory
  List<DynamicNode> randomTemplates() {
    return templates("random-goldens.json");
  }

  private static List<DynamicNode> templates(String resource) {
    List<DynamicNode> tests = new ArrayList<>();
    for (JsonNode group : read(resource)) {
      for (JsonNode golden : group.get("cases")) {
        String source = golden.get("template").textValue();
        String name = group.get("group").textValue() + " " + source;
        tests.add(DynamicTest.dynamicTest(name, () -> check(source, group.get("context"), golden)));
      }
    }
    return tests;
  }

  private static void check(String source, JsonNode contextNode, JsonNode golden) {
    @SuppressWarnings("unchecked")
    Map<String, Object> context = JSON.convertValue(contextNode, Map.class);
    if (golden.has("expected")) {
      assertThat(ChatTemplate.compile(source).render(context, CLOCK))
          .isEqualTo(golden.get("expected").textValue());
      return;
    }
    TemplateException error =
        catchThrowableOfType(
            TemplateException.class, () -> ChatTemplate.compile(source).render(context, CLOCK));
    assertThat(error).isNotNull();
    assertThat(error.type()).isEqualTo(golden.get("error").textValue());
    // what Python's own compiler says about the code that Jinja2 generates is not promised
    if (!error.type().equals("SyntaxError")) {
      assertThat(error.reason()).isEqualTo(golden.get("message").textValue());
      assertThat(error.line()).isPositive();
    }
    if (golden.has("line")) {
      assertThat(error.line()).isEqualTo(golden.get("line").intValue());
    }
  }

  private static JsonNode read(String resource) {
    try (InputStream in = Objects.requireNonNull(GoldenTest.class.getResourceAsStream(resource))) {
      return JSON.readTree(in);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}

package dev.warmpath.prompt.template;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * Templates of real models, and of every corner of the language, against what Jinja2 made of them.
 */
class GoldenTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Clock CLOCK =
      Clock.fixed(Instant.parse("2025-07-10T12:00:00Z"), ZoneOffset.UTC);

  @TestFactory
  Stream<DynamicTest> modelTemplates() {
    List<DynamicTest> tests = new ArrayList<>();
    for (JsonNode model : read("model-goldens.json")) {
      ChatTemplate template = ChatTemplate.compile(model.get("template").textValue());
      for (JsonNode golden : model.get("cases")) {
        String name = model.get("model").textValue() + " " + golden.get("name").textValue();
        tests.add(DynamicTest.dynamicTest(name, () -> check(template, golden)));
      }
    }
    return tests.stream();
  }

  private static void check(ChatTemplate template, JsonNode golden) {
    @SuppressWarnings("unchecked")
    Map<String, Object> context = JSON.convertValue(golden.get("context"), Map.class);
    if (golden.has("expected")) {
      assertThat(template.render(context, CLOCK)).isEqualTo(golden.get("expected").textValue());
      return;
    }
    assertThatThrownBy(() -> template.render(context, CLOCK))
        .isInstanceOfSatisfying(
            TemplateException.class,
            e -> {
              assertThat(e.type()).isEqualTo(golden.get("error").textValue());
              assertThat(e.reason()).isEqualTo(golden.get("message").textValue());
              assertThat(e.line()).isPositive();
            });
  }

  private static JsonNode read(String resource) {
    try (InputStream in = Objects.requireNonNull(GoldenTest.class.getResourceAsStream(resource))) {
      return JSON.readTree(in);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}

package dev.warmpath.examples;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The dashboard shows metrics that there are. */
class DashboardTest {
  private static final Pattern NAME = Pattern.compile("warmpath_[a-z0-9_]+");

  private static Set<String> names(String text) {
    Set<String> names = new TreeSet<>();
    Matcher found = NAME.matcher(text);
    while (found.find()) {
      names.add(found.group());
    }
    return names;
  }

  @Test
  void everyExpressionAsksForMetricsThatAreExported() throws IOException {
    Set<String> exported = names(Files.readString(Path.of("..", "core", "METRICS.md")));
    JsonNode dashboard =
        new ObjectMapper().readTree(Path.of("src/main/grafana/warmpath.json").toFile());
    Set<String> shown = new TreeSet<>();
    for (JsonNode expression : dashboard.findValues("expr")) {
      for (String name : names(expression.asText())) {
        shown.add(name.endsWith("_bucket") ? name.substring(0, name.length() - 7) : name);
      }
    }
    assertThat(shown).hasSizeGreaterThan(20);
    assertThat(exported).containsAll(shown);
  }

  @Test
  void panelsDoNotOverlap() throws IOException {
    JsonNode dashboard =
        new ObjectMapper().readTree(Path.of("src/main/grafana/warmpath.json").toFile());
    Set<String> cells = new TreeSet<>();
    for (JsonNode panel : dashboard.get("panels")) {
      JsonNode at = panel.get("gridPos");
      for (int x = 0; x < at.get("w").asInt(); x++) {
        for (int y = 0; y < at.get("h").asInt(); y++) {
          String cell = (at.get("x").asInt() + x) + "," + (at.get("y").asInt() + y);
          assertThat(cells.add(cell)).as(panel.get("title").asText() + " at " + cell).isTrue();
        }
      }
      assertThat(at.get("x").asInt() + at.get("w").asInt()).isLessThanOrEqualTo(24);
    }
  }
}

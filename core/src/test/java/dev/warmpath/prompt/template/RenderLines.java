package dev.warmpath.prompt.template;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Renders what it reads: on each line of standard input a JSON object with a template and its
 * context, on each line of standard output what became of it. {@code fuzz.py} runs it.
 */
final class RenderLines {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Clock CLOCK =
      Clock.fixed(Instant.parse("2025-07-10T12:00:00Z"), ZoneOffset.UTC);

  private RenderLines() {}

  public static void main(String[] args) throws IOException {
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      out.println(JSON.writeValueAsString(render(JSON.readValue(line, Map.class))));
    }
  }

  private static Map<String, Object> render(Map<?, ?> request) {
    @SuppressWarnings("unchecked")
    Map<String, Object> context = (Map<String, Object>) request.get("context");
    Map<String, Object> outcome = new LinkedHashMap<>();
    try {
      ChatTemplate template = ChatTemplate.compile((String) request.get("template"));
      outcome.put("expected", template.render(context, CLOCK));
    } catch (TemplateException e) {
      outcome.put("error", e.type());
      outcome.put("message", e.reason());
      outcome.put("line", e.line());
    } catch (RuntimeException e) {
      outcome.put("error", "defect");
      outcome.put("message", e.toString());
      e.printStackTrace();
    }
    return outcome;
  }
}

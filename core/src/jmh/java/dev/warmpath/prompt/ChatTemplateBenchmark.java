package dev.warmpath.prompt;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.prompt.template.ChatTemplate;
import dev.warmpath.prompt.template.TemplateException;
import java.io.IOException;
import java.io.InputStream;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** Real models' templates over a chat of 100 messages, a kilobyte each. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
@State(Scope.Benchmark)
public class ChatTemplateBenchmark {
  @Param({
    "Qwen/Qwen2.5-7B-Instruct",
    "Qwen/Qwen3.5-4B",
    "meta-llama/Llama-3.1-8B-Instruct",
    "deepseek-ai/DeepSeek-R1",
    "zai-org/GLM-5.1"
  })
  String model;

  private final Clock clock = Clock.systemUTC();
  private String source;
  private ChatTemplate template;
  private Map<String, Object> context;

  @Setup
  public void setUp() throws IOException {
    try (InputStream in =
        Objects.requireNonNull(ChatTemplate.class.getResourceAsStream("model-goldens.json"))) {
      for (JsonNode each : new ObjectMapper().readTree(in)) {
        if (each.get("model").textValue().equals(model)) {
          source = each.get("template").textValue();
        }
      }
    }
    template = ChatTemplate.compile(source);
    List<Map<String, Object>> messages = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      String words = "the quick brown fox jumps over the lazy dog, message " + i + ". ";
      messages.add(Map.of("role", i % 2 == 0 ? "user" : "assistant", "content", words.repeat(18)));
    }
    context =
        Map.of(
            "messages",
            messages,
            "add_generation_prompt",
            true,
            "bos_token",
            "<s>",
            "eos_token",
            "</s>");
    if (template.render(context, clock).length() < 90_000) {
      throw new IllegalStateException("the text is shorter than the messages");
    }
  }

  @Benchmark
  public String render() throws TemplateException {
    return template.render(context, clock);
  }

  @Benchmark
  public ChatTemplate compile() {
    return ChatTemplate.compile(source);
  }
}

package dev.warmpath.fake;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.warmpath.fake.scheduler.LatencyModel;
import dev.warmpath.worker.EngineKind;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * OpenAI's own Python client, unmodified: {@code WARMPATH_OPENAI_PYTHON} names an interpreter that
 * has the package {@code openai}.
 */
class OpenAiClientIT {
  @ParameterizedTest
  @EnumSource(
      value = EngineKind.class,
      names = {"SGLANG", "VLLM", "ATOM"})
  void isServed(EngineKind kind) throws Exception {
    String python = System.getenv("WARMPATH_OPENAI_PYTHON");
    assumeTrue(python != null, "skipped: WARMPATH_OPENAI_PYTHON names no Python with openai");
    try (FakeEngine engine =
        FakeEngine.builder()
            .kind(kind)
            .model("fake-model")
            .timing(LatencyModel.instant())
            .start()) {
      Process client =
          new ProcessBuilder(
                  python,
                  "-B",
                  Path.of("src/test/scripts/openai_client.py").toString(),
                  engine.url(),
                  engine.model())
              .redirectErrorStream(true)
              .start();
      try {
        String said =
            new String(client.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        assertThat(client.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(said).isEqualTo("ok");
        assertThat(client.exitValue()).isZero();
      } finally {
        client.destroyForcibly();
      }
    }
  }
}

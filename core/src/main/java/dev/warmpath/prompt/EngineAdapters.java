package dev.warmpath.prompt;

import com.fasterxml.jackson.core.io.JsonStringEncoder;
import dev.warmpath.worker.Worker;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** The engine adapters. */
public final class EngineAdapters {
  private static final String FAKE = "fake-sglang";

  private static final EngineAdapter SGLANG = new SglangAdapter("sglang", "sglang-event");
  private static final EngineAdapter FAKE_SGLANG = new SglangAdapter(FAKE, FAKE);
  private static final EngineAdapter VLLM = new VllmAdapter();
  private static final EngineAdapter ATOM = new AtomAdapter();
  private static final EngineAdapter PLAIN = new PlainAdapter();

  private EngineAdapters() {}

  /**
   * The adapter of a worker's engine. A fake SGLang says that it is SGLang, so that it is told by
   * its configured hash scheme.
   */
  public static EngineAdapter of(Worker worker) {
    return switch (worker.engine()) {
      case SGLANG -> FAKE.equals(worker.spec().hashing().scheme()) ? FAKE_SGLANG : SGLANG;
      case VLLM -> VLLM;
      case ATOM -> ATOM;
      case UNKNOWN -> PLAIN;
    };
  }

  /** All adapters. */
  public static List<EngineAdapter> all() {
    return List.of(SGLANG, FAKE_SGLANG, VLLM, ATOM, PLAIN);
  }

  /** The body of SGLang's {@code /abort_request} for one request. */
  public static byte[] abortBody(String rid) {
    return ("{\"rid\":\"" + new String(JsonStringEncoder.getInstance().quoteAsString(rid)) + "\"}")
        .getBytes(StandardCharsets.UTF_8);
  }
}

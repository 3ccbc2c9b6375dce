package dev.warmpath;

import dev.warmpath.ScriptedTransport.Script;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.api.RouterResponse;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
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
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What a request costs that a prefill and a decode worker share, all but the workers' time: they
 * answer at once and without sockets. Four workers of each role.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 3, time = 2)
public class PrefillDecodeBenchmark {
  private static final String ANSWER =
      "{\"choices\":[{\"message\":{\"content\":\"hi\"}}],"
          + "\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":1},"
          + "\"kv_transfer_params\":{\"remote_request_id\":\"r\"}}";

  /** The engine, and with it the shape: concurrent or in turn. */
  @Param({"sglang", "vllm"})
  public String engine = "";

  /** Bytes of the prompt. */
  @Param({"100", "100000"})
  public int bytes;

  private @Nullable RouterClient router;
  private @Nullable ScriptedTransport transport;
  private @Nullable RouterRequest request;

  /** Starts the client. */
  @Setup
  public void start() {
    transport = new ScriptedTransport(sent -> Script.ok(ANSWER));
    RouterClient.Builder builder = RouterClient.builder().transport(transport).seed(1);
    for (int i = 0; i < 4; i++) {
      builder.worker("http://p" + i + ":1;role=prefill;model=m;engine=" + engine);
      builder.worker("http://d" + i + ":1;role=decode;model=m;engine=" + engine);
    }
    router = builder.build();
    request =
        RouterRequest.chatCompletions(
            "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\""
                + "word ".repeat(bytes / 5)
                + "\"}]}");
  }

  /** Stops it. */
  @TearDown
  public void stop() {
    Objects.requireNonNull(router).close();
  }

  /** One request, from body to answer. */
  @Benchmark
  public RouterResponse send() {
    Objects.requireNonNull(transport).sent.clear();
    return Objects.requireNonNull(router).send(Objects.requireNonNull(request));
  }
}

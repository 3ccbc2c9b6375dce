package dev.warmpath.pd;

import dev.warmpath.api.RouterRequest;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** What a pair's request costs by the length of its body: finding its fields once, a copy a leg. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 3, time = 2)
public class PairBodyBenchmark {
  private final byte[] body =
      RouterRequest.chatCompletions(
              "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\""
                  + "word ".repeat(20_000)
                  + "\"}]}")
          .body();
  private final JsonFields found = Objects.requireNonNull(JsonFields.find(body));

  /** Finds the fields of 100 KB. */
  @Benchmark
  public int find() {
    return Objects.requireNonNull(JsonFields.find(body)).valueStart("messages");
  }

  /** Makes a leg's body of them. */
  @Benchmark
  public byte[] edit() {
    JsonFields.Added added = new JsonFields.Added().text("rid", "r").number("bootstrap_room", 7);
    return found.edit(Set.of("rid", "bootstrap_room"), added);
  }
}

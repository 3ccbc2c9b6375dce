package dev.warmpath.policy;

import dev.warmpath.api.RouteOptions;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.health.FleetView;
import dev.warmpath.index.BlockAnswer;
import dev.warmpath.index.BlockLocations;
import dev.warmpath.index.BlockLocator;
import dev.warmpath.index.BlockLookup;
import dev.warmpath.index.BlockQuery;
import dev.warmpath.index.BlockTiers;
import dev.warmpath.index.LookupSettings;
import dev.warmpath.index.Tier;
import dev.warmpath.prompt.ModelFiles;
import dev.warmpath.prompt.Prompt;
import dev.warmpath.prompt.PromptReader;
import dev.warmpath.prompt.tokenizer.Tokenizers;
import dev.warmpath.worker.EngineKind;
import dev.warmpath.worker.WorkerRole;
import dev.warmpath.worker.WorkerSpec;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
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
 * What asking a store adds to a decision besides waiting for it: the engine's hashes of a
 * conversation that grew by a message, every block's key, and making ranks of an answer in which
 * four SGLang workers hold parts. The store answers at once; the prompt is read before.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 3, time = 1)
public class UmbpDecisionBenchmark {
  private static final int MESSAGE_WORDS = 100;
  private static final int HOLDERS = 4;
  private static final String[] WORDS = {"time ", "year ", "work ", "hand ", "part ", "case "};

  /** Blocks of 16 tokens. */
  @Param({"80", "2048"})
  public int blocks;

  /** How many candidates. */
  @Param({"16", "64"})
  public int workers;

  private final SplittableRandom random = new SplittableRandom(42);
  private final PromptReader.Serving serving =
      model -> new PromptReader.Served(Set.of(EngineKind.SGLANG), null);
  private final RoutingPolicy policy = Policies.umbp();
  private final PromptReader reader = reader();
  private final StringBuilder earlier = new StringBuilder("{\"model\":\"m\",\"messages\":[");
  private @Nullable TestFleet fleet;
  private @Nullable BlockLookup lookup;
  private @Nullable Prompt prompt;
  private long seed;

  private static PromptReader reader() {
    try {
      Path files =
          Path.of(
              Objects.requireNonNull(Tokenizers.class.getResource("chatml/tokenizer.json"))
                  .toURI());
      String template =
          "{% for m in messages %}<|im_start|>{{ m.role }} {{ m.content }}<|im_end|>{% endfor %}";
      return PromptReader.builder()
          .model("m", ModelFiles.of(Tokenizers.load(files), template, Map.of()))
          .build();
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Makes the fleet, the store, and a conversation of that many blocks. */
  @Setup
  public void open() {
    TestFleet made = new TestFleet(workers);
    made.registry.replace(
        "test",
        IntStream.range(0, workers)
            .mapToObj(i -> WorkerSpec.parse(TestFleet.name(i) + ";engine=sglang;block=16"))
            .toList());
    for (int i = 0; i < workers; i++) {
      made.load(i, random.nextInt(20), random.nextInt(5));
      made.holds(i, random.nextInt(1_000));
    }
    fleet = made;
    lookup = new BlockLookup(new Store(blocks), LookupSettings.DEFAULT);
    do {
      earlier.append(message()).append(',');
      grow();
    } while (Objects.requireNonNull(prompt.blocks()).size() < blocks);
    BlockLocations located = locate();
    if (!located.found()) {
      throw new IllegalStateException(located.steps().toString());
    }
  }

  private String message() {
    StringBuilder message = new StringBuilder("{\"role\":\"user\",\"content\":\"");
    for (int i = 0; i < MESSAGE_WORDS; i++) {
      message.append(WORDS[random.nextInt(WORDS.length)]);
    }
    return message.append("\"}").toString();
  }

  /** Reads the conversation with another last message. */
  @Setup(Level.Invocation)
  public void grow() {
    prompt = reader.read(RouterRequest.chatCompletions(earlier + message() + "]}"), serving);
  }

  /** Ends the fleet. */
  @TearDown
  public void close() {
    lookup.close();
    fleet.close();
  }

  /** A decision by the client's own index. */
  @Benchmark
  public @Nullable Candidate alone() {
    return decide(BlockLocations.NONE);
  }

  /** The look-up and the decision by it. */
  @Benchmark
  public @Nullable Candidate located() {
    return decide(locate());
  }

  private BlockLocations locate() {
    return lookup.begin(fleet.view().topology(), prompt, true, null).take(0);
  }

  private @Nullable Candidate decide(BlockLocations located) {
    FleetView view = fleet.view();
    RouteContext context =
        new RouteContext(
            view,
            view.topology().candidates("m", WorkerRole.REGULAR),
            prompt,
            RouteOptions.NONE,
            fleet.environment(),
            fleet.now,
            seed++,
            false,
            located);
    return policy.plan(context).next();
  }

  /** Reads every key, as who sends them has to, and says what it always says. */
  private static final class Store implements BlockLocator {
    private final List<BlockAnswer.Node> nodes = new ArrayList<>();
    private int read;

    Store(int blocks) {
      for (int i = 0; i < HOLDERS; i++) {
        BlockTiers held = new BlockTiers(blocks);
        for (int block = 0; block < blocks / (i + 1); block++) {
          held.add(block, block % 3 == 0 ? Tier.DRAM : Tier.HBM);
        }
        nodes.add(new BlockAnswer.Node(TestFleet.name(i), "", held));
      }
    }

    @Override
    public String name() {
      return "store";
    }

    @Override
    public CompletableFuture<BlockAnswer> locate(BlockQuery query) {
      for (int block = 0; block < query.blocks(); block++) {
        read += query.key(block).length();
      }
      return CompletableFuture.completedFuture(
          new BlockAnswer(nodes, read > 0 ? query.blocks() : 0, null));
    }

    @Override
    public void close() {}
  }
}

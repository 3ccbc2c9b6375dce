package dev.warmpath.index;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import org.jetbrains.kotlinx.lincheck.Actor;
import org.jetbrains.kotlinx.lincheck.execution.ExecutionScenario;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.junit.jupiter.api.Test;

/** Readers beside the one writer see each update as a whole, in the order of the updates. */
@Param(name = "prompt", gen = IntGen.class, conf = "0:5")
@Param(name = "holder", gen = IntGen.class, conf = "0:2")
public class RadixCoreLincheckTest {
  private static final PrefixNamespace NAMESPACE = PrefixNamespace.of("m");
  private static final String WRITER = "writer";
  private static final List<byte[]> PROMPTS =
      List.of(bytes("a"), bytes("abc"), bytes("abcdef"), bytes("abx"), bytes("abcdyz"), bytes("b"));

  private final RadixCore core = new RadixCore(64 << 10, Duration.ofDays(1).toNanos());

  /** Moves with each update, so that there is an order to evict in. */
  private int tick;

  private ByteSpeculation speculation;

  @Operation(nonParallelGroup = WRITER)
  public void insert(@Param(name = "prompt") int prompt, @Param(name = "holder") int holder) {
    byte[] bytes = PROMPTS.get(prompt);
    core.insert(NAMESPACE, bytes, 0, bytes.length, HolderIds.of(1, holder), ++tick);
  }

  @Operation(nonParallelGroup = WRITER)
  public void dispatch(@Param(name = "prompt") int prompt, @Param(name = "holder") int holder) {
    byte[] bytes = PROMPTS.get(prompt);
    speculation =
        new ByteSpeculation(null, NAMESPACE, bytes, 0, bytes.length, HolderIds.of(1, holder), 0);
    core.dispatch(speculation, ++tick);
  }

  @Operation(nonParallelGroup = WRITER)
  public void confirm() {
    if (speculation != null) {
      core.confirm(speculation, ++tick);
      speculation = null;
    }
  }

  @Operation(nonParallelGroup = WRITER)
  public void withdraw() {
    if (speculation != null) {
      core.withdraw(speculation, ++tick);
      speculation = null;
    }
  }

  @Operation(nonParallelGroup = WRITER)
  public void evict() {
    core.evictTo(core.stats(0).bytes() - 1, ++tick);
  }

  @Operation(nonParallelGroup = WRITER)
  public void clear(@Param(name = "holder") int holder) {
    core.clear(HolderIds.of(1, holder), ++tick);
  }

  @Operation(nonParallelGroup = WRITER)
  public void drop(@Param(name = "holder") int holder) {
    core.drop(HolderIds.of(1, holder), ++tick);
  }

  @Operation
  public String match(@Param(name = "prompt") int prompt) {
    byte[] bytes = PROMPTS.get(prompt);
    PrefixMatches matches = new PrefixMatches();
    core.match(NAMESPACE, bytes, 0, bytes.length, 0, matches);
    TreeMap<Integer, Integer> lengths = new TreeMap<>();
    for (int i = 0; i < matches.size(); i++) {
      lengths.put(matches.slotAt(i), matches.matched(matches.holderAt(i)));
    }
    return lengths.toString();
  }

  @Test
  void isLinearizableUnderStress() {
    new StressOptions()
        .iterations(12)
        .invocationsPerIteration(500)
        .threads(3)
        .actorsPerThread(4)
        .actorsBefore(3)
        .actorsAfter(0)
        .check(RadixCoreLincheckTest.class);
  }

  /** Histories in which a reader that took parts of two states for one would give itself away. */
  @Test
  void isLinearizableInEveryInterleavingTried() {
    new ModelCheckingOptions()
        .iterations(0)
        .invocationsPerIteration(200)
        .addCustomScenario(
            scenario(
                List.of(op("insert", 0, 0), op("insert", 2, 1)),
                List.of(op("clear", 1), op("insert", 2, 0))))
        .addCustomScenario(
            scenario(
                List.of(op("insert", 2, 0), op("insert", 3, 0), op("clear", 0)),
                List.of(op("insert", 2, 0), op("evict"))))
        .addCustomScenario(
            scenario(
                List.of(op("insert", 2, 0), op("insert", 1, 1)),
                List.of(op("insert", 3, 1), op("insert", 2, 1))))
        .addCustomScenario(
            scenario(
                List.of(op("insert", 1, 0), op("insert", 2, 1), op("dispatch", 2, 0)),
                List.of(op("withdraw"), op("drop", 1), op("insert", 4, 2))))
        .check(RadixCoreLincheckTest.class);
  }

  /** A reader beside a writer. */
  private static ExecutionScenario scenario(List<Actor> before, List<Actor> writer) {
    List<Actor> reader = List.of(op("match", 2));
    return new ExecutionScenario(before, List.of(reader, writer), List.of(), null);
  }

  private static Actor op(String name, Integer... arguments) {
    Class<?>[] types = new Class<?>[arguments.length];
    Arrays.fill(types, int.class);
    try {
      return new Actor(RadixCoreLincheckTest.class.getMethod(name, types), List.of(arguments));
    } catch (NoSuchMethodException e) {
      throw new AssertionError(e);
    }
  }

  private static byte[] bytes(String prompt) {
    return prompt.getBytes(ISO_8859_1);
  }
}

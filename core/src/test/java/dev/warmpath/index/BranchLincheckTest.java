package dev.warmpath.index;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.warmpath.prompt.ContentKeys;
import dev.warmpath.prompt.TestPrompts;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.jetbrains.kotlinx.lincheck.Actor;
import org.jetbrains.kotlinx.lincheck.execution.ExecutionScenario;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.junit.jupiter.api.Test;

/**
 * Readers beside the one writer of a branching trie: how far a prompt is known, and whether it fans
 * out there, is linearizable. Counts are not meant to be; {@link #sound} is what holds of them.
 */
@Param(name = "prompt", gen = IntGen.class, conf = "0:6")
public class BranchLincheckTest {
  private static final String WRITER = "writer";
  private static final List<String> PROMPTS =
      List.of("a", "abc", "abcdef", "abx", "aby", "abcdyz", "ab");
  private static final List<ContentKeys> KEYS =
      PROMPTS.stream().map(BranchLincheckTest::keys).toList();

  private final BranchTable table = new BranchTable(16);
  private final BranchWriter writer = new BranchWriter(table, 64 << 10);
  private final BranchReader reader = new BranchReader(table, writer);

  /** How often each prompt's visit has begun. */
  private final AtomicIntegerArray visits = new AtomicIntegerArray(PROMPTS.size());

  /** Returns how far the prompt was known. */
  @Operation(nonParallelGroup = WRITER)
  public int visit(@Param(name = "prompt") int prompt) {
    visits.incrementAndGet(prompt);
    return writer.visit(KEYS.get(prompt), 0);
  }

  @Operation(nonParallelGroup = WRITER)
  public void evict() {
    writer.evictOldest();
  }

  @Operation
  public String walk(@Param(name = "prompt") int prompt) {
    BranchPath path = path(prompt);
    int last = path.size() - 1;
    return path.known() + (last >= 0 && path.fans(last) ? " fans" : "");
  }

  /**
   * Whether ends ascend, no stretch counts a prompt that leaves it in its middle, and none counts
   * more than there were.
   */
  @Operation
  public boolean sound(@Param(name = "prompt") int prompt) {
    BranchPath path = path(prompt);
    for (int i = 0; i < path.size(); i++) {
      int from = i == 0 ? 0 : path.end(i - 1);
      if (path.end(i) <= from
          || path.count(i) > path.total()
          || path.count(i) > 1 + along(PROMPTS.get(prompt).substring(0, path.end(i)))) {
        return false;
      }
    }
    return true;
  }

  private BranchPath path(int prompt) {
    BranchPath path = new BranchPath();
    reader.walk(KEYS.get(prompt), 0, path);
    return path;
  }

  /** Visits by now of prompts that go on from a prefix, or end on the way there. */
  private int along(String prefix) {
    int sum = 0;
    for (int i = 0; i < PROMPTS.size(); i++) {
      String other = PROMPTS.get(i);
      if (other.startsWith(prefix) || prefix.startsWith(other)) {
        sum += visits.get(i);
      }
    }
    return sum;
  }

  @Test
  void isLinearizableUnderStress() {
    new StressOptions()
        .iterations(5)
        .invocationsPerIteration(400)
        .threads(3)
        .actorsPerThread(4)
        .actorsBefore(3)
        .actorsAfter(0)
        .check(BranchLincheckTest.class);
  }

  /** Histories in which a reader that took parts of two states for one would give itself away. */
  @Test
  void isLinearizableInEveryInterleavingTried() {
    new ModelCheckingOptions()
        .iterations(0)
        .invocationsPerIteration(80)
        .addCustomScenario(
            scenario(
                List.of(op("visit", 1), op("visit", 3)),
                List.of(op("walk", 6), op("walk", 4)),
                List.of(op("visit", 4))))
        .addCustomScenario(
            scenario(
                List.of(op("visit", 1), op("visit", 3)),
                List.of(op("walk", 4), op("walk", 6)),
                List.of(op("visit", 4))))
        .addCustomScenario(
            scenario(
                List.of(op("visit", 2)),
                List.of(op("sound", 2), op("walk", 2)),
                List.of(op("visit", 3), op("visit", 4))))
        .addCustomScenario(
            scenario(
                List.of(op("visit", 2), op("visit", 3)),
                List.of(op("walk", 2), op("walk", 5)),
                List.of(op("evict"), op("evict"), op("visit", 5))))
        .check(BranchLincheckTest.class);
  }

  private static ExecutionScenario scenario(
      List<Actor> before, List<Actor> reader, List<Actor> writer) {
    return new ExecutionScenario(before, List.of(reader, writer), List.of(), null);
  }

  private static Actor op(String name, Integer... arguments) {
    Class<?>[] types = new Class<?>[arguments.length];
    Arrays.fill(types, int.class);
    try {
      return new Actor(BranchLincheckTest.class.getMethod(name, types), List.of(arguments));
    } catch (NoSuchMethodException e) {
      throw new AssertionError(e);
    }
  }

  /** A letter stands for the 64 bytes of a key. */
  private static ContentKeys keys(String text) {
    StringBuilder bytes = new StringBuilder();
    text.chars().forEach(c -> bytes.append(String.valueOf((char) c).repeat(64)));
    return TestPrompts.inNamespace("m", bytes.toString().getBytes(ISO_8859_1)).contentKeys();
  }
}

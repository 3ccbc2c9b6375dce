package dev.warmpath.index;

import dev.warmpath.hash.BlockHashes;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import org.jetbrains.kotlinx.lincheck.Actor;
import org.jetbrains.kotlinx.lincheck.execution.ExecutionScenario;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.junit.jupiter.api.Test;

/** Readers beside the one writer see each update as a whole, in the order of the updates. */
@Param(name = "chain", gen = IntGen.class, conf = "0:5")
@Param(name = "holder", gen = IntGen.class, conf = "0:2")
public class BlockCoreLincheckTest {
  private static final String WRITER = "writer";
  private static final List<BlockHashes> CHAINS =
      List.of(
          Chains.of("a"),
          Chains.of("abc"),
          Chains.of("abcdef"),
          Chains.of("abx"),
          Chains.of("abcdyz"),
          Chains.of("b"));

  /** Readers never give way here, so that every answer must be of one state. */
  private final BlockCore core = new BlockCore(64 << 10, Integer.MAX_VALUE);

  private int tick;
  private BlockSpeculation speculation;

  @Operation(nonParallelGroup = WRITER)
  public void stored(@Param(name = "chain") int chain, @Param(name = "holder") int holder) {
    BlockHashes hashes = CHAINS.get(chain);
    core.stored(hashes, 0, hashes.size(), HolderIds.of(1, holder), Tier.HBM, ++tick);
  }

  @Operation(nonParallelGroup = WRITER)
  public void removed(@Param(name = "chain") int chain, @Param(name = "holder") int holder) {
    BlockHashes hashes = CHAINS.get(chain);
    long[] middle = {hashes.bits(hashes.size() / 2)};
    long namespace = BlockKeys.namespace(hashes.namespace());
    core.removed(namespace, middle, HolderIds.of(1, holder), Tier.HBM, ++tick);
  }

  @Operation(nonParallelGroup = WRITER)
  public void dispatch(@Param(name = "chain") int chain, @Param(name = "holder") int holder) {
    speculation = new BlockSpeculation(null, CHAINS.get(chain), HolderIds.of(1, holder));
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
  public void authority(@Param(name = "holder") int holder) {
    long namespace = BlockKeys.namespace(Chains.MODEL.namespace());
    core.authority(HolderIds.of(1, holder), namespace, ++tick);
  }

  @Operation(nonParallelGroup = WRITER)
  public void storedAfter(@Param(name = "chain") int chain, @Param(name = "holder") int holder) {
    BlockHashes hashes = CHAINS.get(chain);
    long[] bits = Chains.bits(hashes);
    long namespace = BlockKeys.namespace(hashes.namespace());
    long[] rest = Arrays.copyOfRange(bits, 1, bits.length);
    core.storedAfter(namespace, bits[0], rest, HolderIds.of(1, holder), Tier.HBM, ++tick);
  }

  @Operation(nonParallelGroup = WRITER)
  public void evict() {
    core.evict(2, ++tick);
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
  public String match(@Param(name = "chain") int chain) {
    BlockMatches matches = new BlockMatches();
    core.match(CHAINS.get(chain), matches);
    TreeMap<Integer, Integer> runs = new TreeMap<>();
    for (int i = 0; i < matches.size(); i++) {
      long holder = matches.holderAt(i);
      runs.put(HolderIds.slot(holder), matches.blocks(holder));
    }
    return runs.toString();
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
        .check(BlockCoreLincheckTest.class);
  }

  /** Histories in which a reader that took parts of two states for one would give itself away. */
  private static final List<ExecutionScenario> TELLING =
      List.of(
          scenario(
              List.of(op("stored", 0, 0), op("stored", 2, 1)),
              List.of(op("clear", 1), op("stored", 2, 0))),
          scenario(
              List.of(op("stored", 2, 0), op("stored", 2, 1)),
              List.of(op("removed", 2, 0), op("evict"))),
          scenario(
              List.of(op("stored", 2, 0), op("stored", 1, 1)),
              List.of(op("stored", 3, 1), op("stored", 2, 1))),
          scenario(
              List.of(op("stored", 1, 0), op("stored", 2, 1), op("dispatch", 2, 0)),
              List.of(op("withdraw"), op("drop", 1), op("stored", 4, 2))));

  @Test
  void isLinearizableInTellingHistories() {
    StressOptions options = new StressOptions().iterations(0).invocationsPerIteration(3_000);
    TELLING.forEach(options::addCustomScenario);
    options.check(BlockCoreLincheckTest.class);
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
      return new Actor(BlockCoreLincheckTest.class.getMethod(name, types), List.of(arguments));
    } catch (NoSuchMethodException e) {
      throw new AssertionError(e);
    }
  }
}

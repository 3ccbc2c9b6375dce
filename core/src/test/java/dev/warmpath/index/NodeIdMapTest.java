package dev.warmpath.index;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.index.NodeIdResolver.Target;
import dev.warmpath.worker.Topology;
import dev.warmpath.worker.WorkerId;
import dev.warmpath.worker.WorkerRegistry;
import dev.warmpath.worker.WorkerSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.CharRange;
import net.jqwik.api.constraints.StringLength;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NodeIdMapTest {
  private static final Topology FLEET =
      topology(
          "http://10.0.0.1:30000",
          "http://10.0.0.2:30000",
          "http://10.0.0.2:30001",
          "grpc://gpu_3.prod:50051",
          "http://[fd00::7]:30000/engine");

  private final NodeIdResolver resolver =
      NodeIdMap.builder()
          .node("blue", "http://10.0.0.2:30001/")
          .node("10.0.0.1:dp0:pp0:tp0", "http://10.0.0.2:30000", 5)
          .build();

  private static Topology topology(String... workers) {
    WorkerRegistry registry = new WorkerRegistry();
    List<WorkerSpec> specs = new ArrayList<>();
    for (String worker : workers) {
      specs.add(WorkerSpec.parse(worker));
    }
    registry.replace("test", specs);
    return registry.current();
  }

  @ParameterizedTest
  @CsvSource({
    // an entry wins over all else
    "blue, '', http://10.0.0.2:30001,",
    "10.0.0.1:dp0:pp0:tp0, '', http://10.0.0.2:30000, 5",
    // a worker's own address, in any spelling
    "HTTP://10.0.0.1:30000/, '', http://10.0.0.1:30000,",
    "http://10.0.0.2:30001, 10.0.0.1:16001, http://10.0.0.2:30001,",
    "http://10.0.0.2:30000#7, '', http://10.0.0.2:30000, 7",
    // SGLang's default
    "10.0.0.1:dp3:pp0:tp1, '', http://10.0.0.1:30000, 3",
    "GPU_3.prod:dp0:pp0:tp0, '', grpc://gpu_3.prod:50051, 0",
    "fd00::7:dp1:pp0:tp0, '', http://[fd00::7]:30000/engine, 1",
    "[fd00::7]:dp1:pp0:tp0, '', http://[fd00::7]:30000/engine, 1",
    // the peer address
    "engine-4711, 10.0.0.1:16001, http://10.0.0.1:30000,",
    "10.0.0.9:dp3:pp0:tp1, 10.0.0.1:16001, http://10.0.0.1:30000,",
    "x, [fd00::7]:16001, http://[fd00::7]:30000/engine,",
  })
  void resolvesByTheFirstRuleThatFits(String node, String peer, String worker, Integer rank) {
    assertThat(resolver.resolve(node, peer, FLEET))
        .isEqualTo(
            new Target(
                WorkerId.parse(worker), rank == null ? OptionalInt.empty() : OptionalInt.of(rank)));
  }

  @ParameterizedTest
  @CsvSource({
    // two servers on the host
    "10.0.0.2:dp0:pp0:tp0, ''",
    "engine, 10.0.0.2:16001",
    // nobody
    "green, ''",
    "http://10.0.0.3:1, ''",
    "http://10.0.0.1:30000#x, ''",
    "http://, ''",
    "10.0.0.1, ''",
    "10.0.0.1:dp:pp0:tp0, ''",
    "'', ''",
    "'', ':1'",
    "x, 10.0.0.1",
  })
  void ignoresWhatIsNobodyOrCantBeTold(String node, String peer) {
    assertThat(resolver.resolve(node, peer, FLEET)).isNull();
  }

  @Property(tries = 500)
  void neverFailsAndNamesOnlyWorkersThereAre(
      @ForAll @StringLength(max = 30) @CharRange(from = ' ', to = '~') String node,
      @ForAll @StringLength(max = 12) String peer) {
    Target target = NodeIdResolver.standard().resolve(node, peer, FLEET);
    if (target != null) {
      assertThat(FLEET.worker(target.worker())).isNotNull();
    }
  }

  @Property(tries = 100)
  void everyWorkersOwnNameIsItself(@ForAll @CharRange(from = '0', to = '9') char digit) {
    Topology fleet = topology("http://h" + digit + ":1", "grpc://h" + digit + ":2");
    fleet
        .workers()
        .forEach(
            worker ->
                assertThat(NodeIdResolver.standard().resolve(worker.id().value(), "", fleet))
                    .isEqualTo(Target.of(worker.id())));
  }
}

package dev.warmpath.knowledge;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.warmpath.transport.KnowledgeTransport.Piece;
import dev.warmpath.worker.VirtualScheduler;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class KnowledgeRegistryTest {
  private static final URI A = URI.create("http://127.0.0.1:9101");
  private static final URI B = URI.create("http://127.0.0.1:9102");
  private static final Piece LONG = new Piece("  ABC ", 1_000, true);
  private static final Piece SHORT = new Piece("def", 10, false);

  private final VirtualScheduler time = new VirtualScheduler();
  private final KnowledgeRegistry registry =
      new KnowledgeRegistry(
          RegistrySettings.DEFAULT, InstantSource.fixed(Instant.EPOCH), time::nanoTime);
  private final ScriptedNodes nodes = new ScriptedNodes();

  private static Registration registration(String id) {
    return new Registration(
        id,
        "10.0.0.1",
        9101,
        List.of(),
        List.of(),
        1,
        JsonNodeFactory.instance.objectNode(),
        Instant.EPOCH);
  }

  private static NodeLoad load(OptionalLong pending, OptionalDouble queue) {
    return new NodeLoad(
        OptionalLong.empty(), OptionalDouble.empty(), pending, OptionalLong.empty(), queue);
  }

  private List<String> serving() {
    return registry.catalogue().nodes().stream().map(KnowledgeNode::id).toList();
  }

  private void poll() {
    NodePoller poller = new NodePoller(registry, nodes, time, Runnable::run);
    registry.onNode(poller::follow);
  }

  @Test
  void aNodeIsAliveForItsTimeToLiveAndBackWithItsNextHeartbeat() {
    assertThat(registry.register(registration("a"))).isTrue();

    time.advance(Duration.ofSeconds(30));
    assertThat(serving()).containsExactly("a");
    time.advance(Duration.ofNanos(1));
    assertThat(serving()).isEmpty();
    assertThat(registry.nodes()).singleElement().returns(false, NodeStatus::alive);

    assertThat(registry.heartbeat("a", NodeLoad.UNKNOWN)).isTrue();
    assertThat(serving()).containsExactly("a");
  }

  @Test
  void whatAHeartbeatLeavesOutKeepsItsValueAndIsUnknownBefore() {
    registry.register(registration("a"));

    registry.heartbeat("a", load(OptionalLong.of(3), OptionalDouble.empty()));
    registry.heartbeat("a", load(OptionalLong.empty(), OptionalDouble.of(7.5)));

    NodeLoad known = registry.catalogue().nodes().get(0).load();
    assertThat(known.pendingTransfers()).hasValue(3);
    assertThat(known.queueMillis()).hasValue(7.5);
    assertThat(known.activeTransfers()).isEmpty();
  }

  @Test
  void nobodyWhoIsUnknownCanBeatOrLeave() {
    assertThat(registry.heartbeat("nobody", NodeLoad.UNKNOWN)).isFalse();
    registry.removeNode("nobody");
    registry.removeTarget("nobody");
    assertThat(registry.nodes()).isEmpty();
  }

  @Test
  void theCatalogueIsTheUnionOfNodesWithDifferentContent() {
    nodes.has.put(A, List.of(LONG));
    nodes.has.put(B, List.of(SHORT));
    poll();
    registry.addNode("a", A);
    registry.addNode("b", B);

    for (int round = 0; round < 3; round++) {
      time.advance(Duration.ofSeconds(30));
      assertThat(registry.catalogue().size()).isEqualTo(2);
      assertThat(registry.catalogue().ids()).containsExactlyInAnyOrder("abc", "def");
      assertThat(serving()).containsExactly("a", "b");
    }
  }

  @Test
  void aNodeThatCantBeReachedTakesNobodyWithIt() {
    nodes.has.put(B, List.of(SHORT));
    poll();
    registry.addNode("a", A);
    registry.addNode("b", B);

    time.advance(Duration.ofMinutes(5));

    assertThat(serving()).containsExactly("b");
    assertThat(registry.nodes().get(0).trouble()).contains("snapshot: can't be reached");
    nodes.has.put(A, List.of(LONG));
    time.advance(Duration.ofSeconds(5));
    assertThat(serving()).containsExactly("a", "b");
    assertThat(registry.nodes().get(0).trouble()).isEmpty();
  }

  @Test
  void aNodeThatStopsAnsweringIsBelievedUntilItsTimeIsUp() {
    nodes.has.put(A, List.of(LONG));
    poll();
    registry.addNode("a", A);
    time.advance(Duration.ofSeconds(1));
    nodes.has.clear();

    time.advance(Duration.ofSeconds(58));
    assertThat(serving()).containsExactly("a");
    time.advance(Duration.ofSeconds(3));
    assertThat(serving()).isEmpty();
  }

  @Test
  void aNodeThatRegistersIsAskedAtOnceAndSnapshotsAloneDontKeepItAlive() {
    nodes.has.put(URI.create("http://10.0.0.1:9101"), List.of(LONG));
    poll();
    registry.register(registration("a"));
    time.run();
    assertThat(registry.catalogue().size()).isEqualTo(1);

    time.advance(Duration.ofSeconds(31));
    assertThat(nodes.calls).hasSizeGreaterThanOrEqualTo(2);
    assertThat(serving()).isEmpty();
  }

  @Test
  void aNodeRestsAfterARequestsCallFailed() {
    registry.register(registration("a"));

    registry.failed("a", "no answer in time");

    assertThat(serving()).isEmpty();
    assertThat(registry.nodes()).singleElement().returns(true, NodeStatus::resting);
    time.advance(Duration.ofSeconds(5));
    assertThat(serving()).containsExactly("a");
  }

  @Test
  void aNodeThatRegistersAnewHasForgottenItsLoadButNotWhatItHas() {
    nodes.has.put(URI.create("http://10.0.0.1:9101"), List.of(LONG));
    poll();
    registry.register(registration("a"));
    time.run();
    registry.heartbeat("a", load(OptionalLong.of(9), OptionalDouble.empty()));

    registry.register(registration("a"));

    assertThat(registry.catalogue().nodes().get(0).load()).isEqualTo(NodeLoad.UNKNOWN);
    assertThat(registry.catalogue().size()).isEqualTo(1);
  }

  @Test
  void theLongestDeadMakesRoomAndTheLivingDont() {
    RegistrySettings two =
        new RegistrySettings(
            Duration.ofSeconds(30),
            Duration.ofSeconds(30),
            Duration.ofSeconds(5),
            Duration.ZERO,
            2,
            1,
            1);
    KnowledgeRegistry small =
        new KnowledgeRegistry(two, InstantSource.fixed(Instant.EPOCH), time::nanoTime);
    assertThat(small.register(registration("a"))).isTrue();
    time.advance(Duration.ofSeconds(1));
    assertThat(small.register(registration("b"))).isTrue();
    assertThat(small.register(registration("c"))).isFalse();

    time.advance(Duration.ofSeconds(31));
    assertThat(small.register(registration("c"))).isTrue();

    assertThat(small.nodes()).extracting(NodeStatus::id).containsExactly("b", "c");
    small.pieces("b", List.of(LONG, SHORT));
    assertThat(small.nodes().get(0).pieces()).isEqualTo(1);
    assertThat(small.nodes().get(0).seen()).isEqualTo(Optional.of(Instant.EPOCH));
  }
}

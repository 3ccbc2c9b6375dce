package dev.warmpath.grpc.umbp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.warmpath.index.BlockAnswer;
import dev.warmpath.index.BlockAnswer.Kind;
import dev.warmpath.index.BlockQuery;
import dev.warmpath.index.Tier;
import dev.warmpath.proto.umbp.ExternalKvNodeMatch;
import dev.warmpath.proto.umbp.MatchExternalKvRequest;
import dev.warmpath.proto.umbp.TierHashes;
import io.grpc.Status;
import java.io.IOException;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntFunction;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Look-ups at a scripted master over real sockets; the client's clock stands where a test puts it.
 */
@Timeout(30)
class UmbpClientTest {
  /** Long, so that a busy machine does not decide what a test sees. */
  private static final Duration LONG = Duration.ofSeconds(20);

  private final AtomicLong now = new AtomicLong();
  private final ScriptedMaster master = new ScriptedMaster(ScriptedMaster::nothing);
  private final UmbpClient client =
      UmbpClient.builder(master.address()).ticker(now::get).seed(7).maxInFlight(2).build();

  @AfterEach
  void close() {
    await()
        .atMost(Duration.ofMinutes(1))
        .untilAsserted(() -> assertThat(client.stats().inFlight()).isZero());
    client.close();
    master.close();
  }

  private static BlockQuery query(int blocks, Duration timeout) {
    return new BlockQuery(blocks, block -> "k" + block, true, timeout);
  }

  private BlockAnswer locate(int blocks) throws Exception {
    return client.locate(query(blocks, LONG)).get(LONG.toSeconds(), TimeUnit.SECONDS);
  }

  private static Kind kind(BlockAnswer answer) {
    return Objects.requireNonNull(answer.failure()).kind();
  }

  /** A master that knows a node to hold the first blocks. */
  private void holds(int first) {
    master.answers(
        request ->
            ScriptedMaster.answer(
                ScriptedMaster.node(
                    "n",
                    1,
                    request.getHashesList().stream()
                        .filter(key -> Integer.parseInt(key.substring(1)) < first)
                        .toList())));
  }

  private List<Integer> sizes() {
    return master.asked.stream().map(MatchExternalKvRequest::getHashesCount).toList();
  }

  @Test
  void nobodyHoldsAnythingIsAnAnswer() throws Exception {
    BlockAnswer answer = locate(10);
    assertThat(answer.nodes()).isEmpty();
    assertThat(answer.asked()).isEqualTo(10);
    assertThat(answer.failure()).isNull();
    assertThat(master.asked).hasSize(1);
  }

  @ParameterizedTest
  @CsvSource({
    "0, 128, 128",
    "127, 128, 128",
    "128, 640, '128, 512'",
    "640, 1664, '128, 512, 1024'",
    "4000, 3000, '128, 512, 1024, 1024, 312'",
  })
  void chunksGrowAsLongAsSomebodyHoldsAll(int held, int asked, String sizes) throws Exception {
    holds(held);
    BlockAnswer answer = locate(3_000);
    assertThat(answer.asked()).isEqualTo(asked);
    assertThat(sizes()).hasToString("[" + sizes + "]");
    if (held > 0) {
      assertThat(answer.nodes().get(0).blocks().run()).isEqualTo(Math.min(3_000, held));
    }
  }

  @Test
  void aKeyIsAskedForOnceAndCountsForAllItsBlocks() throws Exception {
    IntFunction<String> keys = block -> "k" + block / 2;
    holds(1_000);
    BlockAnswer answer =
        client.locate(new BlockQuery(200, keys, true, LONG)).get(60, TimeUnit.SECONDS);
    assertThat(sizes()).containsExactly(64, 36);
    assertThat(answer.nodes().get(0).blocks().run()).isEqualTo(200);
  }

  @Test
  void onlyRequestsThatAreSentCountAsHits() throws Exception {
    locate(1);
    client.locate(new BlockQuery(1, block -> "k", false, LONG)).get(60, TimeUnit.SECONDS);
    assertThat(master.asked)
        .extracting(MatchExternalKvRequest::getCountAsHit)
        .containsExactly(true, false);
    try (UmbpClient quiet = UmbpClient.builder(master.address()).hitCounting(false).build()) {
      quiet.locate(query(1, LONG)).get(60, TimeUnit.SECONDS);
    }
    assertThat(master.asked).extracting(MatchExternalKvRequest::getCountAsHit).endsWith(false);
  }

  @Test
  void whatItTellsWronglyIsLeftOut() throws Exception {
    master.answers(
        request ->
            ScriptedMaster.answer(
                // twice, in two tiers, in another order, with what nobody asked for
                ExternalKvNodeMatch.newBuilder()
                    .setNodeId("a")
                    .setPeerAddress("h:1")
                    .addHashesByTier(
                        TierHashes.newBuilder()
                            .setTierValue(2)
                            .addAllHashes(List.of("k1", "k0", "k0", "other")))
                    .addHashesByTier(TierHashes.newBuilder().setTierValue(1).addHashes("k1"))
                    .addHashesByTier(TierHashes.newBuilder().setTierValue(77).addHashes("k2"))
                    .addHashesByTier(TierHashes.newBuilder().setTierValue(0).addHashes("k3"))
                    .build(),
                ScriptedMaster.node("b", 1, List.of("nothing of this")),
                ScriptedMaster.node("", 1, List.of("k0")),
                // the same node once more
                ScriptedMaster.node("a", 1, List.of("k5"))));
    BlockAnswer answer = locate(8);
    assertThat(answer.nodes()).extracting(BlockAnswer.Node::id).containsExactly("a", "");
    BlockAnswer.Node a = answer.nodes().get(0);
    assertThat(a.peerAddress()).isEqualTo("h:1");
    List<Tier> tiers = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      tiers.add(a.blocks().tier(i));
    }
    assertThat(tiers)
        .containsExactly(Tier.DRAM, Tier.HBM, Tier.SSD, Tier.SSD, null, Tier.HBM, null, null);
    assertThat(a.blocks().run()).isEqualTo(4);
  }

  @Test
  void answersBeyondGrpcsUsualLimitAreTaken() throws Exception {
    String key = "x".repeat(6_000);
    master.answers(
        request -> ScriptedMaster.answer(ScriptedMaster.node("n", 1, request.getHashesList())));
    BlockAnswer answer =
        client
            .locate(new BlockQuery(1_664, block -> key + block, false, LONG))
            .get(60, TimeUnit.SECONDS);
    assertThat(answer.failure()).isNull();
    assertThat(answer.nodes().get(0).blocks().run()).isEqualTo(1_664);
  }

  @ParameterizedTest
  @CsvSource({
    "UNAVAILABLE, UNAVAILABLE",
    "DEADLINE_EXCEEDED, DEADLINE",
    "INTERNAL, ERROR",
    "UNIMPLEMENTED, ERROR",
    "RESOURCE_EXHAUSTED, ERROR",
  })
  void aFailureIsNotAnEmptyAnswerAndIsNotRepeated(Status.Code code, Kind kind) throws Exception {
    master.fails(code.toStatus());
    BlockAnswer answer = locate(10);
    assertThat(kind(answer)).isEqualTo(kind);
    assertThat(answer.asked()).isZero();
    assertThat(master.asked).hasSize(1);
  }

  @Test
  void whatWasLearnedBeforeAFailureCounts() throws Exception {
    master.answers(
        request -> {
          master.fails(Status.UNAVAILABLE);
          return ScriptedMaster.answer(ScriptedMaster.node("n", 1, request.getHashesList()));
        });
    BlockAnswer answer = locate(500);
    assertThat(kind(answer)).isEqualTo(Kind.UNAVAILABLE);
    assertThat(answer.asked()).isEqualTo(128);
    assertThat(answer.nodes().get(0).blocks().run()).isEqualTo(128);
  }

  @Test
  void noFurtherChunkIsAskedForAfterTheDeadline() throws Exception {
    master.answers(
        request -> {
          now.addAndGet(LONG.toNanos());
          return ScriptedMaster.answer(ScriptedMaster.node("n", 1, request.getHashesList()));
        });
    BlockAnswer answer = locate(500);
    assertThat(kind(answer)).isEqualTo(Kind.DEADLINE);
    assertThat(answer.asked()).isEqualTo(128);
    assertThat(master.asked).hasSize(1);
  }

  @Test
  void aMasterThatHangsCostsTheDeadline() throws Exception {
    locate(1); // connected
    master.answers(request -> null);
    BlockAnswer answer = client.locate(query(10, Duration.ofMillis(50))).get(60, TimeUnit.SECONDS);
    assertThat(kind(answer)).isEqualTo(Kind.DEADLINE);
  }

  @Test
  void whoGivesUpEndsTheCallAndFreesItsPlace() throws Exception {
    CountDownLatch arrived = new CountDownLatch(1);
    master.answers(
        request -> {
          arrived.countDown();
          return null;
        });
    CompletableFuture<BlockAnswer> answer = client.locate(query(10, LONG));
    assertThat(arrived.await(60, TimeUnit.SECONDS)).isTrue();
    assertThat(client.stats().inFlight()).isEqualTo(1);
    answer.cancel(true);
    assertThat(client.stats().inFlight()).isZero();
    assertThat(master.cancelled.await(60, TimeUnit.SECONDS)).isTrue();
    assertThat(client.stats().open()).isFalse();
  }

  @Test
  void lookUpsBeyondTheLimitAreShed() throws Exception {
    master.answers(request -> null);
    List<CompletableFuture<BlockAnswer>> held =
        List.of(client.locate(query(1, LONG)), client.locate(query(1, LONG)));
    assertThat(kind(locate(1))).isEqualTo(Kind.BUSY);
    assertThat(client.stats().shed()).isEqualTo(1);
    held.forEach(answer -> answer.cancel(true));
  }

  @Test
  void aFailingMasterIsLeftAloneUntilAProbeFindsItBack() throws Exception {
    master.fails(Status.UNAVAILABLE);
    for (int i = 0; i < 3; i++) {
      assertThat(kind(locate(1))).isEqualTo(Kind.UNAVAILABLE);
    }
    assertThat(kind(locate(1))).isEqualTo(Kind.OPEN);
    assertThat(master.asked).hasSize(3);
    now.addAndGet(Duration.ofMillis(250).toNanos());
    assertThat(kind(locate(1))).isEqualTo(Kind.OPEN); // nobody waits for the probe
    await()
        .atMost(Duration.ofMinutes(1))
        .until(() -> master.asked.size() == 4 && client.stats().failures() == 4);
    now.addAndGet(Duration.ofMillis(249).toNanos());
    assertThat(kind(locate(1))).isEqualTo(Kind.OPEN);
    master.answers(ScriptedMaster::nothing);
    now.addAndGet(Duration.ofMillis(251).toNanos());
    assertThat(kind(locate(1))).isEqualTo(Kind.OPEN);
    await().atMost(Duration.ofMinutes(1)).until(() -> !client.stats().open());
    assertThat(locate(1).failure()).isNull();
    assertThat(master.asked).last().matches(request -> request.getHashesCount() == 1);
    assertThat(master.asked).anyMatch(request -> request.getHashesCount() == 0);
  }

  @Test
  void aMasterThatComesBackIsFoundWithoutGrpcsBackOff() throws Exception {
    int port;
    try (ServerSocket reserved = new ServerSocket(0)) {
      port = reserved.getLocalPort();
    }
    try (UmbpClient lost =
        UmbpClient.builder("grpc://127.0.0.1:" + port).ticker(now::get).seed(7).build()) {
      await()
          .atMost(Duration.ofMinutes(1))
          .until(
              () -> {
                now.addAndGet(Duration.ofSeconds(5).toNanos());
                lost.locate(query(1, LONG)).get(60, TimeUnit.SECONDS);
                return lost.stats().failures() >= 8;
              });
      try (ScriptedMaster back = new ScriptedMaster(port, ScriptedMaster::nothing)) {
        await()
            .atMost(Duration.ofMinutes(1))
            .until(
                () -> {
                  now.addAndGet(Duration.ofSeconds(5).toNanos());
                  return lost.locate(query(1, LONG)).get(60, TimeUnit.SECONDS).failure() == null;
                });
        assertThat(back.asked).isNotEmpty();
      }
    }
  }

  @Test
  void closingEndsWhatIsUnderWay() throws Exception {
    CountDownLatch arrived = new CountDownLatch(1);
    master.answers(
        request -> {
          arrived.countDown();
          return null;
        });
    CompletableFuture<BlockAnswer> answer = client.locate(query(1, LONG));
    assertThat(arrived.await(60, TimeUnit.SECONDS)).isTrue();
    client.close();
    assertThat(kind(answer.get(60, TimeUnit.SECONDS))).isEqualTo(Kind.CANCELLED);
    assertThat(kind(locate(1))).isEqualTo(Kind.CANCELLED);
    client.close();
  }

  @Test
  void aKeyThatCantBeMadeFailsTheLookUpAndNothingElse() throws Exception {
    IntFunction<String> broken =
        block -> {
          throw new IllegalStateException("no key");
        };
    BlockAnswer answer =
        client.locate(new BlockQuery(1, broken, true, LONG)).get(60, TimeUnit.SECONDS);
    assertThat(kind(answer)).isEqualTo(Kind.ERROR);
    assertThat(locate(1).failure()).isNull();
  }

  @Test
  void toolsSeeTheAnswerAsItIs() throws Exception {
    master.answers(
        request ->
            ScriptedMaster.answer(
                ScriptedMaster.node("n", 3, request.getHashesList()),
                ScriptedMaster.node("m", 77, List.of("z"))));
    assertThat(client.match(List.of("b", "a", "b"), LONG).get(60, TimeUnit.SECONDS))
        .containsExactly(
            new UmbpMatch("n", "", "ssd", List.of("b", "a")),
            new UmbpMatch("m", "", "77", List.of("z")));
    master.fails(Status.INTERNAL);
    assertThatThrownBy(() -> client.match(List.of("a"), LONG).get(60, TimeUnit.SECONDS))
        .isInstanceOf(ExecutionException.class)
        .hasMessageContaining("INTERNAL");
  }

  @Test
  void addressesAreChecked() throws IOException {
    assertThatThrownBy(() -> UmbpClient.to("http://h:1"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("grpc://host:port");
    assertThatThrownBy(() -> UmbpClient.builder("h:1").maxInFlight(0))
        .isInstanceOf(IllegalArgumentException.class);
  }
}

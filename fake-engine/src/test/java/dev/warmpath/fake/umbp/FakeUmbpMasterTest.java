package dev.warmpath.fake.umbp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;

import dev.warmpath.proto.umbp.BatchLookupRequest;
import dev.warmpath.proto.umbp.ClientStatus;
import dev.warmpath.proto.umbp.ExternalKvNodeMatch;
import dev.warmpath.proto.umbp.GetExternalKvHitCountsRequest;
import dev.warmpath.proto.umbp.HeartbeatRequest;
import dev.warmpath.proto.umbp.HitCountEntry;
import dev.warmpath.proto.umbp.MatchExternalKvRequest;
import dev.warmpath.proto.umbp.RegisterClientRequest;
import dev.warmpath.proto.umbp.ReportExternalKvBlocksRequest;
import dev.warmpath.proto.umbp.RevokeAllExternalKvBlocksAtTierRequest;
import dev.warmpath.proto.umbp.RevokeAllExternalKvBlocksForNodeRequest;
import dev.warmpath.proto.umbp.RevokeExternalKvBlocksRequest;
import dev.warmpath.proto.umbp.TierHashes;
import dev.warmpath.proto.umbp.UMBPMasterGrpc;
import dev.warmpath.proto.umbp.UMBPMasterGrpc.UMBPMasterBlockingStub;
import dev.warmpath.proto.umbp.UnregisterClientRequest;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the real master was seen to do, asked of the fake one over gRPC. */
@Timeout(30)
class FakeUmbpMasterTest {
  private final AtomicLong now = new AtomicLong();
  private final FakeUmbpMaster master =
      FakeUmbpMaster.builder().ticker(now::get).ttl(Duration.ofSeconds(10)).start();
  private final ManagedChannel channel =
      Grpc.newChannelBuilder(master.address(), InsecureChannelCredentials.create()).build();

  @AfterEach
  void close() {
    channel.shutdownNow();
    master.close();
  }

  private UMBPMasterBlockingStub stub() {
    return UMBPMasterGrpc.newBlockingStub(channel)
        .withWaitForReady()
        .withDeadlineAfter(20, TimeUnit.SECONDS);
  }

  private void register(String node, String peer) {
    assertThat(
            stub()
                .registerClient(
                    RegisterClientRequest.newBuilder().setNodeId(node).setPeerAddress(peer).build())
                .getHeartbeatIntervalMs())
        .isEqualTo(5_000);
  }

  private void report(String node, int tier, String... hashes) {
    var unused =
        stub()
            .reportExternalKvBlocks(
                ReportExternalKvBlocksRequest.newBuilder()
                    .setNodeId(node)
                    .setTierValue(tier)
                    .addAllHashes(List.of(hashes))
                    .build());
  }

  private ClientStatus heartbeat(String node) {
    return stub().heartbeat(HeartbeatRequest.newBuilder().setNodeId(node).build()).getStatus();
  }

  /** By node and tier, the hashes. */
  private Map<String, Map<Integer, List<String>>> match(boolean counted, String... hashes) {
    return stub()
        .matchExternalKv(
            MatchExternalKvRequest.newBuilder()
                .addAllHashes(List.of(hashes))
                .setCountAsHit(counted)
                .build())
        .getMatchesList()
        .stream()
        .collect(
            Collectors.toMap(
                ExternalKvNodeMatch::getNodeId,
                node ->
                    node.getHashesByTierList().stream()
                        .collect(
                            Collectors.toMap(
                                TierHashes::getTierValue,
                                tier -> List.copyOf(tier.getHashesList())))));
  }

  private List<HitCountEntry> hits(List<String> hashes) {
    return stub()
        .getExternalKvHitCounts(
            GetExternalKvHitCountsRequest.newBuilder().addAllHashes(hashes).build())
        .getEntriesList();
  }

  @Test
  void anySubsetMatchesInTheOrderAndAsOftenAsItIsAskedFor() {
    register("a", "h:16001");
    register("b", "");
    report("a", 1, "1", "2", "3");
    report("a", 2, "2");
    report("b", 3, "3");
    report("b", 77, "3");
    report("b", 0, "9");
    assertThat(match(false, "3", "x", "2", "2", "9"))
        .isEqualTo(
            Map.of(
                "a", Map.of(1, List.of("3", "2", "2"), 2, List.of("2", "2")),
                "b", Map.of(3, List.of("3"), 77, List.of("3"), 0, List.of("9"))));
    assertThat(match(false)).isEmpty();
    assertThat(match(false, "x", "")).isEmpty();
    List<ExternalKvNodeMatch> nodes =
        stub()
            .matchExternalKv(MatchExternalKvRequest.newBuilder().addHashes("2").build())
            .getMatchesList();
    assertThat(nodes.get(0).getPeerAddress()).isEqualTo("h:16001");
    assertThat(nodes.get(0).getHashesByTierList())
        .extracting(TierHashes::getTierValue)
        .containsExactly(1, 2);
  }

  @Test
  void whatNobodyKnowsIsDroppedInSilence() {
    report("stranger", 1, "1");
    assertThat(match(false, "1")).isEmpty();
    assertThat(master.rejected()).isEqualTo(1);
    assertThat(heartbeat("stranger")).isEqualTo(ClientStatus.CLIENT_STATUS_UNKNOWN);
  }

  @Test
  void aNodeExpiresUnlessItSendsHeartbeatsWhateverItReports() {
    register("a", "");
    report("a", 1, "1");
    now.addAndGet(Duration.ofSeconds(20).toNanos());
    assertThat(heartbeat("a")).isEqualTo(ClientStatus.CLIENT_STATUS_ALIVE);
    now.addAndGet(Duration.ofSeconds(29).toNanos());
    report("a", 1, "2");
    assertThat(match(false, "1", "2")).hasSize(1);
    now.addAndGet(Duration.ofSeconds(2).toNanos());
    assertThat(match(false, "1", "2")).isEmpty();
    assertThat(master.nodes()).isEmpty();
    // It comes back to life, and what it had reported does not.
    assertThat(heartbeat("a")).isEqualTo(ClientStatus.CLIENT_STATUS_ALIVE);
    assertThat(match(false, "1")).isEmpty();
    report("a", 1, "1");
    assertThat(match(false, "1")).hasSize(1);
  }

  @Test
  void anAliveNodeIsNotTakenInAgain() {
    register("a", "");
    assertThatThrownBy(() -> register("a", "h:1"))
        .isInstanceOfSatisfying(
            StatusRuntimeException.class,
            e -> {
              assertThat(e.getStatus().getCode()).isEqualTo(Status.Code.ALREADY_EXISTS);
              assertThat(e.getStatus().getDescription())
                  .isEqualTo("node is already alive and cannot be re-registered");
            });
    now.addAndGet(Duration.ofSeconds(31).toNanos());
    register("a", "h:1");
  }

  @Test
  void blocksGoByTierByNodeAndByUnregistering() {
    register("a", "");
    register("b", "");
    report("a", 1, "1", "2");
    report("a", 2, "1");
    report("b", 1, "1");
    var one =
        stub()
            .revokeExternalKvBlocks(
                RevokeExternalKvBlocksRequest.newBuilder()
                    .setNodeId("a")
                    .setTierValue(1)
                    .addHashes("1")
                    .addHashes("unknown")
                    .build());
    assertThat(one).isNotNull();
    assertThat(match(false, "1", "2"))
        .isEqualTo(
            Map.of("a", Map.of(1, List.of("2"), 2, List.of("1")), "b", Map.of(1, List.of("1"))));
    var tier =
        stub()
            .revokeAllExternalKvBlocksAtTier(
                RevokeAllExternalKvBlocksAtTierRequest.newBuilder()
                    .setNodeId("a")
                    .setTierValue(1)
                    .build());
    assertThat(tier).isNotNull();
    assertThat(match(false, "1", "2").get("a")).isEqualTo(Map.of(2, List.of("1")));
    var node =
        stub()
            .revokeAllExternalKvBlocksForNode(
                RevokeAllExternalKvBlocksForNodeRequest.newBuilder().setNodeId("a").build());
    assertThat(node).isNotNull();
    assertThat(match(false, "1", "2")).containsOnlyKeys("b");
    var gone = stub().unregisterClient(UnregisterClientRequest.newBuilder().setNodeId("b").build());
    assertThat(gone).isNotNull();
    assertThat(master.hashes()).isZero();
    assertThat(heartbeat("b")).isEqualTo(ClientStatus.CLIENT_STATUS_UNKNOWN);
  }

  @Test
  void eachMatchedHashIsHitOnceACall() {
    register("a", "");
    register("b", "");
    report("a", 1, "1", "2");
    report("b", 2, "1");
    assertThat(match(true, "1", "1", "2", "nope")).isNotEmpty();
    assertThat(match(true, "2")).isNotEmpty();
    assertThat(match(false, "2")).isNotEmpty();
    assertThat(hits(List.of("1", "2", "2", "nope")))
        .extracting(HitCountEntry::getHash, HitCountEntry::getHitCountTotal)
        .containsExactly(tuple("1", 1L), tuple("2", 2L));
    now.addAndGet(Duration.ofSeconds(7_201).toNanos());
    assertThat(hits(List.of("1", "2"))).isEmpty();
  }

  @Test
  void argumentsAreCheckedAsTheRealOneChecksThem() {
    List<String> most = IntStream.range(0, 4_096).mapToObj(Integer::toString).toList();
    assertThat(hits(most)).isEmpty();
    assertThatThrownBy(() -> hits(IntStream.range(0, 4_097).mapToObj(Integer::toString).toList()))
        .hasMessageContaining("hashes size exceeds UMBP_HIT_QUERY_MAX_BATCH=4096");
    assertThatThrownBy(() -> report("", 1, "1")).hasMessageContaining("node_id must not be empty");
    assertThatThrownBy(() -> report("a", 1)).hasMessageContaining("hashes must not be empty");
    assertThatThrownBy(() -> stub().batchLookup(BatchLookupRequest.getDefaultInstance()))
        .hasMessageContaining("UNIMPLEMENTED");
  }

  @Test
  void aRestartForgetsEverything() {
    register("a", "");
    report("a", 1, "1");
    master.restart();
    // what is called while the old connection is going away fails, as on any restart
    await()
        .atMost(Duration.ofMinutes(1))
        .ignoreExceptionsInstanceOf(StatusRuntimeException.class)
        .untilAsserted(() -> assertThat(match(false, "1")).isEmpty());
    report("a", 1, "1");
    assertThat(match(false, "1")).isEmpty();
    assertThat(heartbeat("a")).isEqualTo(ClientStatus.CLIENT_STATUS_UNKNOWN);
    register("a", "");
    report("a", 1, "1");
    assertThat(match(false, "1")).hasSize(1);
  }

  @Test
  void whileItHangsNothingIsAnsweredAndThenEverything() {
    master.hang(true);
    assertThatThrownBy(
            () ->
                UMBPMasterGrpc.newBlockingStub(channel)
                    .withWaitForReady()
                    .withDeadlineAfter(300, TimeUnit.MILLISECONDS)
                    .matchExternalKv(MatchExternalKvRequest.getDefaultInstance()))
        .hasMessageContaining("DEADLINE_EXCEEDED");
    master.hang(false);
    master.slow(Duration.ofMillis(1));
    assertThat(match(false, "1")).isEmpty();
  }

  @Test
  void itsLiesLieBesideTheTruth() {
    register("a", "");
    report("a", 1, "1");
    master.lie(true);
    Map<String, Map<Integer, List<String>>> told = match(false, "1", "2");
    assertThat(told).containsOnlyKeys("a", "nobody:dp0:pp0:tp0");
    assertThat(told.get("a").get(1)).containsExactly("1");
  }
}

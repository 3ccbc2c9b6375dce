package dev.warmpath.fake.umbp;

import dev.warmpath.proto.umbp.ExternalKvNodeMatch;
import dev.warmpath.proto.umbp.GetExternalKvHitCountsRequest;
import dev.warmpath.proto.umbp.GetExternalKvHitCountsResponse;
import dev.warmpath.proto.umbp.HeartbeatRequest;
import dev.warmpath.proto.umbp.HeartbeatResponse;
import dev.warmpath.proto.umbp.HitCountEntry;
import dev.warmpath.proto.umbp.MatchExternalKvRequest;
import dev.warmpath.proto.umbp.MatchExternalKvResponse;
import dev.warmpath.proto.umbp.RegisterClientRequest;
import dev.warmpath.proto.umbp.RegisterClientResponse;
import dev.warmpath.proto.umbp.ReportExternalKvBlocksRequest;
import dev.warmpath.proto.umbp.ReportExternalKvBlocksResponse;
import dev.warmpath.proto.umbp.ReportMetricsRequest;
import dev.warmpath.proto.umbp.ReportMetricsResponse;
import dev.warmpath.proto.umbp.RevokeAllExternalKvBlocksAtTierRequest;
import dev.warmpath.proto.umbp.RevokeAllExternalKvBlocksAtTierResponse;
import dev.warmpath.proto.umbp.RevokeAllExternalKvBlocksForNodeRequest;
import dev.warmpath.proto.umbp.RevokeAllExternalKvBlocksForNodeResponse;
import dev.warmpath.proto.umbp.RevokeExternalKvBlocksRequest;
import dev.warmpath.proto.umbp.RevokeExternalKvBlocksResponse;
import dev.warmpath.proto.umbp.UMBPMasterGrpc;
import dev.warmpath.proto.umbp.UnregisterClientRequest;
import dev.warmpath.proto.umbp.UnregisterClientResponse;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;

/**
 * The calls of a master about nodes and what engines hold in their own caches. Those about UMBP's
 * own pool are not there: UNIMPLEMENTED, as on a server that does not know them.
 */
final class MasterService extends UMBPMasterGrpc.UMBPMasterImplBase {
  private static final int MOST_HIT_QUERIES = 4_096;

  private final ExternalIndex index;
  private final MasterFaults faults;
  private final Duration heartbeat;
  private final LongAdder matches = new LongAdder();

  MasterService(ExternalIndex index, MasterFaults faults, Duration heartbeat) {
    this.index = index;
    this.faults = faults;
    this.heartbeat = heartbeat;
  }

  /** Calls of MatchExternalKv so far. */
  long matches() {
    return matches.sum();
  }

  private static <T> void answer(StreamObserver<T> out, T answer) {
    out.onNext(answer);
    out.onCompleted();
  }

  private static boolean refused(StreamObserver<?> out, String nodeId, List<String> hashes) {
    String missing = nodeId.isEmpty() ? "node_id" : hashes.isEmpty() ? "hashes" : null;
    if (missing != null) {
      out.onError(
          Status.INVALID_ARGUMENT
              .withDescription(missing + " must not be empty")
              .asRuntimeException());
    }
    return missing != null;
  }

  @Override
  public void registerClient(
      RegisterClientRequest request, StreamObserver<RegisterClientResponse> out) {
    Status refusal = index.register(request.getNodeId(), request.getPeerAddress());
    if (refusal != null) {
      out.onError(refusal.asRuntimeException());
      return;
    }
    answer(
        out,
        RegisterClientResponse.newBuilder().setHeartbeatIntervalMs(heartbeat.toMillis()).build());
  }

  @Override
  public void unregisterClient(
      UnregisterClientRequest request, StreamObserver<UnregisterClientResponse> out) {
    index.unregister(request.getNodeId());
    answer(out, UnregisterClientResponse.getDefaultInstance());
  }

  @Override
  public void heartbeat(HeartbeatRequest request, StreamObserver<HeartbeatResponse> out) {
    answer(
        out,
        HeartbeatResponse.newBuilder().setStatus(index.heartbeat(request.getNodeId())).build());
  }

  @Override
  public void reportExternalKvBlocks(
      ReportExternalKvBlocksRequest request, StreamObserver<ReportExternalKvBlocksResponse> out) {
    if (!refused(out, request.getNodeId(), request.getHashesList())) {
      index.report(request.getNodeId(), request.getHashesList(), request.getTierValue());
      answer(out, ReportExternalKvBlocksResponse.getDefaultInstance());
    }
  }

  @Override
  public void revokeExternalKvBlocks(
      RevokeExternalKvBlocksRequest request, StreamObserver<RevokeExternalKvBlocksResponse> out) {
    if (!refused(out, request.getNodeId(), request.getHashesList())) {
      index.revoke(request.getNodeId(), request.getHashesList(), request.getTierValue());
      answer(out, RevokeExternalKvBlocksResponse.getDefaultInstance());
    }
  }

  @Override
  public void revokeAllExternalKvBlocksAtTier(
      RevokeAllExternalKvBlocksAtTierRequest request,
      StreamObserver<RevokeAllExternalKvBlocksAtTierResponse> out) {
    index.revokeTier(request.getNodeId(), request.getTierValue());
    answer(out, RevokeAllExternalKvBlocksAtTierResponse.getDefaultInstance());
  }

  @Override
  public void revokeAllExternalKvBlocksForNode(
      RevokeAllExternalKvBlocksForNodeRequest request,
      StreamObserver<RevokeAllExternalKvBlocksForNodeResponse> out) {
    index.revokeNode(request.getNodeId());
    answer(out, RevokeAllExternalKvBlocksForNodeResponse.getDefaultInstance());
  }

  @Override
  public void matchExternalKv(
      MatchExternalKvRequest request, StreamObserver<MatchExternalKvResponse> out) {
    matches.increment();
    faults.delay(
        () -> {
          List<ExternalKvNodeMatch> found =
              index.match(request.getHashesList(), request.getCountAsHit());
          answer(
              out,
              MatchExternalKvResponse.newBuilder()
                  .addAllMatches(faults.told(found, request.getHashesList()))
                  .build());
        });
  }

  @Override
  public void getExternalKvHitCounts(
      GetExternalKvHitCountsRequest request, StreamObserver<GetExternalKvHitCountsResponse> out) {
    if (request.getHashesCount() > MOST_HIT_QUERIES) {
      out.onError(
          Status.INVALID_ARGUMENT
              .withDescription("hashes size exceeds UMBP_HIT_QUERY_MAX_BATCH=" + MOST_HIT_QUERIES)
              .asRuntimeException());
      return;
    }
    GetExternalKvHitCountsResponse.Builder answer = GetExternalKvHitCountsResponse.newBuilder();
    for (String hash : new LinkedHashSet<>(request.getHashesList())) {
      long hits = index.hits(hash);
      if (hits > 0) {
        answer.addEntries(HitCountEntry.newBuilder().setHash(hash).setHitCountTotal(hits));
      }
    }
    answer(out, answer.build());
  }

  @Override
  public void reportMetrics(
      ReportMetricsRequest request, StreamObserver<ReportMetricsResponse> out) {
    answer(out, ReportMetricsResponse.getDefaultInstance());
  }
}

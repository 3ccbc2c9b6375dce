package dev.warmpath.grpc.umbp;

import dev.warmpath.proto.umbp.ExternalKvNodeMatch;
import dev.warmpath.proto.umbp.MatchExternalKvRequest;
import dev.warmpath.proto.umbp.MatchExternalKvResponse;
import dev.warmpath.proto.umbp.TierHashes;
import dev.warmpath.proto.umbp.UMBPMasterGrpc;
import io.grpc.Context;
import io.grpc.Grpc;
import io.grpc.InsecureServerCredentials;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A master over a real socket that answers as a test says. */
final class ScriptedMaster implements AutoCloseable {
  /** What was asked, in order. */
  final Queue<MatchExternalKvRequest> asked = new ConcurrentLinkedQueue<>();

  /** Counted down when the first call is cancelled or its deadline passes. */
  final CountDownLatch cancelled = new CountDownLatch(1);

  private volatile Function<MatchExternalKvRequest, @Nullable MatchExternalKvResponse> script;
  private volatile @Nullable Status fails;
  private final Server server;

  ScriptedMaster(Function<MatchExternalKvRequest, @Nullable MatchExternalKvResponse> script) {
    this(0, script);
  }

  ScriptedMaster(
      int port, Function<MatchExternalKvRequest, @Nullable MatchExternalKvResponse> script) {
    this.script = script;
    try {
      this.server =
          Grpc.newServerBuilderForPort(port, InsecureServerCredentials.create())
              .maxInboundMessageSize(64 << 20)
              .addService(new Service())
              .build()
              .start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private final class Service extends UMBPMasterGrpc.UMBPMasterImplBase {
    @Override
    public void matchExternalKv(
        MatchExternalKvRequest request, StreamObserver<MatchExternalKvResponse> out) {
      asked.add(request);
      Context.current().addListener(context -> cancelled.countDown(), Runnable::run);
      Status failure = fails;
      if (failure != null) {
        out.onError(failure.asRuntimeException());
        return;
      }
      MatchExternalKvResponse answer = script.apply(request);
      if (answer != null) {
        out.onNext(answer);
        out.onCompleted();
      }
    }
  }

  /** Answers so from now on; null is no answer at all. */
  void answers(Function<MatchExternalKvRequest, @Nullable MatchExternalKvResponse> script) {
    this.fails = null;
    this.script = script;
  }

  void fails(Status status) {
    this.fails = status;
  }

  String address() {
    return "127.0.0.1:" + server.getPort();
  }

  int port() {
    return server.getPort();
  }

  static MatchExternalKvResponse nothing(MatchExternalKvRequest request) {
    return MatchExternalKvResponse.getDefaultInstance();
  }

  static ExternalKvNodeMatch node(String id, int tier, List<String> hashes) {
    return ExternalKvNodeMatch.newBuilder()
        .setNodeId(id)
        .addHashesByTier(TierHashes.newBuilder().setTierValue(tier).addAllHashes(hashes))
        .build();
  }

  static MatchExternalKvResponse answer(ExternalKvNodeMatch... nodes) {
    return MatchExternalKvResponse.newBuilder().addAllMatches(List.of(nodes)).build();
  }

  @Override
  public void close() {
    server.shutdownNow();
    try {
      server.awaitTermination();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}

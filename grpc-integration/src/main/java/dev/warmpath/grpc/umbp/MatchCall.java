package dev.warmpath.grpc.umbp;

import dev.warmpath.proto.umbp.MatchExternalKvRequest;
import dev.warmpath.proto.umbp.MatchExternalKvResponse;
import dev.warmpath.proto.umbp.UMBPMasterGrpc;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.Status;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** One MatchExternalKv call. It ends exactly once: with an answer, or with a status without one. */
final class MatchCall implements StreamObserver<MatchExternalKvResponse> {
  private final ClientCall<MatchExternalKvRequest, MatchExternalKvResponse> call;
  private final BiConsumer<@Nullable MatchExternalKvResponse, Status> end;
  private @Nullable MatchExternalKvResponse answer;

  private MatchCall(
      ClientCall<MatchExternalKvRequest, MatchExternalKvResponse> call,
      BiConsumer<@Nullable MatchExternalKvResponse, Status> end) {
    this.call = call;
    this.end = end;
  }

  /**
   * Sends a request.
   *
   * @param end hears how it ended, on the transport's thread
   */
  static MatchCall send(
      Channel channel,
      MatchExternalKvRequest request,
      long timeoutNanos,
      BiConsumer<@Nullable MatchExternalKvResponse, Status> end) {
    MatchCall made =
        new MatchCall(
            channel.newCall(
                UMBPMasterGrpc.getMatchExternalKvMethod(),
                CallOptions.DEFAULT.withDeadlineAfter(timeoutNanos, TimeUnit.NANOSECONDS)),
            end);
    ClientCalls.asyncUnaryCall(made.call, request, made);
    return made;
  }

  void cancel() {
    call.cancel("nobody waits for it any more", null);
  }

  @Override
  public void onNext(MatchExternalKvResponse value) {
    answer = value;
  }

  @Override
  public void onError(Throwable error) {
    end.accept(null, Status.fromThrowable(error));
  }

  @Override
  public void onCompleted() {
    MatchExternalKvResponse told = answer;
    end.accept(told, told == null ? Status.INTERNAL.withDescription("no answer") : Status.OK);
  }
}

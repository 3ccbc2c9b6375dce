package dev.warmpath.fake.internal.grpc;

import com.google.protobuf.MessageLite;
import dev.warmpath.fake.fault.Fault;
import dev.warmpath.fake.fault.Scope;
import dev.warmpath.fake.internal.surface.ApiError;
import dev.warmpath.fake.internal.surface.FaultGate;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.StreamObserver;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** How the methods of every service begin: the size of the request, the engine's faults, errors. */
final class Rpcs {
  private final FaultGate gate;
  private final long maxRequestBytes;
  private final Status tooLarge;
  private final Errors errors;

  /** What the engine's refusals are in gRPC. */
  interface Errors {
    Status of(ApiError error);
  }

  /**
   * Sets what is common to a server's methods.
   *
   * @param gate the engine's faults
   * @param maxRequestBytes the largest request message
   * @param tooLarge what a larger one gets
   * @param errors what the engine's refusals are
   */
  Rpcs(FaultGate gate, long maxRequestBytes, Status tooLarge, Errors errors) {
    this.gate = gate;
    this.maxRequestBytes = maxRequestBytes;
    this.tooLarge = tooLarge;
    this.errors = errors;
  }

  /** Answers with one message. */
  <T> void answer(
      Scope scope, MessageLite request, StreamObserver<T> observer, Supplier<T> answer) {
    enter(scope, request, observer, (call, fault) -> call.respond(answer.get()));
  }

  /** Answers with one message once it is there. */
  <T> void answerLater(
      Scope scope,
      MessageLite request,
      StreamObserver<T> observer,
      Supplier<CompletableFuture<T>> answer) {
    enter(
        scope,
        request,
        observer,
        (call, fault) -> {
          var unused =
              answer
                  .get()
                  .whenComplete(
                      (message, failure) -> {
                        if (failure == null) {
                          call.respond(message);
                        } else {
                          call.fail(Status.INTERNAL.withDescription("the engine is gone"));
                        }
                      });
        });
  }

  /** Answers with a stream. */
  <T> void stream(
      Scope scope, MessageLite request, StreamObserver<T> observer, Consumer<GrpcCall<T>> work) {
    enter(scope, request, observer, (call, fault) -> work.accept(call));
  }

  /** Begins an inference request, whose answer may have to suffer a fault. */
  <T> void generate(
      MessageLite request,
      StreamObserver<T> observer,
      BiConsumer<GrpcCall<T>, @Nullable Fault> work) {
    enter(Scope.GENERATE, request, observer, work);
  }

  private <T> void enter(
      Scope scope,
      MessageLite request,
      StreamObserver<T> observer,
      BiConsumer<GrpcCall<T>, @Nullable Fault> work) {
    GrpcCall<T> call = new GrpcCall<>(observer);
    int size = request.getSerializedSize();
    if (size > maxRequestBytes) {
      call.fail(
          tooLarge.withDescription(
              "message length too large: found "
                  + size
                  + " bytes, the limit is "
                  + maxRequestBytes));
      return;
    }
    gate.enter(
        scope,
        scope == Scope.GENERATE,
        call,
        fault -> {
          try {
            work.accept(call, fault);
          } catch (ApiError e) {
            call.fail(errors.of(e));
          } catch (StatusRuntimeException e) {
            call.fail(e.getStatus());
          }
        });
  }
}

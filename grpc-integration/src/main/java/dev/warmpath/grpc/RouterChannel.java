package dev.warmpath.grpc;

import dev.warmpath.RouterClient;
import dev.warmpath.grpc.internal.MessagePrompts;
import dev.warmpath.prompt.PromptSource;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.MethodDescriptor;
import java.util.Objects;
import java.util.concurrent.Executor;

/**
 * A channel for stubs of one's own, each of whose calls goes to the worker that the router chooses.
 * The choice waits for the request message, so that it can follow the tokens in it where the client
 * was built with {@link #prompts()}. Retries, leases and deadlines are the router's: a call is sent
 * again, elsewhere, only until its first message has come.
 *
 * <p>A worker that was found to offer another service than the call's is not chosen. The client's
 * workers are to be gRPC workers: no other can take such a call. Calls of one request message only,
 * unary or with a stream of responses. Thread safe; closed with the router.
 *
 * <pre>{@code
 * GrpcTransport transport = GrpcTransport.create();
 * RouterClient router =
 *     RouterClient.builder().transport(transport).promptSource(RouterChannel.prompts())....build();
 * var stub = SglangSchedulerGrpc.newBlockingStub(RouterChannel.of(router, transport, executor));
 * }</pre>
 */
public final class RouterChannel extends Channel {
  private final RouterClient router;
  private final GrpcTransport transport;
  private final Executor executor;

  private RouterChannel(RouterClient router, GrpcTransport transport, Executor executor) {
    this.router = Objects.requireNonNull(router, "router");
    this.transport = Objects.requireNonNull(transport, "transport");
    this.executor = Objects.requireNonNull(executor, "executor");
  }

  /**
   * A channel over a router's workers.
   *
   * @param transport the router's own
   * @param executor where calls wait for their first message, a thread each; stays its owner's
   */
  public static RouterChannel of(RouterClient router, GrpcTransport transport, Executor executor) {
    return new RouterChannel(router, transport, executor);
  }

  /**
   * Knows the prompts of {@code Generate} calls of SGLang's scheduler service and of vLLM's two
   * services by the tokens in their messages.
   */
  public static PromptSource prompts() {
    return MessagePrompts::read;
  }

  /**
   * Prepares a call.
   *
   * @throws IllegalArgumentException when the method takes a stream of requests
   */
  @Override
  public <Q, R> ClientCall<Q, R> newCall(MethodDescriptor<Q, R> method, CallOptions options) {
    if (!method.getType().clientSendsOneMessage()) {
      throw new IllegalArgumentException(
          method.getFullMethodName() + " takes a stream of requests, which can't be routed");
    }
    return new RoutedCall<>(router, transport, executor, method, options);
  }

  @Override
  public String authority() {
    return "warmpath";
  }
}

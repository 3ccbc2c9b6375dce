package dev.warmpath.grpc.internal;

import dev.warmpath.proto.smg.KvEventBatch;
import dev.warmpath.proto.smg.SubscribeKvEventsRequest;
import dev.warmpath.transport.AdminCommand;
import dev.warmpath.transport.AdminReply;
import dev.warmpath.transport.HealthReport;
import dev.warmpath.transport.LoadReport;
import dev.warmpath.transport.OutboundRequest;
import dev.warmpath.transport.PromptTokens;
import dev.warmpath.transport.TransportException;
import dev.warmpath.worker.EngineKind;
import dev.warmpath.worker.Worker;
import io.grpc.MethodDescriptor;
import org.jspecify.annotations.Nullable;

/** One of the gRPC services that engines offer. Without state; thread safe. */
public interface EngineService {
  /** The name by which configuration asks for it: {@code ;grpc=}. */
  String name();

  /** Whose it is. */
  EngineKind engine();

  /** Whether {@code serviceName} is what this service is called on the wire. */
  boolean named(String serviceName);

  /**
   * Checks that a request can be carried.
   *
   * @param noTokens why the prompt has no tokens, where it has none
   * @throws InexpressibleException saying which part can't, and what to do
   */
  void check(String path, byte[] body, @Nullable PromptTokens tokens, @Nullable String noTokens)
      throws InexpressibleException;

  /**
   * Makes the call of a request.
   *
   * @param rid the id by which it can be aborted
   * @param facts what the probe told of the model
   * @param createdSeconds the time, in seconds since 1970
   * @throws InexpressibleException as {@link #check}
   */
  WireCall<?, ?> call(OutboundRequest request, String rid, ModelFacts facts, long createdSeconds)
      throws InexpressibleException;

  /**
   * Asks a worker whether it offers this service, and what it is.
   *
   * @return null where it does not offer it
   * @throws TransportException when it can't be asked
   */
  @Nullable ServiceReport probe(ControlCalls calls, Worker worker) throws TransportException;

  /** Asks whether it can serve. */
  HealthReport health(ControlCalls calls) throws TransportException;

  /** Reads its load; without ranks where it tells none. */
  LoadReport load(ControlCalls calls, Worker worker) throws TransportException;

  /** Whether a load of zeros may mean that the engine counts nothing. */
  default boolean zeroMayBeUnknown() {
    return false;
  }

  /** Ends a request. */
  void abort(ControlCalls calls, String rid) throws TransportException;

  /** Whether the engine goes on with a request whose call is cancelled, until it is aborted. */
  default boolean outlivesCancel() {
    return false;
  }

  /**
   * Empties the prefix cache.
   *
   * @return false where the engine refused, being busy
   * @throws TransportException when it fails, or the service has no such call
   */
  boolean flush(ControlCalls calls) throws TransportException;

  /** Whether it has a call that empties the prefix cache. */
  default boolean flushes() {
    return true;
  }

  /**
   * Does what only some services have a call for: ending all, pausing, resuming, profiling.
   *
   * @return null where it has none
   * @throws TransportException when it can't be asked
   */
  default @Nullable AdminReply admin(ControlCalls calls, AdminCommand command)
      throws TransportException {
    return null;
  }

  /** The call by which it tells of its KV cache, or null where it has none. */
  default @Nullable MethodDescriptor<SubscribeKvEventsRequest, KvEventBatch> kvEvents() {
    return null;
  }
}

package dev.warmpath.transport;

import dev.warmpath.worker.Worker;
import dev.warmpath.worker.WorkerId;
import java.time.Duration;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A way to reach workers. One instance serves all workers of its schemes; thread safe. All calls
 * but {@link #open} block the calling thread, for at most the given time; interrupting it ends the
 * call.
 */
public interface Transport extends AutoCloseable {
  /** The URL schemes it serves, such as {@code http}, {@code https}. */
  Set<String> schemes();

  /**
   * Whether there are requests that it can't carry, or engines that want a prompt's tokens: {@link
   * #examine} is asked then, and {@link OutboundRequest#tokens} given.
   */
  default boolean choosy() {
    return false;
  }

  /**
   * Looks at a request before each decision, so that workers which can't be sent it are not chosen.
   * Quick; called on the deciding thread.
   *
   * @return tells of a worker of this transport why it can't be sent the request and what to do
   *     about it, or null if it can
   */
  default Function<Worker, @Nullable String> examine(Draft draft) {
    return worker -> null;
  }

  /** Prepares an exchange; no I/O happens yet. */
  Exchange open(OutboundRequest request);

  /**
   * Says who the workers are, whenever that changes, so that what is kept of others can be let go;
   * requests that run at those that left run on. Calls for a worker that has just left may still
   * come. Quick; called on a changing thread, one call at a time.
   *
   * @param workers all workers of the client, those of other transports' schemes too
   */
  default void retain(Set<WorkerId> workers) {}

  /**
   * Finds out what a worker is.
   *
   * @throws TransportException when the worker can't be reached or answers nothing that could be
   *     understood
   */
  ProbeReport probe(Worker worker, Duration timeout) throws TransportException;

  /**
   * Asks the worker's health endpoint.
   *
   * @throws TransportException when it can't be reached ({@code CONNECT}), or does not answer in
   *     time
   */
  HealthReport health(Worker worker, Duration timeout) throws TransportException;

  /**
   * Reads the worker's load from the best source it offers. A worker that offers none gives a
   * report without ranks.
   *
   * @throws TransportException when the worker can't be reached or what it says is not understood
   */
  LoadReport load(Worker worker, Duration timeout) throws TransportException;

  /** How its connections stand; null where it does not tell. */
  default @Nullable TransportStats stats() {
    return null;
  }

  /**
   * Has a worker do what an operator wants, or says why it can't. Never throws: what goes wrong is
   * an outcome.
   */
  default AdminReply admin(Worker worker, AdminCommand command, Duration timeout) {
    return AdminReply.of(
        AdminReply.Outcome.UNSUPPORTED, "the transport of this worker has no admin calls");
  }

  /**
   * Frees what the transport itself created; what was passed to it stays its owner's. Idempotent.
   */
  @Override
  void close();
}

package dev.warmpath.grpc.internal;

import dev.warmpath.api.FailurePhase;
import dev.warmpath.transport.TransportException;
import dev.warmpath.transport.TransportException.Kind;
import io.grpc.Status;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.UnknownHostException;
import java.nio.channels.UnresolvedAddressException;

/** What gRPC statuses amount to. */
public final class Statuses {
  private Statuses() {}

  /**
   * The HTTP status that a server's status amounts to, as gRPC's own mapping of the two has it; a
   * message that is too large is 413.
   */
  public static int http(Status status) {
    return switch (status.getCode()) {
      case OK -> 200;
      case INVALID_ARGUMENT, FAILED_PRECONDITION, OUT_OF_RANGE -> 400;
      case UNAUTHENTICATED -> 401;
      case PERMISSION_DENIED -> 403;
      case NOT_FOUND -> 404;
      case ALREADY_EXISTS, ABORTED -> 409;
      case RESOURCE_EXHAUSTED -> tooLarge(status) ? 413 : 429;
      case CANCELLED -> 499;
      case UNIMPLEMENTED -> 501;
      case UNAVAILABLE -> 503;
      case DEADLINE_EXCEEDED -> 504;
      case UNKNOWN, INTERNAL, DATA_LOSS -> 500;
    };
  }

  private static boolean tooLarge(Status status) {
    String description = status.getDescription();
    return description != null && description.contains("larger than max");
  }

  /**
   * Whether the connection rather than the server ended a call. gRPC's transports name no cause for
   * what a server said.
   */
  public static boolean connectionBroke(Status status) {
    return status.getCode() == Status.Code.UNAVAILABLE && status.getCause() != null;
  }

  /** Whether no connection could be made. */
  public static boolean notConnected(Status status) {
    for (Throwable cause = status.getCause(); cause != null; cause = cause.getCause()) {
      if (cause instanceof ConnectException
          || cause instanceof UnknownHostException
          || cause instanceof NoRouteToHostException
          || cause instanceof UnresolvedAddressException) {
        return true;
      }
    }
    String description = status.getDescription();
    return description != null
        && (description.startsWith("Unable to resolve host") || description.contains("TLS"));
  }

  /** A status of a probe, a health check or a load reading as the transport's error. */
  static TransportException controlFailure(Status status, String method) {
    Kind kind =
        switch (status.getCode()) {
          case UNAVAILABLE -> connectionBroke(status) ? Kind.CONNECT : Kind.PROTOCOL;
          case DEADLINE_EXCEEDED -> Kind.FIRST_TOKEN_TIMEOUT;
          case CANCELLED -> Kind.CANCELLED;
          default -> Kind.PROTOCOL;
        };
    FailurePhase phase = kind == Kind.CONNECT ? FailurePhase.CONNECT : FailurePhase.STATUS;
    return new TransportException(
        kind, phase, http(status), method + " answers " + status.getCode(), status.asException());
  }

  /** What a server said makes no sense. */
  static TransportException notUnderstood(String message) {
    return new TransportException(Kind.PROTOCOL, FailurePhase.STATUS, 0, message, null);
  }
}

package dev.warmpath.fake.internal.grpc;

import dev.warmpath.fake.internal.surface.ApiError;
import io.grpc.Status;

/** What an HTTP status is in gRPC, by the servicers' mapping and gRPC's own habits. */
final class Statuses {
  private Statuses() {}

  static Status of(ApiError error) {
    return of(error.status()).withDescription(error.detail());
  }

  static Status of(int httpStatus) {
    return switch (httpStatus) {
      case 400, 405, 422 -> Status.INVALID_ARGUMENT;
      case 401 -> Status.UNAUTHENTICATED;
      case 403 -> Status.PERMISSION_DENIED;
      case 404 -> Status.NOT_FOUND;
      case 408, 504 -> Status.DEADLINE_EXCEEDED;
      case 409 -> Status.ABORTED;
      case 413, 429 -> Status.RESOURCE_EXHAUSTED;
      case 499 -> Status.CANCELLED;
      case 501 -> Status.UNIMPLEMENTED;
      case 502, 503 -> Status.UNAVAILABLE;
      default -> Status.INTERNAL;
    };
  }
}

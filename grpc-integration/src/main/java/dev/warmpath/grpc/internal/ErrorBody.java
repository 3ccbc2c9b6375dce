package dev.warmpath.grpc.internal;

import java.nio.charset.StandardCharsets;

/** Error answers in the form of the engines' HTTP servers. */
public final class ErrorBody {
  private ErrorBody() {}

  /** The JSON of an error. */
  public static byte[] of(int status, String message) {
    return BodyFields.JSON
        .createObjectNode()
        .set(
            "error",
            BodyFields.JSON
                .createObjectNode()
                .put("message", message)
                .put("type", status < 500 ? "invalid_request_error" : "server_error")
                .put("code", status))
        .toString()
        .getBytes(StandardCharsets.UTF_8);
  }
}

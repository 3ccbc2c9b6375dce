package dev.warmpath.fake.internal.surface;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;

/** An answer that is an error, in the shape of the engine that gives it. */
public final class ApiError extends RuntimeException {
  private static final long serialVersionUID = 1;
  private final int status;
  private final transient JsonNode body;

  ApiError(int status, JsonNode body) {
    super("status " + status, null, false, false);
    this.status = status;
    this.body = body;
  }

  /**
   * Returns the HTTP status.
   *
   * @return 400 to 599
   */
  public int status() {
    return status;
  }

  /**
   * Returns what it says.
   *
   * @return the message in the body, wherever the engine has it
   */
  public String detail() {
    for (String place : List.of("/message", "/error/message", "/error", "/detail")) {
      JsonNode text = body.at(place);
      if (text.isTextual()) {
        return text.asText();
      }
    }
    return body.toString();
  }

  JsonNode body() {
    return body;
  }
}

package dev.warmpath.fake.internal.http;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A request that was read completely.
 *
 * @param method upper-case method
 * @param path decoded path without the query
 * @param query decoded query parameters, the last value of each
 * @param headers headers by lower-case name, repeated ones joined with a comma
 * @param body the body, empty if there is none
 */
public record HttpRequest(
    String method,
    String path,
    Map<String, String> query,
    Map<String, String> headers,
    byte[] body) {

  /**
   * Looks a header up.
   *
   * @param lowerCaseName its name in lower case
   * @return its value or null
   */
  public @Nullable String header(String lowerCaseName) {
    return headers.get(lowerCaseName);
  }

  @Override
  public String toString() {
    return method + " " + path + " (" + body.length + " bytes)";
  }
}

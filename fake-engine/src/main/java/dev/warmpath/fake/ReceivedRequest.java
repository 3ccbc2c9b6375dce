package dev.warmpath.fake;

import java.util.Map;

/**
 * A request as it reached a fake engine, for tests that check what a client sends.
 *
 * @param method HTTP method
 * @param path path without query
 * @param query query parameters
 * @param headers headers by lower-case name
 * @param body exact bytes of the body
 */
public record ReceivedRequest(
    String method,
    String path,
    Map<String, String> query,
    Map<String, String> headers,
    byte[] body) {

  @Override
  public String toString() {
    return method + " " + path + " (" + body.length + " bytes)";
  }
}

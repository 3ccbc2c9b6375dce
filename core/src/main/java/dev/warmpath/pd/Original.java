package dev.warmpath.pd;

import dev.warmpath.api.Headers;

/**
 * The request as the caller gave it.
 *
 * @param path its path without query
 * @param headers its headers, routing headers removed
 * @param body its body's fields
 * @param stream whether it asks for a stream
 */
record Original(String path, Headers headers, JsonFields body, boolean stream) {
  static final String GENERATE = "/generate";

  /**
   * Whether its answer tells of the prompt's tokens, which prefill and decode each know in part.
   */
  boolean promptLogprobs() {
    return path.equals(GENERATE) && "true".equals(body.text("return_logprob"));
  }

  /** Headers with the attempt's request id; the caller's own goes on under another name. */
  Headers identified(String requestId) {
    String own = headers.get("X-Request-Id");
    Headers out = headers.without("X-Request-Id");
    if (own != null && out.get("X-Correlation-Id") == null) {
      out = out.with("X-Correlation-Id", own);
    }
    return out.with("X-Request-Id", requestId);
  }
}

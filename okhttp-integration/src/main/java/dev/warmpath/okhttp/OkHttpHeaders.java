package dev.warmpath.okhttp;

import dev.warmpath.api.Headers;

/** OkHttp's headers as the API's. */
final class OkHttpHeaders {
  private OkHttpHeaders() {}

  static Headers of(okhttp3.Headers headers) {
    String[] pairs = new String[headers.size() * 2];
    for (int i = 0; i < headers.size(); i++) {
      pairs[2 * i] = headers.name(i);
      pairs[2 * i + 1] = headers.value(i);
    }
    return Headers.of(pairs);
  }
}

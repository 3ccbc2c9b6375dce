package dev.warmpath.prompt.tokenizer.internal.huggingface;

import dev.warmpath.prompt.tokenizer.internal.unicode.Utf8;
import java.nio.charset.StandardCharsets;

/** A stretch of well-formed UTF-8 in an array that nobody changes. */
record Slice(byte[] bytes, int from, int to) {
  static Slice of(byte[] bytes) {
    return new Slice(bytes, 0, bytes.length);
  }

  static Slice of(String text) {
    return of(text.getBytes(StandardCharsets.UTF_8));
  }

  boolean isEmpty() {
    return from == to;
  }

  boolean isAscii() {
    return Utf8.firstNonAscii(bytes, from, to) == to;
  }

  String text() {
    return new String(bytes, from, to - from, StandardCharsets.UTF_8);
  }
}

package dev.warmpath.prompt.tokenizer.internal.huggingface;

import dev.warmpath.prompt.tokenizer.internal.unicode.Bytes;
import dev.warmpath.prompt.tokenizer.internal.unicode.Utf8;

/** UTF-8 that arrives in pieces, as text; ill-formed parts become U+FFFD. */
final class StreamingUtf8 {
  private final Bytes pending = new Bytes(64);

  /** The text that is certain with these bytes. */
  String append(byte[] bytes) {
    return append(bytes, 0, bytes.length);
  }

  /** The text that is certain with these bytes. */
  String append(byte[] bytes, int from, int to) {
    pending.append(bytes, from, to);
    int held = Utf8.incompleteTail(pending.array(), 0, pending.size());
    int end = pending.size() - held;
    String text = Utf8.decode(pending.array(), 0, end);
    byte[] array = pending.array();
    System.arraycopy(array, end, array, 0, held);
    pending.truncate(held);
    return text;
  }

  /** The text of what was held back. */
  String finish() {
    String text = Utf8.decode(pending.array(), 0, pending.size());
    pending.truncate(0);
    return text;
  }
}

package dev.warmpath.index.kv;

/** A message of an engine that can't be read. What it says is not quoted: tokens are a prompt. */
public final class MalformedBatchException extends IllegalArgumentException {
  private static final long serialVersionUID = 1L;

  MalformedBatchException(String reason) {
    super("a batch of KV events can't be read: " + reason);
  }
}

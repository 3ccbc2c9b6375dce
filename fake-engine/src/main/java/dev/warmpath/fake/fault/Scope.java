package dev.warmpath.fake.fault;

/** The kinds of endpoint that a fault can be confined to. */
public enum Scope {
  /** Inference: chat, completions, embeddings, responses and native generation. */
  GENERATE,
  /** Health probes. */
  HEALTH,
  /** Load and metrics. */
  LOAD,
  /** Flush, abort, pause and the like. */
  ADMIN,
  /** Everything else: models, server info, version, tokenization. */
  INFO,
  /** Batches of KV events that are about to be published; no request, and not among {@code all}. */
  EVENTS,
  /**
   * A prefill or decode worker is about to take part in a handoff. This and the other moments of
   * handoffs are no requests, and not among {@code all}.
   */
  BIND,
  /** A prefill worker has computed a prompt, and nothing is transferred yet. */
  HELD,
  /** Half of the KV has moved; on either side. */
  TRANSFER,
  /** A decode worker has the KV, and no token yet. */
  DELIVERED
}

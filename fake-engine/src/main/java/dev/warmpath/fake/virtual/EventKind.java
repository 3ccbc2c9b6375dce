package dev.warmpath.fake.virtual;

/**
 * What an event of {@link VirtualTime} is about. Of events at the same time the ones whose kind is
 * declared first happen first: what the hardware finishes is seen by what the clients ask for, and
 * both are seen by the next pass.
 */
public enum EventKind {
  /** An offload or transfer of KV blocks ends. */
  TRANSFER,
  /** A forward pass ends. */
  PASS_END,
  /** A command reaches a rank. */
  COMMAND,
  /** A request arrives, a timer of a client expires, a poller looks. */
  ARRIVAL,
  /** A rank takes what arrived and starts a forward pass. */
  PASS_START
}

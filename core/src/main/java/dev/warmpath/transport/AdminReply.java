package dev.warmpath.transport;

import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;

/**
 * What a command came to at one engine.
 *
 * @param outcome what it came to
 * @param detail the engine's word for it, or what to do about it
 * @param emptied the tiers that were emptied; engines may empty more than was asked for
 */
public record AdminReply(Outcome outcome, String detail, Set<CacheLevel> emptied) {
  /** What a command can come to. */
  public enum Outcome {
    /** The engine did it. */
    DONE,
    /** The engine took it and says the same whether or not it did anything. */
    ACCEPTED,
    /** There was nothing to send. */
    NOTHING,
    /** The engine can't while it has requests. */
    BUSY,
    /** The engine has no such call. */
    UNSUPPORTED,
    /** The engine has such a call in its development mode only. */
    NEEDS_DEV_MODE,
    /** The engine wants its admin key. */
    NEEDS_ADMIN_KEY,
    /** The engine was not reached: nothing was done. */
    UNREACHABLE,
    /** No answer came in time: it may have been done or not. */
    UNKNOWN,
    /** The engine tried and failed, or answered something that is not understood. */
    FAILED;

    /** As it is written in JSON: {@code needs_dev_mode}. */
    private final String label = name().toLowerCase(Locale.ROOT);

    public String label() {
      return label;
    }

    /** Whether what was asked for holds, as far as the engine tells. */
    public boolean success() {
      return this == DONE || this == ACCEPTED || this == NOTHING;
    }
  }

  /** Copies the tiers. */
  public AdminReply {
    emptied = Set.copyOf(emptied);
  }

  /** A reply that emptied nothing. */
  public static AdminReply of(Outcome outcome, String detail) {
    return new AdminReply(outcome, detail, Set.of());
  }

  /** The same, with what was emptied. */
  public AdminReply emptying(CacheLevel first, CacheLevel... more) {
    return new AdminReply(outcome, detail, EnumSet.of(first, more));
  }

  /** What a call came to that had no usable answer. */
  public static AdminReply of(TransportException e) {
    String detail = String.valueOf(e.getMessage());
    return switch (e.status()) {
      case 401, 403 -> of(Outcome.NEEDS_ADMIN_KEY, detail);
      case 501 -> of(Outcome.UNSUPPORTED, detail);
      default ->
          switch (e.kind()) {
            case CONNECT -> of(Outcome.UNREACHABLE, detail);
            case FIRST_TOKEN_TIMEOUT, IDLE_TIMEOUT, DEADLINE, RESET, CANCELLED ->
                of(Outcome.UNKNOWN, detail);
            default -> of(Outcome.FAILED, detail);
          };
    };
  }
}

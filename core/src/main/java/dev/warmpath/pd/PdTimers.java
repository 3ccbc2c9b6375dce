package dev.warmpath.pd;

import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The deadlines of one session: at most one of each kind, compared by difference. */
final class PdTimers {
  /** What is waited for. */
  enum Kind {
    DEADLINE,
    PREFILL,
    RENDEZVOUS,
    GRACE,
    HANDOFF,
    FIRST_PAYLOAD,
    IDLE,
    DRAIN,
    SETTLE,
    RELEASE
  }

  private final Map<Kind, Long> due = new EnumMap<>(Kind.class);

  void arm(Kind kind, long now, Duration after) {
    armAt(kind, now + Math.max(0, after.toNanos()));
  }

  void armAt(Kind kind, long at) {
    due.put(kind, at);
  }

  void disarm(Kind kind) {
    due.remove(kind);
  }

  /** Disarms all but the request's own deadline. */
  void clear() {
    due.keySet().removeIf(kind -> kind != Kind.DEADLINE);
  }

  void clearAll() {
    due.clear();
  }

  boolean due(Kind kind, long now) {
    Long at = due.get(kind);
    return at != null && now - at >= 0;
  }

  /** The earliest of all, or null where nothing is waited for. */
  @Nullable Long next() {
    Long next = null;
    for (Long at : due.values()) {
      if (next == null || at - next < 0) {
        next = at;
      }
    }
    return next;
  }
}

package dev.warmpath.pd;

import java.util.Locale;

/** How one leg of a session ended: each leg has exactly one outcome. */
enum LegOutcome {
  /** It did its part: a whole, successful answer. */
  OK,
  /** It answered with an error status. */
  HTTP_ERROR,
  /** Its answer is no answer: broken off without its end, an error object under status 200. */
  PROTOCOL_ERROR,
  /** The connection failed. */
  IO_ERROR,
  /** It took too long. */
  TIMED_OUT,
  /** The session gave it up. */
  CANCELLED,
  /** It was never sent. */
  NOT_SENT;

  /** The lower-case name used in labels. */
  String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}

package dev.warmpath.grpc.internal;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Cuts a growing text at the first stop string. Text that may still turn out to begin one is held
 * back. For one answer; not for use by several threads.
 */
final class StopCutter {
  private final List<String> stops;
  private final boolean include;
  private final StringBuilder held = new StringBuilder();
  private @Nullable String matched;

  /**
   * Creates a cutter.
   *
   * @param include whether the stop string itself stays in the text
   */
  StopCutter(List<String> stops, boolean include) {
    this.stops = stops;
    this.include = include;
  }

  /** The stop string that ended the text, or null. */
  @Nullable String matched() {
    return matched;
  }

  /**
   * Takes in more text.
   *
   * @return the text that is certain to be part of the answer; nothing more after a stop string
   */
  String append(String text) {
    if (matched != null) {
      return "";
    }
    if (stops.isEmpty()) {
      return text;
    }
    held.append(text);
    int at = firstStop();
    int certain = matched == null ? held.length() - beginning() : at;
    String out = held.substring(0, certain);
    held.delete(0, matched == null ? certain : held.length());
    return out;
  }

  /** Ends the text and gives what was held back. */
  String finish() {
    String rest = held.toString();
    held.setLength(0);
    return rest;
  }

  /** Where the text ends by its first stop string; notes which that is. */
  private int firstStop() {
    int first = Integer.MAX_VALUE;
    for (String stop : stops) {
      int at = held.indexOf(stop);
      if (at >= 0 && at < first) {
        first = at;
        matched = stop;
      }
    }
    String by = matched;
    return by != null && include ? first + by.length() : first;
  }

  /** Length of the longest end of the held text with which a stop string begins. */
  private int beginning() {
    int longest = 0;
    for (String stop : stops) {
      for (int n = Math.min(stop.length() - 1, held.length()); n > longest; n--) {
        if (endsWithStartOf(stop, n)) {
          longest = n;
        }
      }
    }
    return longest;
  }

  private boolean endsWithStartOf(String stop, int length) {
    int from = held.length() - length;
    for (int i = 0; i < length; i++) {
      if (held.charAt(from + i) != stop.charAt(i)) {
        return false;
      }
    }
    return true;
  }
}

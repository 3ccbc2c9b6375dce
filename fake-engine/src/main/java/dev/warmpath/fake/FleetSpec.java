package dev.warmpath.fake;

import dev.warmpath.worker.WorkerRole;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How many workers of which role make a fleet.
 *
 * @param regular workers that do everything
 * @param prefill prefill workers
 * @param decode decode workers
 */
public record FleetSpec(int regular, int prefill, int decode) {
  private static final Pattern REGULAR = Pattern.compile("(\\d{1,4})");
  private static final Pattern DISAGGREGATED = Pattern.compile("(\\d{1,4})[pP](\\d{1,4})[dD]");

  /** Checks that there is a worker at all. */
  public FleetSpec {
    if (regular < 0 || prefill < 0 || decode < 0 || regular + prefill + decode < 1) {
      throw new IllegalArgumentException("a fleet needs at least one worker");
    }
  }

  /**
   * Parses a command line's spec.
   *
   * @param spec {@code 4} for four regular workers, {@code 2p2d} for two prefill and two decode
   *     workers
   * @return the fleet
   * @throws IllegalArgumentException if it is neither
   */
  public static FleetSpec parse(String spec) {
    String text = spec.strip();
    Matcher regular = REGULAR.matcher(text);
    if (regular.matches()) {
      return new FleetSpec(Integer.parseInt(regular.group(1)), 0, 0);
    }
    Matcher disaggregated = DISAGGREGATED.matcher(text);
    if (disaggregated.matches()) {
      return new FleetSpec(
          0, Integer.parseInt(disaggregated.group(1)), Integer.parseInt(disaggregated.group(2)));
    }
    throw new IllegalArgumentException(
        "unknown fleet '" + spec + "': expected a number such as 4, or 2p2d");
  }

  /**
   * Returns the role of each worker: regular, then prefill, then decode ones.
   *
   * @return one role for each worker
   */
  public List<WorkerRole> roles() {
    List<WorkerRole> roles = new ArrayList<>();
    roles.addAll(Collections.nCopies(regular, WorkerRole.REGULAR));
    roles.addAll(Collections.nCopies(prefill, WorkerRole.PREFILL));
    roles.addAll(Collections.nCopies(decode, WorkerRole.DECODE));
    return roles;
  }

  /** The form that {@link #parse} reads, where there is one. */
  @Override
  public String toString() {
    if (prefill + decode == 0) {
      return Integer.toString(regular);
    }
    String disaggregated = prefill + "p" + decode + "d";
    return regular == 0 ? disaggregated : regular + "+" + disaggregated;
  }
}

package dev.warmpath.examples;

import dev.warmpath.fake.umbp.FakeUmbpMaster;
import java.time.Duration;

/** What may be wrong with a fake UMBP master, as the command line has it. */
final class UmbpFaults {
  private static final String SLOW = "slow=";

  private UmbpFaults() {}

  /** Switches comma-separated faults on: {@code hang}, {@code lie}, {@code slow=MS}. */
  static void apply(String faults, FakeUmbpMaster master) {
    for (String fault : faults.split(",", -1)) {
      if (fault.equals("hang")) {
        master.hang(true);
      } else if (fault.equals("lie")) {
        master.lie(true);
      } else if (fault.matches(SLOW + "\\d{1,6}")) {
        master.slow(Duration.ofMillis(Integer.parseInt(fault.substring(SLOW.length()))));
      } else {
        throw CommandFailure.usage(
            "no fault '" + fault + "' of a UMBP master: use hang, lie or slow=MS");
      }
    }
  }
}

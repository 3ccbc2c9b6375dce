package dev.warmpath.fake.load;

import java.util.ArrayList;
import java.util.List;

/**
 * Workloads with one working set of known size, for closed loops: what a cache of a given capacity
 * is worth under a policy can be reckoned by hand, and checked.
 */
final class CapacityWorkloads {
  private CapacityWorkloads() {}

  /** One-shot prompts that come back to each shared prefix in turn, the longest way round. */
  static List<TraceSession> cyclic(WorkloadParameters set, long seed) {
    BlockIds ids = new BlockIds();
    BlockIds.Run[] groups = new BlockIds.Run[set.atLeastOne("groups")];
    for (int i = 0; i < groups.length; i++) {
      groups[i] = ids.take(set.whole("shared"));
    }
    int first = new Draws(seed).uniform(0, groups.length - 1);
    List<TraceSession> sessions = new ArrayList<>();
    for (int i = 0; i < set.atLeastOne("requests"); i++) {
      int group = (first + i) % groups.length;
      sessions.add(
          new SessionBuilder("cyclic-" + i, "group-" + group, i, ids)
              .system(groups[group])
              .turn(set.atLeastOne("unique"), set.atLeastOne("output"), 0)
              .build());
    }
    return sessions;
  }

  /**
   * Chats of equal turns. Those of the first users are met somewhere in their course, as in a fleet
   * that has been running for long.
   */
  static List<TraceSession> turns(WorkloadParameters set, long seed) {
    Draws draws = new Draws(seed);
    BlockIds ids = new BlockIds();
    BlockIds.Run common = ids.take(set.whole("common"));
    int turns = set.atLeastOne("turns");
    int message = set.atLeastOne("message");
    int output = set.atLeastOne("output");
    List<TraceSession> sessions = new ArrayList<>();
    for (int i = 0; i < set.atLeastOne("sessions"); i++) {
      int said = i < set.whole("users") ? draws.uniform(0, turns - 1) : 0;
      SessionBuilder session =
          new SessionBuilder("turns-" + i, "turns", i, ids)
              .system(common)
              .turn(message + said * (message + output), output, 0);
      for (int turn = said + 1; turn < turns; turn++) {
        session.turn(message, output, set.millis("think"));
      }
      sessions.add(session.build());
    }
    return sessions;
  }
}

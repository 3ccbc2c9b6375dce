package dev.warmpath.fake.load;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/** Workloads of prompts that share what stands in front: documents, system prompts, tools. */
final class PromptWorkloads {
  private PromptWorkloads() {}

  static List<TraceSession> rag(WorkloadParameters set, long seed) {
    Draws draws = new Draws(seed);
    BlockIds ids = new BlockIds();
    BlockIds.Run common = ids.take(set.whole("common"));
    BlockIds.Run[] documents = new BlockIds.Run[set.atLeastOne("documents")];
    for (int i = 0; i < documents.length; i++) {
      int length = draws.lognormal(set.number("document"), 0.6, 256, 16_384);
      documents[i] = ids.take(length / BlockIds.TOKENS * BlockIds.TOKENS);
    }
    Draws.Zipf pick = draws.zipf(documents.length, set.number("zipf"));
    double gap = set.gapMs("rate");
    double end = set.millis("duration");
    List<TraceSession> sessions = new ArrayList<>();
    for (double at = draws.exponential(gap); at < end; at += draws.exponential(gap)) {
      int document = pick.next();
      sessions.add(
          new SessionBuilder("rag-" + sessions.size(), "document-" + document, at, ids)
              .system(common)
              .document(documents[document])
              .turn(draws.uniform(64, 319), draws.lognormal(set.number("output"), 0.6, 8, 800), 0)
              .build());
    }
    return sessions;
  }

  /** The document is the system message, alone, so that its KV is that of every prompt with it. */
  static List<TraceSession> knowledge(WorkloadParameters set, long seed) {
    Draws draws = new Draws(seed);
    BlockIds ids = new BlockIds();
    BlockIds.Run[] documents = new BlockIds.Run[set.atLeastOne("documents")];
    for (int i = 0; i < documents.length; i++) {
      int length = draws.lognormal(set.number("document"), 0.6, 256, 16_384);
      documents[i] = ids.take(length / BlockIds.TOKENS * BlockIds.TOKENS);
    }
    Draws.Zipf pick = draws.zipf(documents.length, set.number("zipf"));
    int turns = set.atLeastOne("turns");
    double gap = turns * set.gapMs("rate");
    double end = set.millis("duration");
    List<TraceSession> sessions = new ArrayList<>();
    for (double at = draws.exponential(gap); at < end; at += draws.exponential(gap)) {
      int document = pick.next();
      SessionBuilder session =
          new SessionBuilder("knowledge-" + sessions.size(), "document-" + document, at, ids)
              .system(documents[document]);
      for (int turn = 0; turn < turns; turn++) {
        session.turn(
            draws.uniform(64, 319),
            draws.lognormal(set.number("output"), 0.6, 8, 800),
            turn == 0 ? 0 : draws.exponential(set.millis("think")));
      }
      sessions.add(session.build());
    }
    return sessions;
  }

  static List<TraceSession> sharedPrefix(WorkloadParameters set, long seed) {
    Draws draws = new Draws(seed);
    BlockIds ids = new BlockIds();
    BlockIds.Run[] groups = new BlockIds.Run[set.atLeastOne("groups")];
    for (int i = 0; i < groups.length; i++) {
      groups[i] = ids.take(set.whole("system"));
    }
    List<Integer> order = new ArrayList<>();
    Draws.Zipf pick = draws.zipf(groups.length, set.number("zipf"));
    for (int i = 0; i < groups.length * set.whole("prompts"); i++) {
      order.add(set.number("zipf") == 0 ? i % groups.length : pick.next());
    }
    Collections.shuffle(order, new Random(seed));
    int turns = set.atLeastOne("turns");
    double gap = turns * set.gapMs("rate");
    double range = Math.min(1, set.number("range"));
    List<TraceSession> sessions = new ArrayList<>();
    double at = 0;
    for (int i = 0; i < order.size(); i++) {
      at += draws.exponential(gap);
      int group = order.get(i);
      SessionBuilder session =
          new SessionBuilder("shared-" + i, "group-" + group, at, ids).system(groups[group]);
      for (int turn = 0; turn < turns; turn++) {
        session.turn(
            length(draws, set.atLeastOne("question"), range),
            length(draws, set.atLeastOne("output"), range),
            turn == 0 ? 0 : draws.exponential(set.millis("think")));
      }
      sessions.add(session.build());
    }
    return sessions;
  }

  private static int length(Draws draws, int length, double range) {
    return range == 1 ? length : draws.uniform(Math.max(1, (int) (length * range)), length);
  }

  static List<TraceSession> agents(WorkloadParameters set, long seed) {
    Draws draws = new Draws(seed);
    BlockIds ids = new BlockIds();
    BlockIds.Run[] tools = new BlockIds.Run[set.atLeastOne("tools")];
    for (int i = 0; i < tools.length; i++) {
      tools[i] = ids.take(set.whole("system"));
    }
    double gap = set.gapMs("rate");
    double end = set.millis("duration");
    List<TraceSession> sessions = new ArrayList<>();
    for (double at = draws.exponential(gap); at < end; at += draws.exponential(gap)) {
      int number = sessions.size();
      int program = number % tools.length;
      SessionBuilder session =
          new SessionBuilder("agent-" + number, "tools-" + program, at, ids).system(tools[program]);
      int steps = draws.uniform(1, set.atLeastOne("steps"));
      for (int step = 0; step < steps; step++) {
        session.turn(
            draws.lognormal(set.number("result"), 0.8, 16, 8_000),
            draws.lognormal(set.number("output"), 0.5, 8, 600),
            step == 0 ? 0 : draws.exponential(set.millis("latency")));
      }
      sessions.add(session.build());
    }
    return sessions;
  }
}

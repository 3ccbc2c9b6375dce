package dev.warmpath.fake.load;

import java.util.ArrayList;
import java.util.List;

/** Multi-turn chats on shared system prompts. */
final class ChatWorkloads {
  private final WorkloadParameters set;
  private final Draws draws;
  private final BlockIds ids = new BlockIds();
  private final BlockIds.Run[] prompts;
  private final Draws.Zipf pick;

  /** System prompts of 1,024 to 4,095 tokens, rounded down to whole blocks, drawn by Zipf's law. */
  private ChatWorkloads(WorkloadParameters set, long seed) {
    this.set = set;
    this.draws = new Draws(seed);
    this.prompts = new BlockIds.Run[set.atLeastOne("prompts")];
    for (int i = 0; i < prompts.length; i++) {
      prompts[i] = ids.take(draws.uniform(1_024, 4_095) / BlockIds.TOKENS * BlockIds.TOKENS);
    }
    this.pick = draws.zipf(prompts.length, set.number("zipf"));
  }

  static List<TraceSession> sessions(WorkloadParameters set, long seed) {
    return new ChatWorkloads(set, seed).openLoop();
  }

  static List<TraceSession> closed(WorkloadParameters set, long seed) {
    ChatWorkloads chats = new ChatWorkloads(set, seed);
    List<TraceSession> sessions = new ArrayList<>();
    for (int i = 0; i < set.whole("sessions"); i++) {
      sessions.add(chats.chat(i, i));
    }
    return sessions;
  }

  static List<TraceSession> flashCrowd(WorkloadParameters set, long seed) {
    ChatWorkloads chats = new ChatWorkloads(set, seed);
    List<TraceSession> sessions = chats.openLoop();
    Draws draws = new Draws(seed ^ 0xf1a5);
    BlockIds.Run prefix = chats.ids.take(set.whole("prefix"));
    double gap = set.gapMs("rate");
    double end = set.millis("duration");
    int number = 0;
    for (double at = set.millis("at") + draws.exponential(gap);
        at < end;
        at += draws.exponential(gap)) {
      sessions.add(
          new SessionBuilder("flash-" + number++, "flash", at, chats.ids)
              .system(prefix)
              .turn(draws.uniform(64, 319), draws.lognormal(150, 0.6, 8, 800), 0)
              .build());
    }
    return sessions;
  }

  /** Sessions begin at the rate at which their turns then add up to the rate of requests. */
  private List<TraceSession> openLoop() {
    double gap = (set.number("turns") + 0.5) * set.gapMs("rate");
    double end = set.millis("duration");
    List<TraceSession> sessions = new ArrayList<>();
    for (double at = draws.exponential(gap); at < end; at += draws.exponential(gap)) {
      sessions.add(chat(sessions.size(), at));
    }
    return sessions;
  }

  private TraceSession chat(int number, double at) {
    int turns = (int) Math.min(20, 1 + Math.floor(draws.exponential(set.number("turns"))));
    int prompt = pick.next();
    SessionBuilder session =
        new SessionBuilder("session-" + number, "system-" + prompt, at, ids)
            .system(prompts[prompt]);
    for (int turn = 0; turn < turns; turn++) {
      int message = draws.lognormal(set.number(turn == 0 ? "first" : "later"), 0.9, 16, 8_000);
      int output = draws.lognormal(set.number("output"), 0.7, 8, 1_200);
      session.turn(message, output, turn == 0 ? 0 : draws.exponential(set.millis("think")));
    }
    return session.build();
  }
}

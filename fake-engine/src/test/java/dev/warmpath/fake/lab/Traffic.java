package dev.warmpath.fake.lab;

import dev.warmpath.fake.load.TraceRequest;
import dev.warmpath.fake.load.TraceSession;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** Small workloads for tests, drawn from a seed. */
final class Traffic {
  private Traffic() {}

  /** Chats of three turns on one of four system prompts, beginning a second apart on average. */
  static List<TraceSession> chats(int sessions, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    List<TraceSession> all = new ArrayList<>();
    double at = 0;
    long fresh = 1_000;
    for (int i = 0; i < sessions; i++) {
      at += -1_000 * Math.log(1 - random.nextDouble());
      List<Long> ids = new ArrayList<>();
      long system = random.nextInt(4);
      for (int block = 0; block < 8; block++) {
        ids.add(system * 100 + block);
      }
      List<TraceRequest> turns = new ArrayList<>();
      for (int turn = 0; turn < 3; turn++) {
        int blocks = 1 + random.nextInt(6);
        for (int block = 0; block < blocks; block++) {
          ids.add(fresh++);
        }
        turns.add(
            new TraceRequest(
                at,
                "chat-" + i,
                turn == 0 ? 0 : 200 + random.nextInt(2_000),
                ids.size() * 64 - random.nextInt(64),
                5 + random.nextInt(60),
                ids.stream().mapToLong(id -> id).toArray(),
                64,
                ""));
      }
      all.add(new TraceSession("chat-" + i, 0, turns));
    }
    return all;
  }

  /** One request without company. */
  static TraceSession single(double atMs, int promptTokens, int outputTokens) {
    long[] ids = new long[(promptTokens + 63) / 64];
    for (int i = 0; i < ids.length; i++) {
      ids[i] = 7_000_000 + (long) (atMs * 1_000) + i;
    }
    String id = "single-" + atMs;
    return new TraceSession(
        id, 0, List.of(new TraceRequest(atMs, id, 0, promptTokens, outputTokens, ids, 64, "")));
  }
}

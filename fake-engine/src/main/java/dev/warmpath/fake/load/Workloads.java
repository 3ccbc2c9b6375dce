package dev.warmpath.fake.load;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The workloads by name. Each is a list of sessions drawn from a seed; equal names, parameters and
 * seeds give equal sessions. Rates are requests a second over the whole fleet, times are seconds,
 * lengths are tokens.
 *
 * <table>
 *   <caption>Workloads and their parameters with defaults</caption>
 *   <tr><th>name</th><th>what</th><th>parameters</th></tr>
 *   <tr><td>sessions</td><td>multi-turn chats on 8 Zipf-distributed system prompts</td>
 *       <td>rate=8 duration=60 turns=5.5 think=10 prompts=8 zipf=1</td></tr>
 *   <tr><td>rag</td><td>a common prompt, a Zipf-distributed document, a unique question</td>
 *       <td>rate=8 duration=60 documents=4000 zipf=0.9 document=4000</td></tr>
 *   <tr><td>flash-crowd</td><td>sessions, then as many requests again on one new prefix</td>
 *       <td>rate=8 duration=60 at=30 prefix=6144</td></tr>
 *   <tr><td>conversation</td><td>the Mooncake conversation trace: its 500-row sample, or a file</td>
 *       <td>speedup=1 jitter=3</td></tr>
 *   <tr><td>synthetic</td><td>the Mooncake synthetic trace, from a file</td><td>speedup=1</td></tr>
 *   <tr><td>closed</td><td>sessions for a closed loop: think time a tenth, no arrival times</td>
 *       <td>sessions=64 turns=5.5 think=1 prompts=8 zipf=1</td></tr>
 *   <tr><td>shared-prefix</td><td>groups of prompts that share a system prompt (SGLang's generated-shared-prefix)</td>
 *       <td>groups=64 prompts=16 system=2048 question=128 output=256 rate=8</td></tr>
 *   <tr><td>agents</td><td>tool loops: a long common prompt, then short turns with no one thinking between</td>
 *       <td>rate=2 duration=60 steps=8 system=3072 tools=8 result=400 output=80 latency=0.5</td></tr>
 * </table>
 */
public final class Workloads {
  private static final int CHARS_PER_TOKEN = 4;

  private Workloads() {}

  /** The names. */
  public static Set<String> names() {
    return Set.of(
        "sessions",
        "rag",
        "flash-crowd",
        "conversation",
        "synthetic",
        "closed",
        "shared-prefix",
        "agents");
  }

  /**
   * Draws a workload.
   *
   * @param name one of {@link #names()}
   * @param set parameters to set apart from their defaults
   * @param seed decides every draw
   * @return its sessions by start time
   * @throws IllegalArgumentException on an unknown name or parameter, naming the known ones
   */
  public static List<Session> draw(String name, Map<String, String> set, long seed) {
    List<Session> sessions =
        switch (name) {
          case "sessions" -> sessions(parameters(name, set, sessionDefaults()), seed);
          case "rag" ->
              rag(
                  parameters(
                      name,
                      set,
                      defaults(
                          "rate",
                          8,
                          "duration",
                          60,
                          "documents",
                          4000,
                          "zipf",
                          0.9,
                          "document",
                          4000)),
                  seed);
          case "flash-crowd" -> {
            Map<String, Double> defaults = sessionDefaults();
            defaults.put("at", 30.0);
            defaults.put("prefix", 6144.0);
            yield flashCrowd(parameters(name, set, defaults), seed);
          }
          case "conversation" ->
              trace(MooncakeTrace.sample(), parameters(name, set, traceDefaults(3)), seed);
          case "synthetic" ->
              throw new IllegalArgumentException(
                  "workload synthetic replays a trace: name its file with --trace");
          case "closed" ->
              closed(
                  parameters(
                      name,
                      set,
                      defaults("sessions", 64, "turns", 5.5, "think", 1, "prompts", 8, "zipf", 1)),
                  seed);
          case "shared-prefix" ->
              sharedPrefix(
                  parameters(
                      name,
                      set,
                      defaults(
                          "groups",
                          64,
                          "prompts",
                          16,
                          "system",
                          2048,
                          "question",
                          128,
                          "output",
                          256,
                          "rate",
                          8)),
                  seed);
          case "agents" ->
              agents(
                  parameters(
                      name,
                      set,
                      defaults(
                          "rate",
                          2,
                          "duration",
                          60,
                          "steps",
                          8,
                          "system",
                          3072,
                          "tools",
                          8,
                          "result",
                          400,
                          "output",
                          80,
                          "latency",
                          0.5)),
                  seed);
          default ->
              throw new IllegalArgumentException(
                  "unknown workload '" + name + "'; known are " + new java.util.TreeSet<>(names()));
        };
    return sorted(sessions);
  }

  /**
   * Sessions of one turn each from a trace's rows; parameters {@code speedup} and {@code jitter}
   * (seconds).
   */
  public static List<Session> trace(List<TraceRow> rows, Map<String, String> set, long seed) {
    return sorted(trace(rows, parameters("trace", set, traceDefaults(0)), seed));
  }

  private static List<Session> sorted(List<Session> sessions) {
    sessions.sort(Comparator.comparingDouble(Session::startMillis));
    return List.copyOf(sessions);
  }

  private static Map<String, Double> sessionDefaults() {
    return defaults("rate", 8, "duration", 60, "turns", 5.5, "think", 10, "prompts", 8, "zipf", 1);
  }

  private static Map<String, Double> traceDefaults(double jitterSeconds) {
    return defaults("speedup", 1, "jitter", jitterSeconds);
  }

  private static Map<String, Double> defaults(Object... pairs) {
    Map<String, Double> defaults = new LinkedHashMap<>();
    for (int i = 0; i < pairs.length; i += 2) {
      defaults.put((String) pairs[i], ((Number) pairs[i + 1]).doubleValue());
    }
    return defaults;
  }

  private static WorkloadParameters parameters(
      String name, Map<String, String> set, Map<String, Double> defaults) {
    return new WorkloadParameters(name, defaults, set);
  }

  private static List<Session> trace(List<TraceRow> rows, WorkloadParameters set, long seed) {
    Draws draws = new Draws(seed);
    double speedup = Math.max(1e-9, set.number("speedup"));
    List<Session> sessions = new ArrayList<>(rows.size());
    for (int i = 0; i < rows.size(); i++) {
      TraceRow row = rows.get(i);
      double at = row.timestampMillis() + draws.uniform(set.number("jitter") * 1e3);
      StringBuilder text = new StringBuilder(row.inputTokens() * CHARS_PER_TOKEN);
      int left = row.inputTokens();
      for (int id : row.blockIds()) {
        int take = Math.min(left, TraceRow.BLOCK_TOKENS);
        Texts.append(text, id, take);
        left -= take;
      }
      sessions.add(
          new Session(
              "row-" + i,
              at / speedup,
              "",
              List.of(new Turn(text.toString(), row.outputTokens(), 0))));
    }
    return sessions;
  }

  private static List<Session> sessions(WorkloadParameters set, long seed) {
    double meanTurns = set.number("turns");
    // Sessions begin at the rate at which their turns then add up to the rate of requests.
    double gap = 1e3 * (meanTurns + 0.5) / Math.max(1e-9, set.number("rate"));
    Draws draws = new Draws(seed);
    SystemPrompts prompts = new SystemPrompts(set, draws, seed);
    List<Session> sessions = new ArrayList<>();
    double end = set.number("duration") * 1e3;
    for (double at = draws.exponential(gap); at < end; at += draws.exponential(gap)) {
      sessions.add(chat(sessions.size(), at, set, prompts, draws, seed));
    }
    return sessions;
  }

  private static List<Session> closed(WorkloadParameters set, long seed) {
    Draws draws = new Draws(seed);
    SystemPrompts prompts = new SystemPrompts(set, draws, seed);
    List<Session> sessions = new ArrayList<>();
    for (int i = 0; i < set.whole("sessions"); i++) {
      sessions.add(chat(i, i, set, prompts, draws, seed));
    }
    return sessions;
  }

  /**
   * System prompts of 1,024 to 4,095 tokens, rounded down to whole blocks of 64, drawn by Zipf's
   * law.
   */
  private static final class SystemPrompts {
    private final String[] texts;
    private final Draws.Zipf pick;

    SystemPrompts(WorkloadParameters set, Draws draws, long seed) {
      texts = new String[Math.max(1, set.whole("prompts"))];
      for (int i = 0; i < texts.length; i++) {
        texts[i] = Texts.of(Texts.name(seed, "system", i), draws.uniform(1_024, 4_095) / 64 * 64);
      }
      pick = draws.zipf(texts.length, set.number("zipf"));
    }

    String next() {
      return texts[pick.next()];
    }
  }

  private static Session chat(
      int number,
      double at,
      WorkloadParameters set,
      SystemPrompts prompts,
      Draws draws,
      long seed) {
    int turns = (int) Math.min(20, 1 + Math.floor(draws.exponential(set.number("turns"))));
    List<Turn> all = new ArrayList<>(turns);
    String system = prompts.next();
    for (int turn = 0; turn < turns; turn++) {
      int tokens = draws.lognormal(turn == 0 ? 600 : 300, 0.9, 16, 8_000);
      all.add(
          new Turn(
              Texts.of(Texts.name(seed, "turn", number * 64L + turn), tokens),
              draws.lognormal(250, 0.7, 8, 1_200),
              turn == 0 ? 0 : draws.exponential(set.number("think") * 1e3)));
    }
    return new Session("session-" + number, at, system, all);
  }

  private static List<Session> rag(WorkloadParameters set, long seed) {
    Draws draws = new Draws(seed);
    int documents = Math.max(1, set.whole("documents"));
    int[] lengths = new int[documents];
    for (int i = 0; i < documents; i++) {
      lengths[i] = draws.lognormal(set.number("document"), 0.6, 256, 16_384) / 64 * 64;
    }
    Draws.Zipf pick = draws.zipf(documents, set.number("zipf"));
    String common = Texts.of(Texts.name(seed, "common", 0), 512);
    double gap = 1e3 / Math.max(1e-9, set.number("rate"));
    double end = set.number("duration") * 1e3;
    List<Session> sessions = new ArrayList<>();
    for (double at = draws.exponential(gap); at < end; at += draws.exponential(gap)) {
      int document = pick.next();
      StringBuilder text = new StringBuilder();
      Texts.append(text, Texts.name(seed, "document", document), lengths[document]);
      Texts.append(text, Texts.name(seed, "question", sessions.size()), draws.uniform(64, 319));
      sessions.add(
          new Session(
              "rag-" + sessions.size(),
              at,
              common,
              List.of(new Turn(text.toString(), draws.lognormal(150, 0.6, 8, 800), 0))));
    }
    return sessions;
  }

  private static List<Session> flashCrowd(WorkloadParameters set, long seed) {
    List<Session> sessions = sessions(set, seed);
    Draws draws = new Draws(seed ^ 0xf1a5);
    String prefix = Texts.of(Texts.name(seed, "flash", 0), set.whole("prefix"));
    double gap = 1e3 / Math.max(1e-9, set.number("rate"));
    double end = set.number("duration") * 1e3;
    int number = 0;
    for (double at = set.number("at") * 1e3 + draws.exponential(gap);
        at < end;
        at += draws.exponential(gap)) {
      sessions.add(
          new Session(
              "flash-" + number,
              at,
              prefix,
              List.of(
                  new Turn(
                      Texts.of(Texts.name(seed, "flash-question", number), draws.uniform(64, 319)),
                      draws.lognormal(150, 0.6, 8, 800),
                      0))));
      number++;
    }
    return sessions;
  }

  private static List<Session> sharedPrefix(WorkloadParameters set, long seed) {
    Draws draws = new Draws(seed);
    double gap = 1e3 / Math.max(1e-9, set.number("rate"));
    int groups = set.whole("groups");
    List<Integer> order = new ArrayList<>();
    for (int i = 0; i < groups * set.whole("prompts"); i++) {
      order.add(i % groups);
    }
    java.util.Collections.shuffle(order, new java.util.Random(seed));
    List<Session> sessions = new ArrayList<>();
    double at = 0;
    for (int i = 0; i < order.size(); i++) {
      at += draws.exponential(gap);
      sessions.add(
          new Session(
              "shared-" + i,
              at,
              Texts.of(Texts.name(seed, "group", order.get(i)), set.whole("system")),
              List.of(
                  new Turn(
                      Texts.of(Texts.name(seed, "prompt", i), set.whole("question")),
                      Math.max(1, set.whole("output")),
                      0))));
    }
    return sessions;
  }

  private static List<Session> agents(WorkloadParameters set, long seed) {
    Draws draws = new Draws(seed);
    double gap = 1e3 / Math.max(1e-9, set.number("rate"));
    double end = set.number("duration") * 1e3;
    List<Session> sessions = new ArrayList<>();
    int tools = Math.max(1, set.whole("tools"));
    for (double at = draws.exponential(gap); at < end; at += draws.exponential(gap)) {
      int number = sessions.size();
      int steps = Math.max(1, draws.uniform(1, Math.max(1, set.whole("steps"))));
      List<Turn> turns = new ArrayList<>();
      for (int step = 0; step < steps; step++) {
        turns.add(
            new Turn(
                Texts.of(
                    Texts.name(seed, "result", number * 64L + step),
                    draws.lognormal(set.number("result"), 0.8, 16, 8_000)),
                draws.lognormal(set.number("output"), 0.5, 8, 600),
                step == 0 ? 0 : draws.exponential(set.number("latency") * 1e3)));
      }
      sessions.add(
          new Session(
              "agent-" + number,
              at,
              Texts.of(Texts.name(seed, "tools", number % tools), set.whole("system")),
              turns));
    }
    return sessions;
  }
}

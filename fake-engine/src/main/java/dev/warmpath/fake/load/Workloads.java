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
 * <p>What is drawn is block ids and lengths ({@link TraceRequest}), for live load and for virtual
 * time alike; {@link LoadGenerator} makes text of it.
 *
 * <table>
 *   <caption>Workloads and their parameters with defaults</caption>
 *   <tr><th>name</th><th>what</th><th>parameters</th></tr>
 *   <tr><td>sessions</td><td>multi-turn chats on 8 Zipf-distributed system prompts</td>
 *       <td>rate=8 duration=60 turns=5.5 think=10 prompts=8 zipf=1 first=600 later=300 output=250</td></tr>
 *   <tr><td>rag</td><td>a common prompt, a Zipf-distributed document, a unique question</td>
 *       <td>rate=8 duration=60 documents=4000 zipf=0.9 document=4000 common=512 output=150</td></tr>
 *   <tr><td>knowledge</td><td>a Zipf-distributed document as the system message, then questions about it</td>
 *       <td>rate=8 duration=60 documents=1000 zipf=0.9 document=4000 output=150 turns=1 think=10</td></tr>
 *   <tr><td>flash-crowd</td><td>sessions, then as many requests again on one new prefix</td>
 *       <td>those of sessions, at=30 prefix=6144</td></tr>
 *   <tr><td>conversation</td><td>the Mooncake conversation trace: its 500-row sample, or a file</td>
 *       <td>speedup=1 jitter=3 copies=1 depth=1</td></tr>
 *   <tr><td>synthetic</td><td>the Mooncake synthetic trace, from a file</td>
 *       <td>speedup=1 jitter=0 copies=1 depth=1</td></tr>
 *   <tr><td>closed</td><td>sessions for a closed loop: think time a tenth, no arrival times</td>
 *       <td>sessions=64 turns=5.5 think=1 prompts=8 zipf=1 first=600 later=300 output=250</td></tr>
 *   <tr><td>shared-prefix</td><td>groups of prompts that share a system prompt (SGLang's generated-shared-prefix)</td>
 *       <td>groups=64 prompts=16 system=2048 question=128 output=256 range=1 zipf=0 turns=1 think=0
 *       rate=8</td></tr>
 *   <tr><td>agents</td><td>tool loops: a long common prompt, then short turns with no one thinking between</td>
 *       <td>rate=2 duration=60 steps=8 system=3072 tools=8 result=400 output=80 latency=0.5</td></tr>
 *   <tr><td>cyclic</td><td>for a closed loop: many shared prefixes, each in turn</td>
 *       <td>groups=257 shared=3072 unique=1024 output=64 requests=2570</td></tr>
 *   <tr><td>turns</td><td>for a closed loop: chats of equal turns</td>
 *       <td>sessions=768 users=192 turns=8 common=512 message=896 output=64 think=0</td></tr>
 * </table>
 */
public final class Workloads {
  private interface Generator {
    List<TraceSession> draw(WorkloadParameters set, long seed);
  }

  private record Entry(WorkloadDescription description, Generator generator) {}

  private static final WorkloadDescription TRACE =
      new WorkloadDescription("trace", "the rows of a trace", traceParameters(0));

  private static final Map<String, Entry> ENTRIES = new LinkedHashMap<>();

  static {
    add(
        "sessions",
        "multi-turn chats on Zipf-distributed system prompts",
        join(openLoop(8), chats(10)),
        ChatWorkloads::sessions);
    add(
        "rag",
        "a common prompt, a Zipf-distributed document, a unique question",
        join(
            openLoop(8),
            List.of(
                of("documents", 4000, "how many documents there are"),
                of("zipf", 0.9, "exponent of their popularity, 0 for equal"),
                of("document", 4000, "mean length of a document (lognormal, 256 to 16,384)"),
                of("common", 512, "length of the common prompt"),
                of("output", 150, "mean length of an answer"))),
        PromptWorkloads::rag);
    add(
        "knowledge",
        "a Zipf-distributed document as the system message, then questions about it",
        join(
            openLoop(8),
            List.of(
                of("documents", 1000, "how many documents there are"),
                of("zipf", 0.9, "exponent of their popularity, 0 for equal"),
                of("document", 4000, "mean length of a document (lognormal, 256 to 16,384)"),
                of("output", 150, "mean length of an answer"),
                of("turns", 1, "questions to a document"),
                of("think", 10, "mean time between an answer and the next question, s"))),
        PromptWorkloads::knowledge);
    add(
        "flash-crowd",
        "sessions, then as many requests again on one new prefix",
        join(
            join(openLoop(8), chats(10)),
            List.of(
                of("at", 30, "when the crowd comes, s"),
                of("prefix", 6144, "length of its common prefix"))),
        ChatWorkloads::flashCrowd);
    add(
        "conversation",
        "the Mooncake conversation trace: its 500-row sample, or a file",
        traceParameters(3),
        (set, seed) -> rows(MooncakeTrace.sample(), set, seed));
    add(
        "synthetic",
        "the Mooncake synthetic trace, from a file",
        traceParameters(0),
        (set, seed) -> {
          throw new IllegalArgumentException(
              "workload synthetic replays a trace: name its file with --trace");
        });
    add(
        "closed",
        "sessions for a closed loop: think time a tenth, no arrival times",
        join(List.of(of("sessions", 64, "how many")), chats(1)),
        ChatWorkloads::closed);
    add(
        "shared-prefix",
        "groups of prompts that share a system prompt (SGLang's generated-shared-prefix)",
        List.of(
            of("groups", 64, "system prompts"),
            of("prompts", 16, "sessions on each, on average"),
            of("system", 2048, "length of a system prompt"),
            of("question", 128, "length of a question"),
            of("output", 256, "length of an answer"),
            of("range", 1, "least share of question and output that is drawn, 1 for fixed lengths"),
            of("zipf", 0, "exponent of the groups' popularity, 0 for equal"),
            of("turns", 1, "turns of a session"),
            of("think", 0, "mean time between an answer and the next turn, s"),
            of("rate", 8, "requests a second")),
        PromptWorkloads::sharedPrefix);
    add(
        "agents",
        "tool loops: a long common prompt, then short turns with no one thinking between",
        List.of(
            of("rate", 2, "agents started a second"),
            of("duration", 60, "how long agents are started, s"),
            of("steps", 8, "calls of a tool at most (uniform from 1)"),
            of("system", 3072, "length of the prompt with the tools' definitions"),
            of("tools", 8, "different such prompts"),
            of("result", 400, "mean length of a tool's result"),
            of("output", 80, "mean length of an answer"),
            of("latency", 0.5, "mean time that a tool takes, s")),
        PromptWorkloads::agents);
    add(
        "cyclic",
        "for a closed loop: prompts that come back to each of many shared prefixes in turn",
        List.of(
            of("groups", 257, "shared prefixes"),
            of("shared", 3072, "length of each"),
            of("unique", 1024, "length of what follows it"),
            of("output", 64, "length of an answer"),
            of("requests", 2570, "how many")),
        CapacityWorkloads::cyclic);
    add(
        "turns",
        "for a closed loop: chats of equal turns, the first users' met in their course",
        List.of(
            of("sessions", 768, "how many"),
            of("users", 192, "how many of them are met in their course"),
            of("turns", 8, "turns of a session"),
            of("common", 512, "length of the common system prompt"),
            of("message", 896, "length of a message"),
            of("output", 64, "length of an answer"),
            of("think", 0, "time between an answer and the next turn, s")),
        CapacityWorkloads::turns);
  }

  private Workloads() {}

  private static void add(
      String name, String what, List<WorkloadParameter> parameters, Generator generator) {
    ENTRIES.put(name, new Entry(new WorkloadDescription(name, what, parameters), generator));
  }

  private static WorkloadParameter of(String key, double standard, String meaning) {
    return new WorkloadParameter(key, standard, meaning);
  }

  private static List<WorkloadParameter> openLoop(double rate) {
    return List.of(
        of("rate", rate, "requests a second"), of("duration", 60, "how long they begin, s"));
  }

  private static List<WorkloadParameter> chats(double think) {
    return List.of(
        of("turns", 5.5, "mean turns after the first (exponential, 20 in all at most)"),
        of("think", think, "mean time between an answer and the next turn, s"),
        of("prompts", 8, "system prompts (1,024 to 4,095 tokens)"),
        of("zipf", 1, "exponent of their popularity, 0 for equal"),
        of("first", 600, "mean length of the first message"),
        of("later", 300, "mean length of later messages"),
        of("output", 250, "mean length of an answer"));
  }

  private static List<WorkloadParameter> traceParameters(double jitterSeconds) {
    return List.of(
        of("speedup", 1, "divides arrival times and delays"),
        of("jitter", jitterSeconds, "added to arrival times, uniform from 0, s"),
        of("copies", 1, "copies of each session with blocks of their own"),
        of("depth", 1, "blocks that each block becomes, which multiplies prompt lengths"));
  }

  private static List<WorkloadParameter> join(
      List<WorkloadParameter> first, List<WorkloadParameter> second) {
    List<WorkloadParameter> joined = new ArrayList<>(first);
    joined.addAll(second);
    return joined;
  }

  /**
   * Returns the names.
   *
   * @return what {@link #draw} takes
   */
  public static Set<String> names() {
    return Set.copyOf(ENTRIES.keySet());
  }

  /**
   * Describes all workloads.
   *
   * @return with their parameters
   */
  public static List<WorkloadDescription> descriptions() {
    return ENTRIES.values().stream().map(Entry::description).toList();
  }

  /**
   * Draws a workload.
   *
   * @param name one of {@link #names()}
   * @param set parameters to set apart from their defaults
   * @param seed decides every draw
   * @return its sessions by arrival
   * @throws IllegalArgumentException on an unknown name or parameter, naming the known ones
   */
  public static List<TraceSession> draw(String name, Map<String, String> set, long seed) {
    Entry entry = ENTRIES.get(name);
    if (entry == null) {
      throw new IllegalArgumentException(
          "unknown workload '" + name + "'; known are " + new java.util.TreeSet<>(names()));
    }
    WorkloadParameters parameters = new WorkloadParameters(entry.description(), set);
    return sorted(entry.generator().draw(parameters, seed));
  }

  /**
   * Makes sessions of a trace's rows; parameters {@code speedup}, {@code jitter} (seconds), {@code
   * copies} and {@code depth}.
   *
   * @param rows the requests
   * @param set parameters to set apart from their defaults
   * @param seed decides the jitter
   * @return the sessions by arrival
   * @throws IllegalArgumentException on an unknown parameter, naming the known ones
   */
  public static List<TraceSession> trace(
      List<TraceRequest> rows, Map<String, String> set, long seed) {
    return sorted(rows(rows, new WorkloadParameters(TRACE, set), seed));
  }

  private static List<TraceSession> rows(
      List<TraceRequest> rows, WorkloadParameters set, long seed) {
    List<TraceRequest> requests = rows;
    if (set.whole("copies") > 1) {
      requests = TraceTransforms.duplicateHashSpace(requests, set.whole("copies"));
    }
    if (set.whole("depth") > 1) {
      requests = TraceTransforms.expandPrefixDepth(requests, set.whole("depth"));
    }
    requests = TraceTransforms.jitter(requests, set.millis("jitter"), seed);
    requests = TraceTransforms.speedUp(requests, Math.max(1e-9, set.number("speedup")));
    return TraceSession.of(requests);
  }

  private static List<TraceSession> sorted(List<TraceSession> sessions) {
    return sessions.stream().sorted(Comparator.comparingDouble(TraceSession::arrivalMs)).toList();
  }
}

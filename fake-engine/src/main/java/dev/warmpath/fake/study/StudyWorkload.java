package dev.warmpath.fake.study;

import dev.warmpath.fake.load.MooncakeTrace;
import dev.warmpath.fake.load.TraceRequest;
import dev.warmpath.fake.load.TraceSession;
import dev.warmpath.fake.load.Workloads;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The study's workloads, as it parameterises {@link Workloads}. Rates are requests a second for
 * each worker.
 *
 * <ul>
 *   <li>{@code sess}: chats of 5.5 more turns on average on 8 Zipf-distributed system prompts,
 *       users that think for 10 s on average; 300 s, of which the last 200 count
 *   <li>{@code rag}: 512 common tokens, one of 4,000 documents (Zipf 0.9), a unique question; 240
 *       s, of which the last 160 count
 *   <li>{@code flash}: {@code sess} for 240 s; from 120 s on as many requests again on one new
 *       prefix of 6,144 tokens; the last 120 s count
 *   <li>{@code conv}, {@code synth}: Mooncake's conversation and synthetic traces, so many times
 *       faster than they were; the last four fifths count
 * </ul>
 *
 * @param name such as {@code sess(14)}
 * @param sessions what is sent, by arrival
 * @param families for each session the family of its requests, for those who route by session: the
 *     session, or for a trace's row the row that shares most blocks with it
 * @param fromMs arrivals from here count
 * @param untilMs arrivals up to here count, and nothing arrives later
 */
public record StudyWorkload(
    String name, List<TraceSession> sessions, int[] families, double fromMs, double untilMs) {

  /** More than twice the blocks of a trace. */
  private static final int NAMES_PER_SEED = 1 << 20;

  /** So many fit into the identities of blocks. */
  private static final int NAME_SETS = 2_000;

  /** The names that {@link #draw} takes. */
  public static final List<String> NAMES = List.of("sess", "rag", "flash", "conv", "synth");

  /** Copies {@code sessions}. */
  public StudyWorkload {
    sessions = List.copyOf(sessions);
  }

  /**
   * Draws a workload; its seed draws, too, where hashing puts a trace's prompts.
   *
   * @param name one of {@link #NAMES}
   * @param factor requests a second for each worker; for a trace, how many times faster than it was
   * @param workers how many workers there are
   * @param seed decides every draw
   * @param traces the folder with Mooncake's traces, which {@code conv} and {@code synth} read
   * @return the sessions
   * @throws IOException if a trace can't be read
   * @throws IllegalArgumentException on an unknown name, or where a trace is needed and not given
   */
  public static StudyWorkload draw(
      String name, double factor, int workers, long seed, @Nullable Path traces)
      throws IOException {
    return draw(name, factor, workers, seed, seed, traces);
  }

  /**
   * Draws a workload.
   *
   * @param name one of {@link #NAMES}
   * @param factor requests a second for each worker; for a trace, how many times faster than it was
   * @param workers how many workers there are
   * @param seed decides every draw but that of names
   * @param names which names a trace's blocks go by, and so where hashing puts its prompts; the
   *     study has one set of them for all its seeds
   * @param traces the folder with Mooncake's traces, which {@code conv} and {@code synth} read
   * @return the sessions
   * @throws IOException if a trace can't be read
   * @throws IllegalArgumentException on an unknown name, or where a trace is needed and not given
   */
  public static StudyWorkload draw(
      String name, double factor, int workers, long seed, long names, @Nullable Path traces)
      throws IOException {
    String rate = Double.toString(factor * workers);
    String title = String.format(Locale.ROOT, "%s(%s)", name, number(factor));
    return switch (name) {
      case "sess" -> drawn(title, "sessions", Map.of("rate", rate, "duration", "300"), seed, 100);
      case "rag" -> drawn(title, "rag", Map.of("rate", rate, "duration", "240"), seed, 80);
      case "flash" ->
          drawn(
              title,
              "flash-crowd",
              Map.of("rate", rate, "duration", "240", "at", "120"),
              seed,
              120);
      case "conv" -> trace(title, file(traces, "conversation"), "3", factor, seed, names);
      case "synth" -> trace(title, file(traces, "synthetic"), "0", factor, seed, names);
      default ->
          throw new IllegalArgumentException(
              "unknown workload '" + name + "' of the study; known are " + NAMES);
    };
  }

  private static String number(double factor) {
    return factor == Math.rint(factor) ? Long.toString((long) factor) : Double.toString(factor);
  }

  private static Path file(@Nullable Path traces, String trace) {
    if (traces == null) {
      throw new IllegalArgumentException(
          "the " + trace + " trace of Mooncake is needed: name the folder with its files");
    }
    return traces.resolve(trace + "_trace.jsonl");
  }

  private static StudyWorkload drawn(
      String title, String workload, Map<String, String> set, long seed, double fromSeconds) {
    List<TraceSession> sessions = Workloads.draw(workload, set, seed);
    int[] families = IntStream.range(0, sessions.size()).toArray();
    double until = Double.parseDouble(set.getOrDefault("duration", "0")) * 1e3;
    return new StudyWorkload(title, sessions, families, fromSeconds * 1e3, until);
  }

  private static StudyWorkload trace(
      String title, Path file, String jitter, double speedup, long seed, long nameSet)
      throws IOException {
    List<TraceSession> sessions =
        Workloads.trace(
            MooncakeTrace.read(file, Integer.MAX_VALUE),
            Map.of("speedup", Double.toString(speedup), "jitter", jitter),
            seed);
    double first = sessions.get(0).arrivalMs();
    double last = sessions.get(sessions.size() - 1).arrivalMs();
    int names = Math.floorMod(nameSet, NAME_SETS) * NAMES_PER_SEED;
    List<TraceSession> fromZero = new ArrayList<>(sessions.size());
    sessions.forEach(
        session -> fromZero.add(named(session.startingAt(session.arrivalMs() - first), names)));
    int[] families = families(fromZero);
    Arrays.setAll(families, i -> names + families[i]);
    return new StudyWorkload(title, fromZero, families, 0.2 * (last - first), last - first);
  }

  /**
   * Gives a row's blocks other names, which is to draw anew where hashing puts the few prompts that
   * make up most of a trace. What is left behind its last whole block is alike in all rows that end
   * there, as it is where a conversation goes on from there: the trace names it by where it ends,
   * which would make every end a branch of its own.
   */
  private static TraceSession named(TraceSession session, int names) {
    TraceRequest row = session.turns().get(0);
    long[] ids = row.hashIds();
    int full = row.inputTokens() / row.hashBlockTokens();
    long[] named = new long[ids.length];
    for (int i = 0; i < full; i++) {
      named[i] = names + 2 * (ids[i] + 1);
    }
    if (full < ids.length) {
      named[full] = full == 0 ? names + 1 : named[full - 1] + 1;
    }
    return session.madeOf(named);
  }

  /**
   * The family of a row is that of the deepest block which an earlier row has too, the first block
   * aside, with which all begin.
   */
  private static int[] families(List<TraceSession> rows) {
    Map<Long, Integer> seen = new LinkedHashMap<>();
    int[] families = new int[rows.size()];
    for (int i = 0; i < families.length; i++) {
      TraceRequest row = rows.get(i).turns().get(0);
      int full = row.inputTokens() / row.hashBlockTokens();
      Integer family = null;
      for (int depth = full - 1; depth >= 1 && family == null; depth--) {
        family = seen.get(row.hashIds()[depth]);
      }
      families[i] = family == null ? i : family;
      for (int depth = 1; depth < full; depth++) {
        seen.put(row.hashIds()[depth], families[i]);
      }
    }
    return families;
  }

  /**
   * Returns the length of the workload's blocks.
   *
   * @return tokens
   */
  public int blockTokens() {
    return sessions.stream()
        .flatMap(session -> session.turns().stream())
        .max(Comparator.comparingInt(TraceRequest::hashBlockTokens))
        .map(TraceRequest::hashBlockTokens)
        .orElseThrow();
  }

  /** Name and size. */
  @Override
  public String toString() {
    return "StudyWorkload[" + name + ", " + sessions.size() + " sessions]";
  }
}

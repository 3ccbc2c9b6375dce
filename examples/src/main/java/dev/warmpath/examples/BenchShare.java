package dev.warmpath.examples;

import dev.warmpath.fake.load.LoadSettings;
import dev.warmpath.fake.load.TraceSession;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The part of a benchmark's load that one of several processes sends: every so many-th session.
 *
 * @param number which of them, from 0 on
 * @param of how many there are
 */
record BenchShare(int number, int of) {
  /** Reads {@code number/of}. */
  static BenchShare parse(String text) {
    String[] parts = text.split("/", 2);
    try {
      BenchShare share = new BenchShare(Integer.parseInt(parts[0]), Integer.parseInt(parts[1]));
      if (share.number >= 0 && share.number < share.of) {
        return share;
      }
    } catch (NumberFormatException | ArrayIndexOutOfBoundsException e) {
      throw CommandFailure.usage("--share " + text + ": use NUMBER/OF");
    }
    throw CommandFailure.usage("--share " + text + ": the number must be below the other");
  }

  List<TraceSession> sessions(List<TraceSession> all) {
    List<TraceSession> own = new ArrayList<>();
    for (int i = number; i < all.size(); i += of) {
      own.add(all.get(i));
    }
    return own;
  }

  /**
   * Its part of the settings: of the requests so many as there are in its sessions, since sessions
   * are of different lengths, so that all processes together send what one would.
   */
  LoadSettings settings(LoadSettings all, List<TraceSession> sessions) {
    long[] turns = new long[of];
    for (int i = 0; i < sessions.size(); i++) {
      turns[i % of] += sessions.get(i).turns().size();
    }
    long total = Arrays.stream(turns).sum();
    long before = Arrays.stream(turns).limit(number).sum();
    long sent = Math.min(all.maxRequests(), total);
    long requests =
        total == 0 ? 0 : sent * (before + turns[number]) / total - sent * before / total;
    return new LoadSettings(
        all.model(),
        all.concurrency() == 0 ? 0 : Math.max(1, (all.concurrency() + of - 1 - number) / of),
        all.speedup(),
        all.stream(),
        (int) Math.max(1, requests),
        all.maxOutputTokens(),
        all.sessionKeys(),
        all.deadline(),
        all.seed() + number);
  }

  /** A seed that no other process uses. */
  long seed(long all, int clients) {
    return all + (long) number * clients;
  }
}

package dev.warmpath.policy;

import dev.warmpath.policy.ServingSimulation.Arrival;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.stream.IntStream;

/** What is sent to a {@link ServingSimulation}. */
final class ServingWorkloads {
  private ServingWorkloads() {}

  /**
   * The first rows of the Mooncake conversation trace, faster by a factor. Times are quantised to 3
   * s in the trace and spread again here.
   */
  static List<Arrival> conversation(double speed, long seed) throws IOException {
    Random random = new Random(seed);
    List<int[]> rows = new ArrayList<>();
    List<Arrival> arrivals = new ArrayList<>();
    int fresh = 0;
    try (BufferedReader in =
        new BufferedReader(
            new InputStreamReader(
                Objects.requireNonNull(
                    ServingWorkloads.class.getResourceAsStream("conversation-2000.csv")),
                StandardCharsets.UTF_8))) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        if (line.startsWith("#")) {
          continue;
        }
        int[] row = Arrays.stream(line.split(",", -1)).mapToInt(Integer::parseInt).toArray();
        int[] all = new int[(row[1] + ServingSimulation.BLOCK - 1) / ServingSimulation.BLOCK];
        if (row[4] > 0) {
          System.arraycopy(rows.get(row[3]), 0, all, 0, row[4]);
        }
        for (int i = row[4]; i < all.length; i++) {
          all[i] = fresh++;
        }
        rows.add(all);
        // Only full blocks are shared; a conversation is known by its second block.
        arrivals.add(
            new Arrival(
                (row[0] + 3 * random.nextDouble()) * 1_000 / speed,
                Arrays.copyOf(all, row[1] / ServingSimulation.BLOCK),
                row[1],
                Math.max(1, row[2]),
                "s" + (all.length > 1 ? all[1] : -arrivals.size())));
      }
    }
    arrivals.sort(Comparator.comparingDouble(Arrival::atMillis));
    return arrivals;
  }

  /** Conversations of a few turns behind common system prompts, one after another. */
  static List<Arrival> sessions(int requests, double perSecond, long seed) {
    Random random = new Random(seed);
    List<Arrival> arrivals = new ArrayList<>();
    int fresh = 1_000;
    double at = 0;
    while (arrivals.size() < requests) {
      at += -Math.log(1 - random.nextDouble()) * 6_000 / perSecond;
      int system = random.nextInt(8);
      int length = 2 + random.nextInt(6);
      int[] blocks = IntStream.range(0, length).map(i -> system * 100 + i).toArray();
      int turns = 1 + random.nextInt(11);
      double turnAt = at;
      String session = "s" + arrivals.size();
      for (int turn = 0; turn < turns; turn++) {
        int more = 1 + random.nextInt(3);
        int old = blocks.length;
        blocks = Arrays.copyOf(blocks, old + more);
        for (int i = old; i < blocks.length; i++) {
          blocks[i] = fresh++;
        }
        int output = 50 + random.nextInt(400);
        arrivals.add(
            new Arrival(
                turnAt,
                blocks,
                blocks.length * ServingSimulation.BLOCK + random.nextInt(ServingSimulation.BLOCK),
                output,
                session));
        turnAt += 2_000 + output * ServingSimulation.DECODE_MS_PER_TOKEN + random.nextInt(16_000);
      }
    }
    arrivals.sort(Comparator.comparingDouble(Arrival::atMillis));
    return arrivals;
  }
}

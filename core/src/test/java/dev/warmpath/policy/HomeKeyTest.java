package dev.warmpath.policy;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.prompt.ContentKeys;
import dev.warmpath.prompt.TestPrompts;
import dev.warmpath.worker.CandidateSet;
import dev.warmpath.worker.WorkerRank;
import dev.warmpath.worker.WorkerRegistry;
import dev.warmpath.worker.WorkerRole;
import dev.warmpath.worker.WorkerSpec;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Keys and orders are those of the vectors, which another implementation of the rule wrote. */
class HomeKeyTest {
  private static List<String[]> vectors(String kind) throws IOException {
    try (InputStream in = HomeKeyTest.class.getResourceAsStream("homing-vectors.txt")) {
      List<String[]> lines = new ArrayList<>();
      new String(in.readAllBytes(), UTF_8)
          .lines()
          .filter(line -> line.startsWith(kind + " "))
          .forEach(line -> lines.add(line.split(" ", -1)));
      assertThat(lines).isNotEmpty();
      return lines;
    }
  }

  private static ContentKeys keys(String namespace, String text) {
    byte[] bytes = text.getBytes(UTF_8);
    return TestPrompts.inNamespace(namespace.equals("-") ? "" : namespace, bytes).contentKeys();
  }

  private static String hex(long key) {
    return HexFormat.of().toHexDigits(key);
  }

  @Test
  void contentKeysAreThoseOfTheVectors() throws IOException {
    for (String[] line : vectors("keys")) {
      ContentKeys keys = keys(line[1], line[2]);
      List<String> made = new ArrayList<>();
      for (int i = 0; i < keys.size(); i++) {
        made.add(hex(keys.get(i)));
      }
      assertThat(String.join(",", made)).isEqualTo(line[3]);
    }
  }

  @Test
  void homesAreThoseOfTheVectorsWhateverTheListsOrder() throws IOException {
    for (String[] line : vectors("home")) {
      long key = HomeKey.of(keys(line[1], line[2]), Integer.parseInt(line[3]));
      assertThat(hex(key)).isEqualTo(line[4]);
      assertThat(order(key, line[5])).isEqualTo(line[5]);
    }
  }

  @Test
  void hubsHaveKeysOfTheirOwn() throws IOException {
    for (String[] line : vectors("hub")) {
      long key = HomeKey.ofHub(keys(line[1], line[2]), Integer.parseInt(line[3]));
      assertThat(hex(key)).isEqualTo(line[4]);
    }
  }

  @Test
  void sessionsAreThoseOfTheVectors() throws IOException {
    for (String[] line : vectors("session")) {
      long key = HomeKey.ofSession(line[2], keys(line[1], "").namespace());
      assertThat(hex(key)).isEqualTo(line[3]);
      assertThat(order(key, line[4])).isEqualTo(line[4]);
    }
  }

  /**
   * The order of the workers that are named, whose ranks are named by a number behind a {@code #}.
   */
  private static String order(long key, String workers) {
    List<String> names = new ArrayList<>(Arrays.asList(workers.split(",", -1)));
    Collections.shuffle(names, new Random(key));
    WorkerRegistry registry = new WorkerRegistry();
    List<WorkerSpec> specs = new ArrayList<>();
    for (String name : names) {
      int rank = name.indexOf('#');
      specs.add(
          rank < 0
              ? WorkerSpec.builder(name).build()
              : WorkerSpec.builder(name.substring(0, rank)).dpSize(4).build());
    }
    registry.replace("test", specs);
    CandidateSet candidates =
        registry
            .current()
            .candidates(null, WorkerRole.REGULAR)
            .where(candidate -> names.contains(candidate.toString()));
    int[] all = new int[candidates.size()];
    Arrays.setAll(all, i -> i);
    Ranking ranking = new Ranking();
    ranking.rank(candidates, key, all, all.length, Ranking.MOST);
    List<String> order = new ArrayList<>();
    for (int i = 0; i < ranking.size(); i++) {
      WorkerRank rank = candidates.get(ranking.get(i));
      order.add(rank.toString());
    }
    return String.join(",", order);
  }
}

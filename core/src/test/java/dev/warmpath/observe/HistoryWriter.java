package dev.warmpath.observe;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/** A process that writes a history until it is killed, and says what it has committed. */
public final class HistoryWriter {
  private HistoryWriter() {}

  /** The number of samples that each batch has. */
  static final int BATCH = 3;

  /**
   * Writes batches, a line on stdout after each.
   *
   * @param args the file
   */
  public static void main(String[] args) throws Exception {
    try (LoadDatabase database = LoadDatabase.write(Path.of(args[0]))) {
      for (int batch = 0; batch < 1_000_000; batch++) {
        Instant at = Instant.EPOCH.plus(Duration.ofSeconds(batch));
        database.write(
            List.of(
                LoadHistoryTest.sample(at, "http://a:1", null, batch),
                LoadHistoryTest.sample(at, "http://b:1", 0, batch),
                LoadHistoryTest.sample(at, "http://b:1", 1, batch)));
        System.out.println(batch + 1);
        System.out.flush();
      }
    }
  }
}

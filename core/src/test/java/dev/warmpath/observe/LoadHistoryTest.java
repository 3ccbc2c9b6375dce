package dev.warmpath.observe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.health.Availability;
import dev.warmpath.health.Degradation;
import dev.warmpath.health.DegradationMode;
import dev.warmpath.health.WorkerView;
import dev.warmpath.health.WorkerView.RankView;
import dev.warmpath.transport.RankLoad;
import dev.warmpath.worker.VirtualScheduler;
import dev.warmpath.worker.Worker;
import dev.warmpath.worker.WorkerRegistry;
import dev.warmpath.worker.WorkerSpec;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LoadHistoryTest {
  private static final Instant START = Instant.parse("2026-01-05T10:00:00Z");

  @TempDir Path folder;
  private final VirtualScheduler time = new VirtualScheduler();
  private final long origin = time.nanoTime();
  private final List<WorkerView> views = new ArrayList<>();
  private final List<String> warnings = new ArrayList<>();
  private int asked;

  static LoadSample sample(Instant at, String worker, @Nullable Integer rank, int running) {
    return new LoadSample(
        at, worker, rank, "up", 1, running, 0, 10, 0.5, Double.NaN, 100, 2, Double.NaN, 5);
  }

  private Path file() {
    return folder.resolve("loads.db");
  }

  private Instant now() {
    return START.plusNanos(time.nanoTime() - origin);
  }

  private LoadHistory start(LoadHistorySettings settings) {
    return LoadHistory.start(
        settings,
        () -> {
          asked++;
          return List.copyOf(views);
        },
        this::now,
        time,
        warnings::add);
  }

  private LoadHistory start() {
    return start(LoadHistorySettings.of(file()));
  }

  private List<LoadSample> rows() throws IOException {
    return LoadHistory.read(file(), null, Instant.EPOCH);
  }

  private static WorkerView view(String address, Availability availability, double running) {
    WorkerRegistry registry = new WorkerRegistry();
    registry.replace("test", List.of(WorkerSpec.builder(address).dpSize(2).build()));
    Worker worker = registry.current().workers().get(0);
    Degradation degradation = new Degradation(Set.of(DegradationMode.KV_FULL), 0.3, 1, 0);
    RankLoad load = new RankLoad(-1, running, 1, 2, 0.25, 4, 5, Double.NaN, 7, 8);
    List<RankView> ranks =
        worker.ranks().stream()
            .map(
                rank ->
                    new RankView(
                        rank,
                        availability,
                        degradation,
                        3,
                        0,
                        Double.NaN,
                        load,
                        "/fake",
                        Duration.ofMillis(1_500),
                        false))
            .toList();
    return new WorkerView(worker, availability, Duration.ZERO, "", ranks);
  }

  @Test
  void samplesAreWrittenInBatchesAndReadBack() throws Exception {
    views.add(view("http://a:1", Availability.UP, 6));
    LoadHistory history = start();
    time.advance(Duration.ofSeconds(29));
    assertThat(asked).isEqualTo(3);
    assertThat(file()).as("nothing is written between batches").doesNotExist();
    time.advance(Duration.ofSeconds(1));
    assertThat(rows()).hasSize(8);
    views.set(0, view("http://a:1", Availability.DOWN, Double.NaN));
    time.advance(Duration.ofSeconds(10));
    assertThat(rows()).hasSize(8);
    history.close();
    time.run(); // what is pending is written as it closes
    assertThat(time.pending()).isZero();
    List<LoadSample> rows = rows();
    assertThat(rows).hasSize(10);
    assertThat(rows.get(0))
        .isEqualTo(
            new LoadSample(
                START,
                "http://a:1",
                0,
                "degraded:kv_full",
                0.3,
                6,
                1,
                2,
                0.25,
                Double.NaN,
                7,
                3,
                Double.NaN,
                1_500));
    assertThat(rows.get(9).at()).isEqualTo(START.plusSeconds(40));
    assertThat(rows.get(9).state()).isEqualTo("down");
    assertThat(rows.get(9).running()).as("unknown is not zero").isNaN();
  }

  @Test
  void rowsAreChosenByWorkerAndTime() throws Exception {
    try (LoadDatabase database = LoadDatabase.write(file())) {
      for (int i = 0; i < 10; i++) {
        Instant at = START.plusSeconds(i);
        database.write(List.of(sample(at, "http://a:1", null, i), sample(at, "http://b:1", 0, i)));
      }
    }
    assertThat(LoadHistory.read(file(), "http://b:1", START.plusSeconds(7)))
        .extracting(LoadSample::worker, LoadSample::rank, LoadSample::running)
        .containsExactly(
            org.assertj.core.groups.Tuple.tuple("http://b:1", 0, 7.0),
            org.assertj.core.groups.Tuple.tuple("http://b:1", 0, 8.0),
            org.assertj.core.groups.Tuple.tuple("http://b:1", 0, 9.0));
    assertThat(LoadHistory.read(file(), "http://c:1", START)).isEmpty();
  }

  @Test
  void whatIsOldIsPruned() throws Exception {
    try (LoadDatabase database = LoadDatabase.write(file())) {
      database.write(
          List.of(
              sample(START.minus(Duration.ofDays(8)), "http://gone:1", null, 1),
              sample(START.minus(Duration.ofDays(8)), "http://a:1", null, 1),
              sample(START.minus(Duration.ofDays(6)), "http://a:1", null, 2)));
    }
    LoadHistory history = start();
    time.advance(Duration.ofSeconds(30));
    assertThat(rows()).extracting(LoadSample::running).containsExactly(2.0);
    time.advance(Duration.ofDays(1).plusHours(2));
    assertThat(rows()).isEmpty();
    history.close();
    time.run();
    try (Connection plain = DriverManager.getConnection("jdbc:sqlite:" + file());
        Statement statement = plain.createStatement()) {
      assertThat(statement.executeQuery("SELECT count(*) FROM worker").getInt(1)).isZero();
    }
  }

  @Test
  void aCorruptFileIsLeftAloneAndTheClientGoesOn() throws Exception {
    byte[] garbage =
        "this is no database, whatever its name says".repeat(100).getBytes(StandardCharsets.UTF_8);
    Files.write(file(), garbage);
    views.add(view("http://a:1", Availability.UP, 6));
    LoadHistory history = start();
    time.advance(Duration.ofMinutes(10));
    assertThat(asked).isGreaterThan(50);
    assertThat(warnings).as("told once").hasSize(1);
    assertThat(warnings.get(0)).contains(file().toString());
    history.close();
    time.run();
    assertThat(Files.readAllBytes(file())).isEqualTo(garbage);
    assertThatThrownBy(this::rows).isInstanceOf(IOException.class).hasMessageContaining("loads.db");
  }

  @Test
  void aFileThatCantBeWrittenIsTriedAgain() throws Exception {
    Path missing = folder.resolve("not-yet");
    views.add(view("http://a:1", Availability.UP, 6));
    LoadHistory history = start(LoadHistorySettings.of(missing.resolve("loads.db")));
    time.advance(Duration.ofMinutes(10));
    assertThat(warnings).hasSize(1);
    Files.createDirectory(missing);
    time.advance(Duration.ofSeconds(30));
    history.close();
    time.run();
    assertThat(LoadHistory.read(missing.resolve("loads.db"), null, Instant.EPOCH))
        .as("what could not be written is not hoarded")
        .hasSizeBetween(2, 8);
  }

  @Test
  void otherDatabasesAndNewerSchemasAreLeftAlone() throws Exception {
    try (Connection plain = DriverManager.getConnection("jdbc:sqlite:" + file());
        Statement statement = plain.createStatement()) {
      statement.execute("CREATE TABLE theirs (x)");
    }
    assertThatThrownBy(() -> LoadDatabase.write(file()))
        .hasMessageContaining("another application");
    Path newer = folder.resolve("newer.db");
    LoadDatabase.write(newer).close();
    try (Connection plain = DriverManager.getConnection("jdbc:sqlite:" + newer);
        Statement statement = plain.createStatement()) {
      statement.execute("PRAGMA user_version = " + (LoadDatabase.SCHEMA + 1));
    }
    assertThatThrownBy(() -> LoadDatabase.write(newer)).hasMessageContaining("schema 2");
    assertThatThrownBy(() -> LoadDatabase.read(newer)).hasMessageContaining("schema 2");
  }

  @Test
  void severalClientsShareAFile() throws Exception {
    try (LoadDatabase one = LoadDatabase.write(file());
        LoadDatabase other = LoadDatabase.write(file())) {
      one.write(List.of(sample(START, "http://a:1", null, 1)));
      other.write(List.of(sample(START.plusMillis(1), "http://a:1", null, 2)));
      one.write(List.of(sample(START.plusMillis(2), "http://a:1", null, 3)));
      assertThat(rows()).extracting(LoadSample::running).containsExactly(1.0, 2.0, 3.0);
    }
  }

  @Test
  void aKilledWriterLosesAtMostItsLastBatch() throws Exception {
    Path temporary = Files.createDirectory(folder.resolve("tmp"));
    Process child =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx64m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Djava.io.tmpdir=" + temporary,
                "-cp",
                System.getProperty("java.class.path"),
                HistoryWriter.class.getName(),
                file().toString())
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    int committed = 0;
    try (BufferedReader said =
        new BufferedReader(new InputStreamReader(child.getInputStream(), StandardCharsets.UTF_8))) {
      for (String line = said.readLine(); line != null; line = said.readLine()) {
        committed = Integer.parseInt(line);
        if (committed == 200) {
          child.toHandle().destroyForcibly(); // SIGKILL; what it said before is still read
        }
      }
    } finally {
      child.destroyForcibly().waitFor();
    }
    assertThat(committed).isGreaterThanOrEqualTo(200);
    List<LoadSample> rows = rows();
    assertThat(rows.size())
        .isBetween(committed * HistoryWriter.BATCH, (committed + 1) * HistoryWriter.BATCH);
    assertThat(rows.size() % HistoryWriter.BATCH).as("batches are whole").isZero();
    for (int i = 0; i < rows.size(); i++) {
      assertThat((int) rows.get(i).running()).isEqualTo(i / HistoryWriter.BATCH);
    }
    try (LoadDatabase again = LoadDatabase.write(file())) {
      again.write(List.of(sample(START, "http://a:1", null, 7)));
    }
    assertThat(rows()).hasSize(rows.size() + 1);
  }

  @Test
  void theEnvironmentNamesAFile() {
    assertThat(LoadHistorySettings.from(Map.of())).isEmpty();
    assertThat(LoadHistorySettings.from(Map.of(LoadHistorySettings.VARIABLE, " "))).isEmpty();
    assertThat(LoadHistorySettings.from(Map.of(LoadHistorySettings.VARIABLE, "/x/loads.db")))
        .hasValue(LoadHistorySettings.of(Path.of("/x/loads.db")));
  }
}

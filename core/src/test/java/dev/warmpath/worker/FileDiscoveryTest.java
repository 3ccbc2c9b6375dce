package dev.warmpath.worker;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FileDiscoveryTest {
  @TempDir Path directory;
  private final VirtualScheduler time = new VirtualScheduler();
  private final DiscoveryLog log = new DiscoveryLog();
  private Path file;
  private FileDiscovery discovery;

  @BeforeEach
  void create() {
    file = directory.resolve("workers.txt");
    discovery = FileDiscovery.builder(file).scheduler(time).build();
  }

  @AfterEach
  void close() {
    discovery.close();
    time.advance(ofMinutes(1));
    assertThat(time.pending()).isZero();
  }

  private void write(String text) throws IOException {
    Files.writeString(file, text);
  }

  private void start() {
    discovery.start(log);
    time.run();
  }

  @Test
  void oneWorkerPerLine() throws IOException {
    write("# ours\nhttp://a:1;role=prefill;zone=x\r\n\n  http://b:1  \n# http://c:1\n");
    start();
    assertThat(log.last()).containsExactly("http://a:1", "http://b:1");
    assertThat(log.specs().get(0).role()).isEqualTo(WorkerRole.PREFILL);
    assertThat(log.specs().get(0).labels()).containsEntry("zone", "x");
  }

  @Test
  void aJsonList() throws IOException {
    write(
        """
        [ "http://a:1;dp=2",
          {"url": "http://b:1", "role": "decode", "engine": "sglang", "dp": 4, "block": 64,
           "kv-tokens": 1000, "models": ["m", "n"], "labels": {"zone": "x"}} ]
        """);
    start();
    assertThat(log.last()).containsExactly("http://a:1", "http://b:1");
    WorkerSpec spec = log.specs().get(1);
    assertThat(spec.role()).isEqualTo(WorkerRole.DECODE);
    assertThat(spec.engine()).isEqualTo(EngineKind.SGLANG);
    assertThat(spec.dpSize()).isEqualTo(4);
    assertThat(spec.blockSize()).isEqualTo(64);
    assertThat(spec.kvCapacityTokens()).isEqualTo(1_000);
    assertThat(spec.models()).containsExactly("m", "n");
    assertThat(spec.labels()).containsEntry("zone", "x");
  }

  @Test
  void workersHaveInCommonWhatTheyAreGiven() throws IOException {
    write("http://a:1;role=prefill\n");
    discovery =
        FileDiscovery.builder(file)
            .scheduler(time)
            .workers(worker -> worker.apiKey(Secret.of("k")))
            .build();
    start();
    assertThat(log.specs().get(0).apiKey()).isEqualTo(Secret.of("k"));
    assertThat(log.specs().get(0).role()).isEqualTo(WorkerRole.PREFILL);
  }

  @Test
  void aChangeIsTakenOnceItHasSettled() throws IOException {
    write("http://a:1\n");
    start();
    write("http://b:1\nhttp://c");
    time.advance(ofSeconds(2));
    assertThat(log.lists()).hasSize(1);
    write("http://b:1\nhttp://c:1\n");
    time.advance(ofMillis(200));
    assertThat(log.lists()).hasSize(1);
    time.advance(ofMillis(200));
    assertThat(log.last()).containsExactly("http://b:1", "http://c:1");
    time.advance(ofMinutes(1));
    assertThat(log.lists()).hasSize(2);
    assertThat(log.errors()).isEmpty();
  }

  @Test
  void aChangeOfTheSameSizeAndTimeIsSeen() throws IOException {
    write("http://a:1\n");
    start();
    var stamp = Files.getLastModifiedTime(file);
    write("http://b:1\n");
    Files.setLastModifiedTime(file, stamp);
    time.advance(ofSeconds(3));
    assertThat(log.last()).containsExactly("http://b:1");
  }

  @Test
  void aFileReplacedByARename() throws IOException {
    write("http://a:1\n");
    start();
    Path next = directory.resolve("workers.tmp");
    Files.writeString(next, "http://b:1\n");
    Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    time.advance(ofSeconds(3));
    assertThat(log.last()).containsExactly("http://b:1");
  }

  @Test
  void aMountedConfigMap() throws IOException {
    // workers.txt -> ..data/workers.txt, ..data -> ..2026_1; an update swaps ..data by a rename.
    for (int version = 1; version <= 2; version++) {
      Path data = Files.createDirectory(directory.resolve("..2026_" + version));
      Files.writeString(data.resolve("workers.txt"), "http://v" + version + ":1\n");
    }
    Path link = directory.resolve("..data");
    Files.createSymbolicLink(link, Path.of("..2026_1"));
    Files.createSymbolicLink(file, Path.of("..data/workers.txt"));
    start();
    assertThat(log.last()).containsExactly("http://v1:1");
    Path swap = directory.resolve("..data_tmp");
    Files.createSymbolicLink(swap, Path.of("..2026_2"));
    Files.move(swap, link, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    Files.delete(directory.resolve("..2026_1/workers.txt"));
    time.advance(ofSeconds(3));
    assertThat(log.last()).containsExactly("http://v2:1");
    assertThat(log.errors()).isEmpty();
  }

  @Test
  void aFileThatIsNotThereYet() throws IOException {
    start();
    assertThat(log.lists()).isEmpty();
    assertThat(log.errors()).hasSize(1).first().asString().contains("is not there");
    write("http://a:1\n");
    time.advance(ofSeconds(5));
    assertThat(log.last()).containsExactly("http://a:1");
  }

  @Test
  void aFileThatVanishesLeavesTheLastList() throws IOException {
    write("http://a:1\n");
    start();
    Files.delete(file);
    time.advance(ofMinutes(1));
    assertThat(log.lists()).hasSize(1);
    assertThat(log.errors()).isNotEmpty();
    write("http://a:1\n");
    time.advance(ofSeconds(5));
    assertThat(log.lists()).as("nothing new").hasSize(1);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "' '|lists no worker",
        "'# nobody'|lists no worker",
        "'http://b:1\nb:1'|line 2: worker address 'b:1'",
        "'http://b:1\nhttp://b:1/'|line 2: worker http://b:1 stands there twice",
        "'http://b:1;dp=x'|line 1: worker 'http://b:1': dp=x",
        "'[\n\"http://b:1\",'|is not valid JSON at line 2",
        "'[] []'|is not valid JSON",
        "'[{\"url\":\"http://b:1\",\"url\":\"http://c:1\"}]'|is not valid JSON",
        "'[1]'|entry 1: a worker is a string or an object",
        "'[{}]'|entry 1: a worker is a string or an object",
        "'[\"http://b:1\",{\"url\":\"x\"}]'|entry 2: worker address 'x'",
        "'[{\"url\":\"http://b:1\",\"rolle\":\"x\"}]'|entry 1: unknown key 'rolle'",
        "'[{\"url\":\"http://b:1\",\"role\":1}]'|entry 1: 'role' must be a string",
        "'[{\"url\":\"http://b:1\",\"dp\":\"2\"}]'|entry 1: 'dp' must be a whole number",
        "'[{\"url\":\"http://b:1\",\"dp\":2.5}]'|entry 1: 'dp' must be a whole number",
        "'[{\"url\":\"http://b:1\",\"dp\":0}]'|entry 1: worker 'http://b:1': 0 ranks",
        "'[{\"url\":\"http://b:1\",\"models\":\"m\"}]'|entry 1: 'models' must be a list",
        "'[{\"url\":\"http://b:1\",\"models\":[1]}]'|entry 1: 'models' must be a string",
        "'[{\"url\":\"http://b:1\",\"labels\":[1]}]'|entry 1: 'labels' must be an object",
        "'[{\"url\":\"http://b:1\",\"labels\":{\"k\":1}}]'|entry 1: 'label k' must be a string",
      })
  void aBadFileIsReportedAndTheLastListStays(String text, String message) throws IOException {
    write("http://a:1\n");
    start();
    write(text);
    time.advance(ofMinutes(1));
    assertThat(log.lists()).hasSize(1);
    assertThat(log.errors()).as("once").hasSize(1);
    assertThat(log.errors().get(0)).startsWith("worker file " + file + ": ").contains(message);
    write("http://a:1\n");
    time.advance(ofSeconds(5));
    assertThat(log.last()).containsExactly("http://a:1");
  }

  @Test
  void aBadFileAtTheStartIsReported() throws IOException {
    write("[");
    start();
    assertThat(log.errors()).hasSize(1);
    write("[]");
    time.advance(ofSeconds(5));
    assertThat(log.last()).isEmpty();
  }

  @Test
  void anEmptyJsonListIsMeant() throws IOException {
    write("http://a:1\n");
    start();
    write(" []\n");
    time.advance(ofSeconds(5));
    assertThat(log.last()).isEmpty();
  }

  @Test
  void bytesThatAreNoText() throws IOException {
    Files.write(file, "http://\u00e4:1".getBytes(StandardCharsets.ISO_8859_1));
    start();
    assertThat(log.errors()).hasSize(1).first().asString().contains("UTF-8");
  }

  @Test
  void aDirectoryIsNoFile() throws IOException {
    Files.createDirectory(file);
    start();
    assertThat(log.errors()).hasSize(1);
  }

  @Test
  void nothingIsReadAfterClosing() throws IOException {
    write("http://a:1\n");
    start();
    discovery.close();
    write("http://b:1\n");
    time.advance(ofMinutes(1));
    assertThat(log.lists()).hasSize(1);
  }

  @Test
  void nonsenseIsRefused() {
    assertThatThrownBy(() -> FileDiscovery.builder(file).interval(Duration.ZERO))
        .hasMessageContaining("too short");
    assertThat(discovery.name()).isEqualTo("file:" + file);
  }

  @Test
  void itFollowsOnAThreadOfItsOwnToo() throws Exception {
    write("http://a:1\n");
    java.util.concurrent.CompletableFuture<List<String>> found =
        new java.util.concurrent.CompletableFuture<>();
    java.util.concurrent.CompletableFuture<Thread> thread =
        new java.util.concurrent.CompletableFuture<>();
    FileDiscovery own = FileDiscovery.of(file);
    own.start(
        new WorkerDiscovery.Listener() {
          @Override
          public void onWorkers(java.util.Collection<WorkerSpec> workers) {
            thread.complete(Thread.currentThread());
            found.complete(workers.stream().map(WorkerSpec::toString).toList());
          }

          @Override
          public void onError(Exception error) {
            found.completeExceptionally(error);
          }
        });
    assertThat(found.get()).containsExactly("http://a:1");
    assertThat(thread.get().isDaemon()).isTrue();
    own.close();
    thread.get().join();
  }
}

package dev.warmpath;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.ScriptedTransport.Script;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.worker.Secret;
import dev.warmpath.worker.WorkerDiscovery;
import dev.warmpath.worker.WorkerSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TopologyStoreTest {
  private static final String BODY =
      "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}]}";

  @TempDir Path folder;
  private final List<String> sent = new ArrayList<>();

  /** A source that tells when the test says so. */
  private static final class Told implements WorkerDiscovery {
    private @Nullable Listener listener;

    @Override
    public String name() {
      return "told";
    }

    @Override
    public void start(Listener listener) {
      this.listener = listener;
    }

    void tell(String... workers) {
      List<WorkerSpec> specs = new ArrayList<>();
      for (String worker : workers) {
        specs.add(WorkerSpec.parse(worker).toBuilder().apiKey(Secret.of("sk-secret")).build());
      }
      Objects.requireNonNull(listener).onWorkers(specs);
    }

    @Override
    public void close() {}
  }

  private Path file() {
    return folder.resolve("topology");
  }

  private RouterClient client(Told discovery) {
    return RouterClient.builder()
        .worker("http://fixed:1;engine=vllm;model=other")
        .discovery(discovery)
        .topologyFile(file())
        .transport(
            new ScriptedTransport(
                request -> {
                  sent.add(request.target().worker().id().value());
                  return Script.ok("{\"choices\":[]}");
                }))
        .build();
  }

  private static List<String> workers(RouterClient client) {
    return client.workers().list().stream()
        .map(view -> view.worker().id().value())
        .sorted()
        .toList();
  }

  @Test
  void aClientStartsWithWhatDiscoveryLastToldUntilItTellsAnew() throws IOException {
    Told first = new Told();
    try (RouterClient client = client(first)) {
      first.tell("http://a:1;engine=vllm;model=m", "http://b:1;engine=vllm;model=m");
      assertThat(workers(client)).hasSize(3);
    }
    assertThat(Files.readString(file())).contains("http://a:1").doesNotContain("secret", "fixed");
    Told silent = new Told();
    try (RouterClient client = client(silent)) {
      assertThat(workers(client)).containsExactly("http://a:1", "http://b:1", "http://fixed:1");
      client.send(RouterRequest.chatCompletions(BODY));
      assertThat(sent).hasSize(1).isSubsetOf("http://a:1", "http://b:1");
    }
    Told answering = new Told();
    try (RouterClient client = client(answering)) {
      assertThat(workers(client)).as("kept though nothing was told last time").hasSize(3);
      answering.tell("http://c:1;engine=vllm;model=m");
      assertThat(workers(client)).containsExactly("http://c:1", "http://fixed:1");
    }
    try (var left = Files.list(folder)) {
      assertThat(left).containsExactly(file());
    }
  }

  @Test
  void aFileThatIsDamagedIsIgnoredAndWrittenAnew() throws IOException {
    Files.writeString(file(), "warmpath-topology 1\ntold\thttp://a:1\nno tab here\n");
    Told discovery = new Told();
    try (RouterClient client = client(discovery)) {
      assertThat(workers(client)).containsExactly("http://fixed:1");
      discovery.tell("http://d:1");
    }
    assertThat(Files.readAllLines(file()))
        .containsExactly("warmpath-topology 1", "told\thttp://d:1");
  }
}

package dev.warmpath.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.RouterClient;
import dev.warmpath.api.RouterStream;
import dev.warmpath.prompt.ModelFiles;
import dev.warmpath.worker.Worker;
import io.grpc.ManagedChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Channels end with their workers, but not before their calls. */
class DepartedWorkersIT {
  @TempDir private static Path folder;
  private static ModelFiles files;

  @BeforeAll
  static void loadModel() {
    files = TinyModel.files(folder.resolve("tiny"));
  }

  private static Worker worker(RouterClient router, String url) {
    return router.workers().list().stream()
        .map(view -> view.worker())
        .filter(worker -> worker.id().value().equals(url))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void onlyTheChannelOfAWorkerThatLeftIsClosed() throws Exception {
    try (Fixture fixture = new Fixture()) {
      String leaves = fixture.serve(fixture.engines.sglangScheduler());
      String stays = fixture.serve(fixture.engines.sglangScheduler());
      RouterClient router = fixture.route(files, leaves, stays);
      ManagedChannel left = fixture.transport.channel(worker(router, leaves));
      Worker other = worker(router, stays);
      ManagedChannel kept = fixture.transport.channel(other);

      router.workers().remove(leaves);

      assertThat(left.isShutdown()).isTrue();
      await().atMost(Duration.ofMinutes(1)).until(left::isTerminated);
      assertThat(kept.isShutdown()).isFalse();
      assertThat(fixture.transport.channel(other)).isSameAs(kept);

      router.workers().add(leaves);
      await().atMost(Duration.ofMinutes(1)).until(() -> router.workers().list().size() == 2);
      assertThat(fixture.transport.channel(worker(router, leaves)).isShutdown()).isFalse();
    }
  }

  @Test
  void whatALateCallOpensGoesWithTheNextChange() throws Exception {
    try (Fixture fixture = new Fixture()) {
      String leaves = fixture.serve(fixture.engines.sglangScheduler());
      String leavesLater = fixture.serve(fixture.engines.sglangScheduler());
      RouterClient router = fixture.route(files, leaves, leavesLater);
      Worker departed = worker(router, leaves);
      router.workers().remove(leaves);
      ManagedChannel late = fixture.transport.channel(departed);
      assertThat(late.isShutdown()).isFalse();

      router.workers().remove(leavesLater);

      assertThat(late.isShutdown()).isTrue();
    }
  }

  @Test
  void aStreamOutlastsItsWorkersPlaceInTheTopology() throws Exception {
    try (Fixture fixture = new Fixture()) {
      fixture.engines.answer = "warm paths ".repeat(100);
      String url = fixture.serve(fixture.engines.sglangScheduler());
      RouterClient router = fixture.route(files, url);
      ManagedChannel channel = fixture.transport.channel(worker(router, url));

      try (RouterStream stream = router.stream(Fixture.chat(",\"stream\":true"))) {
        List<JsonNode> events = new ArrayList<>();
        events.add(Fixture.JSON.readTree(Objects.requireNonNull(stream.next()).data()));
        router.workers().remove(url);
        assertThat(channel.isShutdown()).isTrue();
        assertThat(channel.isTerminated()).isFalse();

        events.addAll(Fixture.events(stream));

        assertThat(Fixture.text(events)).isEqualTo(fixture.engines.answer);
      }
      await().atMost(Duration.ofMinutes(1)).until(channel::isTerminated);
    }
  }

  @Test
  void aCancelStillReachesTheEngineByAnAbort() throws Exception {
    try (Fixture fixture = new Fixture()) {
      fixture.engines.hang = true;
      String url = fixture.serve(fixture.engines.vllmInference(), fixture.engines.vllmControl());
      RouterClient router = fixture.route(files, url);
      ManagedChannel channel = fixture.transport.channel(worker(router, url));
      CompletableFuture<RouterStream> future = router.streamAsync(Fixture.chat(",\"stream\":true"));
      assertThat(fixture.engines.requests.poll(30, TimeUnit.SECONDS)).isNotNull();

      router.workers().remove(url);
      assertThat(channel.isShutdown()).isTrue();
      assertThat(fixture.engines.cancelled.getCount()).isEqualTo(1);
      assertThat(future.cancel(true)).isTrue();

      assertThat(fixture.engines.cancelled.await(30, TimeUnit.SECONDS)).isTrue();
      assertThat(fixture.engines.aborted.poll(30, TimeUnit.SECONDS)).hasSize(32);
      await().atMost(Duration.ofMinutes(1)).until(channel::isTerminated);
    }
  }

  @Test
  void closingTheTransportCutsWhatOutlastedItsWorker() throws Exception {
    try (Fixture fixture = new Fixture()) {
      fixture.engines.hang = true;
      String url = fixture.serve(fixture.engines.sglangScheduler());
      RouterClient router = fixture.route(files, url);
      ManagedChannel channel = fixture.transport.channel(worker(router, url));
      CompletableFuture<RouterStream> future = router.streamAsync(Fixture.chat(",\"stream\":true"));
      assertThat(fixture.engines.requests.poll(30, TimeUnit.SECONDS)).isNotNull();
      router.workers().remove(url);

      fixture.transport.close();

      await().atMost(Duration.ofMinutes(1)).until(channel::isTerminated);
      await().atMost(Duration.ofMinutes(1)).until(future::isDone);
    }
  }
}

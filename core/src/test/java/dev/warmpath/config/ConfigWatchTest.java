package dev.warmpath.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.worker.Secret;
import dev.warmpath.worker.VirtualScheduler;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConfigWatchTest {
  private static final Duration INTERVAL = Duration.ofSeconds(2);

  private final VirtualScheduler time = new VirtualScheduler();
  private final List<RouterConfig> taken = new ArrayList<>();
  private Path file;
  private Path key;
  private ConfigWatch watch;
  private boolean refusing;

  @BeforeEach
  void start(@TempDir Path dir) throws IOException {
    file = dir.resolve("router.yaml");
    key = dir.resolve("key");
    Files.writeString(key, "first");
    Files.writeString(file, "policy: random\napi_key: ${file:" + key + "}");
    watch =
        ConfigWatch.start(
            file,
            RouterConfig.read(file),
            INTERVAL,
            time,
            config -> {
              if (refusing) {
                throw new ConfigException("refused");
              }
              taken.add(config);
            });
  }

  @AfterEach
  void stop() {
    watch.close();
  }

  private void looks(int count) {
    time.advance(INTERVAL.multipliedBy(count));
  }

  private void write(String text) throws IOException {
    Files.writeString(file, text);
  }

  @Test
  void aChangeIsTakenOnceItHasSettled() throws IOException {
    looks(5);
    assertThat(taken).isEmpty();
    write("policy: pin");
    looks(1);
    assertThat(taken).isEmpty();
    write("policy: pin>random");
    looks(1);
    assertThat(taken).isEmpty();
    looks(1);
    assertThat(taken).hasSize(1);
    assertThat(taken.get(0).policy().name()).isEqualTo("pin>random");
    looks(5);
    assertThat(taken).hasSize(1);
  }

  @Test
  void aSecretThatIsRotatedInItsOwnFileIsAChange() throws IOException {
    looks(2);
    Files.writeString(key, "second");
    looks(2);
    assertThat(taken).hasSize(1);
    assertThat(taken.get(0).apiKey()).isEqualTo(Secret.of("second"));
  }

  @Test
  void anotherCommentIsNoChange() throws IOException {
    write("# says the same\npolicy: random\napi_key: first");
    looks(5);
    assertThat(taken).isEmpty();
  }

  @Test
  void aBrokenOrMissingFileLeavesTheOldOneUntilItIsMended() throws IOException {
    write("policy: [");
    looks(3);
    Files.delete(file);
    looks(3);
    write("policy: nearest");
    looks(3);
    assertThat(taken).isEmpty();
    write("policy: pin");
    looks(2);
    assertThat(taken).hasSize(1);
  }

  @Test
  void aRefusedChangeIsOfferedAgain() throws IOException {
    refusing = true;
    write("policy: pin");
    looks(3);
    refusing = false;
    looks(1);
    assertThat(taken).hasSize(1);
  }

  @Test
  void nothingIsReadAfterItWasClosed() throws IOException {
    watch.close();
    write("policy: pin");
    looks(5);
    assertThat(taken).isEmpty();
  }
}

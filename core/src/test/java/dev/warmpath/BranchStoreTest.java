package dev.warmpath;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.index.BranchTrie;
import dev.warmpath.prompt.TestPrompts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BranchStoreTest {
  @TempDir Path folder;

  private static RouterClient client(Path file) {
    ScriptedTransport silent =
        new ScriptedTransport(
            request -> {
              throw new AssertionError("nothing is sent");
            });
    return RouterClient.builder().worker("http://w:1").transport(silent).branchFile(file).build();
  }

  private static BranchTrie learned() {
    BranchTrie trie = BranchTrie.builder().build();
    for (String text : new String[] {"a", "b", "c"}) {
      byte[] prompt = text.repeat(640).getBytes(ISO_8859_1);
      trie.visit(TestPrompts.inNamespace("m", prompt).contentKeys()).served(-1);
    }
    return trie;
  }

  @Test
  void whatAClientLearnedIsThereForTheNext() throws IOException {
    Path file = folder.resolve("branches");
    new BranchStore(file).save(learned());
    try (RouterClient client = client(file)) {
      assertThat(client.stats().branches().nodes()).isEqualTo(3);
      Files.delete(file);
    }
    try (RouterClient client = client(file)) {
      assertThat(client.stats().branches().nodes()).isEqualTo(3);
    }
    try (var left = Files.list(folder)) {
      assertThat(left).containsExactly(file);
    }
  }

  @Test
  void aFileThatIsDamagedOrMissingIsIgnoredAndWrittenAnew() throws IOException {
    Path file = folder.resolve("branches");
    Files.write(file, new byte[] {1, 2, 3});
    try (RouterClient client = client(file)) {
      assertThat(client.stats().branches().nodes()).isZero();
    }
    BranchTrie later = BranchTrie.builder().build();
    new BranchStore(file).load(later);
    assertThat(later.stats().nodes()).isZero();
    assertThat(Files.size(file)).isGreaterThan(3);
  }

  @Test
  void aFolderThatIsNotThereCostsNothingButTheStatistics() {
    Path file = folder.resolve("missing").resolve("branches");
    client(file).close();
    assertThat(file).doesNotExist();
  }
}

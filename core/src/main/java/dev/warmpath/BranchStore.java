package dev.warmpath;

import dev.warmpath.index.BranchTrie;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The file in which a client keeps where prompts part, from one run to the next: hashes, no text.
 * What can't be read or written is told once, and the client goes on without.
 */
final class BranchStore {
  private static final Logger log = LoggerFactory.getLogger(BranchStore.class);

  private final Path file;

  BranchStore(Path file) {
    this.file = file;
  }

  void load(BranchTrie into) {
    if (!Files.exists(file)) {
      return;
    }
    try (InputStream in = new BufferedInputStream(Files.newInputStream(file))) {
      int read = into.load(in);
      log.debug("Read {} stretches of branch statistics from {}", read, file);
    } catch (IOException e) {
      log.warn("The branch statistics in {} can't be read, and are learned anew", file, e);
    }
  }

  void save(BranchTrie from) {
    try {
      SavedFile.replace(file, from::save);
    } catch (IOException e) {
      log.warn("The branch statistics can't be written to {}", file, e);
    }
  }
}

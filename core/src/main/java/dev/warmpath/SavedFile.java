package dev.warmpath;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** Writes a file that is read at the next start. */
final class SavedFile {
  private SavedFile() {}

  /** What writes it. */
  interface Content {
    void writeTo(OutputStream out) throws IOException;
  }

  /** Writes it beside the old one first, so that a crash leaves the old one or the new one. */
  static void replace(Path file, Content content) throws IOException {
    Path target = file.toAbsolutePath();
    Path beside = target.resolveSibling(target.getFileName() + ".new");
    try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(beside))) {
      content.writeTo(out);
    }
    Files.move(beside, target, StandardCopyOption.REPLACE_EXISTING);
  }
}

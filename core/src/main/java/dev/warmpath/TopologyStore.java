package dev.warmpath;

import dev.warmpath.worker.WorkerSpec;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The file in which a client keeps what discovery last told of workers, so that it starts with them
 * where discovery does not answer: a line for each, the source and the worker's one-line form
 * behind a tab; without keys. What can't be read or written is told once, and the client goes on
 * without.
 */
final class TopologyStore {
  private static final Logger log = LoggerFactory.getLogger(TopologyStore.class);

  private static final String HEAD = "warmpath-topology 1";

  private final Path file;

  TopologyStore(Path file) {
    this.file = file;
  }

  /** The workers by their source. */
  Map<String, List<WorkerSpec>> load() {
    Map<String, List<WorkerSpec>> known = new LinkedHashMap<>();
    if (!Files.exists(file)) {
      return known;
    }
    try {
      List<String> lines = Files.readAllLines(file);
      if (lines.isEmpty() || !lines.get(0).equals(HEAD)) {
        throw new IOException("it does not begin with '" + HEAD + "'");
      }
      for (String line : lines.subList(1, lines.size())) {
        int tab = line.indexOf('\t');
        if (tab < 0) {
          throw new IOException("a line has no tab");
        }
        known
            .computeIfAbsent(line.substring(0, tab), source -> new ArrayList<>())
            .add(WorkerSpec.parse(line.substring(tab + 1)));
      }
      return known;
    } catch (IOException | IllegalArgumentException e) {
      log.warn("The workers in {} can't be read, and are discovered anew", file, e);
      return Map.of();
    }
  }

  void save(Map<String, ? extends Collection<WorkerSpec>> known) {
    StringBuilder text = new StringBuilder(HEAD).append('\n');
    known.forEach(
        (source, specs) -> {
          for (WorkerSpec spec : specs) {
            String line = spec.line();
            if (line != null) {
              text.append(source).append('\t').append(line).append('\n');
            }
          }
        });
    try {
      SavedFile.replace(file, out -> out.write(text.toString().getBytes(StandardCharsets.UTF_8)));
    } catch (IOException e) {
      log.warn("The workers can't be written to {}", file, e);
    }
  }
}

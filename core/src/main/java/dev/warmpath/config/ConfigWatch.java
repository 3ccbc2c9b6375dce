package dev.warmpath.config;

import dev.warmpath.worker.Scheduler;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Follows a configuration file. Its content is what is watched, with that of the files it refers
 * to, so that renames, swapped links (a mounted Kubernetes ConfigMap or Secret) and file systems
 * without notifications are all followed alike. A change is taken once two readings in a row agree,
 * so a file that is still being written is not.
 *
 * <p>A file that can't be read, is wrong, or asks for what a running client can't change is
 * reported once for each reason, and the old configuration stays. Reads run on the scheduler.
 */
public final class ConfigWatch implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(ConfigWatch.class);

  private final Path file;
  private final Duration interval;
  private final Scheduler scheduler;
  private final boolean owned;
  private final Consumer<RouterConfig> taker;
  private volatile boolean closed;

  // Touched by the scheduler's tasks only.
  private RouterConfig taken;
  private @Nullable RouterConfig seen;
  private @Nullable String plainText;
  private @Nullable String problem;

  private ConfigWatch(
      Path file,
      RouterConfig first,
      Duration interval,
      Scheduler scheduler,
      boolean owned,
      Consumer<RouterConfig> taker) {
    this.file = file;
    this.taken = first;
    this.interval = interval;
    this.scheduler = scheduler;
    this.owned = owned;
    this.taker = taker;
  }

  /**
   * Begins to follow a file.
   *
   * @param first what was read of it before
   * @param interval between two looks
   * @param scheduler where to look, or null for a daemon thread of its own
   * @param taker takes what the file came to say; may refuse with an exception
   */
  public static ConfigWatch start(
      Path file,
      RouterConfig first,
      Duration interval,
      @Nullable Scheduler scheduler,
      Consumer<RouterConfig> taker) {
    ConfigWatch watch =
        new ConfigWatch(
            file,
            first,
            interval,
            scheduler == null ? Scheduler.onThread("warmpath-config") : scheduler,
            scheduler == null,
            taker);
    watch.scheduler.schedule(interval, watch::look);
    return watch;
  }

  private void look() {
    if (closed) {
      return;
    }
    try {
      String text = RouterConfig.text(file);
      if (!text.equals(plainText)) {
        read(text);
      }
      problem = null;
    } catch (RuntimeException e) {
      plainText = null;
      report(e);
    }
    scheduler.schedule(interval, this::look);
  }

  private void read(String text) {
    RouterConfig found = RouterConfig.parse(text, file.toString());
    RouterConfig before = seen;
    seen = found;
    if (found.saysTheSame(taken)) {
      // Nothing but the text decides then, unless it refers to other files.
      plainText = text.contains("${") ? null : text;
    } else if (before != null && found.saysTheSame(before)) {
      taker.accept(found);
      taken = found;
    }
  }

  private void report(RuntimeException e) {
    String message = String.valueOf(e.getMessage());
    if (!message.equals(problem)) {
      problem = message;
      if (e instanceof ConfigException) {
        log.warn("The old configuration stays in force: {}", message);
      } else {
        log.warn("The old configuration stays in force: {} could not be taken", file, e);
      }
    }
  }

  /** Stops following. Idempotent. */
  @Override
  public void close() {
    closed = true;
    if (owned) {
      scheduler.close();
    }
  }
}

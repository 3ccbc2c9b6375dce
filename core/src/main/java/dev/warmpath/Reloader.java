package dev.warmpath;

import dev.warmpath.config.ConfigWatch;
import dev.warmpath.config.RouterConfig;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings other configurations into force, one after another, whoever asks for it, and follows the
 * file where there is one. Thread safe.
 */
final class Reloader implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Reloader.class);

  private final Consumer<ClientSettings> taker;
  private final ReentrantLock lock = new ReentrantLock();
  private final @Nullable ConfigWatch watch;
  private ClientSettings current;

  /**
   * @param taker brings settings into force, and fails only before it has begun to
   */
  Reloader(ClientSettings first, Consumer<ClientSettings> taker) {
    this.current = first;
    this.taker = taker;
    Path file = first.options.configFile;
    this.watch =
        file == null || first.config.reloadInterval().isZero()
            ? null
            : ConfigWatch.start(
                file,
                first.config,
                first.config.reloadInterval(),
                first.options.scheduler,
                this::reload);
  }

  void reload(RouterConfig config) {
    lock.lock();
    try {
      config.requireReloadableFrom(current.config);
      List<String> changed = current.config.changes(config, false);
      ClientSettings next = new ClientSettings(current.options, config);
      taker.accept(next);
      current = next;
      log.info("Configuration {} is in force; changed are {}", config, changed);
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    if (watch != null) {
      watch.close();
    }
  }
}

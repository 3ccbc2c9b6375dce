package dev.warmpath.worker;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The workers that a file lists, followed as it changes.
 *
 * <p>The file holds either a JSON list or one worker per line, in the form of {@link
 * WorkerSpec#parse}; blank lines and lines that begin with {@code #} are skipped. A JSON list holds
 * such strings, or objects with {@code url} and, optionally, {@code role}, {@code engine}, {@code
 * dp}, {@code block}, {@code kv-tokens}, {@code models} (a list) and {@code labels} (an object).
 * Keys (secrets) don't stand in it: see {@link Builder#workers}.
 *
 * <p>The content is what is watched, read at an interval (2 s by default): a file replaced by a
 * rename, one reached through links that are swapped (a mounted Kubernetes ConfigMap) and one on a
 * file system without notifications are all followed alike. A change is taken once two readings in
 * a row show the same content, so a file that is still being written is not. A file that is
 * missing, unreadable, wrong or blank is reported and the last list stays; a list without workers
 * is written {@code []}.
 *
 * <p>Thread safe. Reads run on a scheduler of this object's own: one daemon thread, started by
 * {@link #start} and ended by {@link #close}.
 */
public final class FileDiscovery implements WorkerDiscovery {
  /** The time between two readings where none is set. */
  public static final Duration DEFAULT_INTERVAL = Duration.ofSeconds(2);

  private static final Duration SETTLE = Duration.ofMillis(200);
  private static final int MAX_BYTES = 16 << 20;

  private final Path file;
  private final UnaryOperator<WorkerSpec.Builder> customizer;
  private final Duration interval;
  private final @Nullable Scheduler givenScheduler;
  private volatile @Nullable Scheduler ownScheduler;
  private volatile boolean closed;

  // Touched by the scheduler's tasks only.
  private byte @Nullable [] taken;
  private byte @Nullable [] seen;
  private boolean first = true;

  private FileDiscovery(Builder builder) {
    this.file = builder.file;
    this.customizer = builder.customizer;
    this.interval = builder.interval;
    this.givenScheduler = builder.scheduler;
  }

  /** Follows {@code file}. */
  public static FileDiscovery of(Path file) {
    return builder(file).build();
  }

  /** Starts a discovery that follows {@code file}. */
  public static Builder builder(Path file) {
    return new Builder(file);
  }

  @Override
  public String name() {
    return "file:" + file;
  }

  @Override
  public void start(Listener listener) {
    if (closed) {
      return;
    }
    Scheduler scheduler = givenScheduler;
    if (scheduler == null) {
      scheduler = Scheduler.onThread("warmpath-file-" + file.getFileName());
      ownScheduler = scheduler;
    }
    Scheduler timer = scheduler;
    timer.execute(() -> look(timer, listener));
  }

  private void look(Scheduler timer, Listener listener) {
    if (closed) {
      return;
    }
    Duration next = interval;
    try {
      byte[] content = read();
      if (!Arrays.equals(content, taken)) {
        if (first || Arrays.equals(content, seen)) {
          taken = content;
          listener.onWorkers(WorkerFile.parse(content, customizer));
        } else {
          next = SETTLE;
        }
      }
      seen = content;
    } catch (IOException | IllegalArgumentException e) {
      seen = null;
      listener.onError(new IOException("worker file " + file + ": " + problem(e), e));
    }
    first = false;
    timer.schedule(next, () -> look(timer, listener));
  }

  private static String problem(Exception e) {
    return e instanceof NoSuchFileException ? "is not there" : String.valueOf(e.getMessage());
  }

  private byte[] read() throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      byte[] content = in.readNBytes(MAX_BYTES + 1);
      if (content.length > MAX_BYTES) {
        throw new IOException("is larger than " + MAX_BYTES + " bytes");
      }
      return content;
    }
  }

  @Override
  public void close() {
    closed = true;
    Scheduler scheduler = ownScheduler;
    if (scheduler != null) {
      scheduler.close();
    }
  }

  /** Builds a {@link FileDiscovery}. Not thread safe. */
  public static final class Builder {
    private final Path file;
    private UnaryOperator<WorkerSpec.Builder> customizer = UnaryOperator.identity();
    private Duration interval = DEFAULT_INTERVAL;
    private @Nullable Scheduler scheduler;

    private Builder(Path file) {
      this.file = file;
    }

    /** Sets what every worker has in common (role, engine, keys, labels), given its own entry. */
    public Builder workers(UnaryOperator<WorkerSpec.Builder> customizer) {
      this.customizer = customizer;
      return this;
    }

    /** Sets the time between readings; 2 s by default. */
    public Builder interval(Duration interval) {
      if (interval.isNegative() || interval.isZero()) {
        throw new IllegalArgumentException(
            "worker file " + file + ": " + interval + " is too short");
      }
      this.interval = interval;
      return this;
    }

    /** Runs the readings on a scheduler of the caller's, who closes it. */
    public Builder scheduler(Scheduler scheduler) {
      this.scheduler = scheduler;
      return this;
    }

    /** The finished source; nothing is read before it is started. */
    public FileDiscovery build() {
      return new FileDiscovery(this);
    }
  }
}

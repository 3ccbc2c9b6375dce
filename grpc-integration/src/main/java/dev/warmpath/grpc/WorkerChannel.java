package dev.warmpath.grpc;

import dev.warmpath.worker.TlsFiles;
import dev.warmpath.worker.Worker;
import io.grpc.ManagedChannel;
import java.io.IOException;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The channel to a worker, and another in its place when the TLS files it was made of were
 * replaced: a connection never asks for them again, and lasts for as long as it is used. Thread
 * safe.
 */
final class WorkerChannel {
  private static final Logger log = LoggerFactory.getLogger(WorkerChannel.class);

  private final Function<Worker, ManagedChannel> channels;
  private final ReentrantLock changes = new ReentrantLock();
  private volatile ManagedChannel current;

  // The rest is guarded by the lock.
  private @Nullable Source madeOf;
  private @Nullable Source lastSeen;
  private final List<ManagedChannel> replaced = new ArrayList<>();
  private boolean over;

  /** The files as they are at one time; null where there are none. */
  private record Source(TlsFiles files, List<FileTime> modified) {
    static @Nullable Source of(Worker worker) throws IOException {
      TlsFiles files = worker.spec().tls();
      return files == null ? null : new Source(files, files.modified());
    }
  }

  /**
   * Opens the first channel.
   *
   * @param channels opens channels by a worker's files
   * @throws IllegalArgumentException when the files can't be used
   */
  WorkerChannel(Function<Worker, ManagedChannel> channels, Worker worker) {
    this.channels = channels;
    try {
      madeOf = Source.of(worker);
    } catch (IOException e) {
      // which opening says better, or they are there by then and have changed at the first look
    }
    lastSeen = madeOf;
    current = channels.apply(worker);
  }

  /** For the next call: those to come may have another. */
  ManagedChannel current() {
    return current;
  }

  /**
   * Looks whether the files were replaced, and opens another channel when two looks in a row found
   * them so: a certificate may be there before its key. Calls that run end on the channel that they
   * began on, which is shut down at the next look, when nobody is about to begin one there. Files
   * that can't be used leave the channel as it is. Looks that others are in the middle of are left
   * out.
   */
  void look(Worker worker) {
    if (!changes.tryLock()) {
      return;
    }
    try {
      if (over) {
        return;
      }
      replaced.forEach(ManagedChannel::shutdown);
      replaced.removeIf(ManagedChannel::isTerminated);
      Source now = Source.of(worker);
      boolean still = Objects.equals(now, lastSeen);
      lastSeen = now;
      if (still && !Objects.equals(now, madeOf)) {
        madeOf = now; // also when it fails: told once, and tried again when they change
        ManagedChannel next = channels.apply(worker);
        if (next != current) {
          replaced.add(current);
          current = next;
        }
      }
    } catch (IOException e) {
      // being replaced just now
    } catch (RuntimeException e) {
      log.warn("{} keeps its TLS connection: {}", worker.id(), e.getMessage());
    } finally {
      changes.unlock();
    }
  }

  /** Takes no further calls; those that run end in their own time. */
  void shutdown() {
    end(ManagedChannel::shutdown);
  }

  /** Cuts all calls. */
  void shutdownNow() {
    end(ManagedChannel::shutdownNow);
  }

  private void end(Consumer<ManagedChannel> how) {
    changes.lock();
    try {
      over = true;
      how.accept(current);
      replaced.forEach(how);
    } finally {
      changes.unlock();
    }
  }

  /** Whether it was shut down and no call runs any more. */
  boolean isTerminated() {
    changes.lock();
    try {
      return current.isTerminated() && replaced.stream().allMatch(ManagedChannel::isTerminated);
    } finally {
      changes.unlock();
    }
  }
}

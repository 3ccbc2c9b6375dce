package dev.warmpath.index.kv;

import dev.warmpath.index.KvStream;
import dev.warmpath.worker.WorkerRank;
import org.jspecify.annotations.Nullable;

/**
 * A way by which engines tell of their KV caches. Called by one thread at a time, which must not be
 * kept waiting for the network.
 */
public interface KvSubscriber extends AutoCloseable {
  /**
   * Where a rank tells by this way.
   *
   * @return a text that is another one where the rank has to be listened to anew; null where it
   *     does not tell, or it is not known yet
   */
  @Nullable String endpoint(WorkerRank rank);

  /**
   * Begins to fill a stream with what a rank tells. A rank that can't be reached is tried until the
   * subscription is closed.
   *
   * @param rank who tells
   * @param stream takes in its batches
   */
  Subscription subscribe(WorkerRank rank, KvStream stream);

  /** Ends all subscriptions and frees everything. */
  @Override
  void close();

  /** One rank that is listened to. */
  interface Subscription extends AutoCloseable {
    /** Whether the rank can be heard at this moment. */
    boolean connected();

    /** Messages that could not be read, or were not the rank's. */
    long malformed();

    /** No longer fills the stream. Does not wait for what is being applied. */
    @Override
    void close();
  }
}

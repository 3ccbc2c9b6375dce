package dev.warmpath.fake.internal.kv;

/**
 * Hears what a rank publishes, beside its sockets. Called on the publisher's thread; must not block
 * or throw.
 */
public interface KvBatchListener {
  /**
   * Takes a batch that reached the subscribers.
   *
   * @param batch the batch; its number may be one that was there before, or leave some out
   */
  void published(KvBatch batch);

  /** Takes note that the publisher has ended or begun anew, which subscribers have to do too. */
  void over();
}

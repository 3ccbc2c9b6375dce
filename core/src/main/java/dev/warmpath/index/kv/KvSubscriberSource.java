package dev.warmpath.index.kv;

/**
 * What a transport is as well if its workers tell of their KV caches over the same connections as
 * they answer requests. A router client that is to listen asks each of its transports.
 */
public interface KvSubscriberSource {
  /**
   * Makes a subscriber for the workers of this transport.
   *
   * @param settings the bounds
   * @return listens to nobody yet; closed by the caller, before the transport
   */
  KvSubscriber kvSubscriber(KvEventSettings settings);
}

package dev.warmpath.transport;

import java.net.URI;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;

/**
 * A way to talk to knowledge delivery nodes (KDNs), and to instances that take ready-made KV from
 * them, as CacheRoute v0.1.9 does. Thread safe. Every call blocks the calling thread, for at most
 * the given time in all; interrupting it ends the call. What comes back is what the other side
 * says: whoever calls judges it.
 */
public interface KnowledgeTransport extends AutoCloseable {

  /**
   * What a node says of one piece of knowledge.
   *
   * @param id its id, as the node writes it
   * @param length characters of its normalised text
   * @param kvReady whether its KV cache can be delivered
   */
  record Piece(String id, int length, boolean kvReady) {}

  /**
   * Asks an instance to take KV from a node.
   *
   * @param requestId the client's number for the request, for the logs of the other side
   * @param node the node's address, {@code host:port}
   * @param model the model whose KV it is
   * @param ids the pieces
   */
  record KvOrder(long requestId, String node, String model, List<String> ids) {
    /** Copies the ids. */
    public KvOrder {
      ids = List.copyOf(ids);
    }
  }

  /**
   * What became of an order.
   *
   * @param injected pieces whose KV is in place
   * @param textOnly pieces that have no KV
   * @param missing pieces that the node doesn't have
   * @param payloadBytes how much was transferred; 0 where that isn't told
   */
  record KvInjected(
      List<String> injected, List<String> textOnly, List<String> missing, long payloadBytes) {
    /** Copies the lists. */
    public KvInjected {
      injected = List.copyOf(injected);
      textOnly = List.copyOf(textOnly);
      missing = List.copyOf(missing);
    }
  }

  /**
   * Lists what a node has: {@code POST /knowledge/snapshot}.
   *
   * @param node its base URL
   * @param atMost how many pieces to take in at most
   * @throws TransportException when it can't be reached or what it says is not understood
   */
  List<Piece> snapshot(URI node, int atMost, Duration timeout) throws TransportException;

  /**
   * Fetches texts: {@code POST /knowledge/search/text}.
   *
   * @param node the node's base URL
   * @param ids which
   * @return the texts that the node gave, by id
   * @throws TransportException when it can't be reached or what it says is not understood
   */
  Map<String, String> texts(URI node, Collection<String> ids, Duration timeout)
      throws TransportException;

  /**
   * Has KV put where an instance finds it, and waits until it is there: {@code POST
   * /v1/kv/inject_ready} of the instance's control plane.
   *
   * @param instance the control plane's base URL
   * @throws TransportException when it can't be reached, refuses, or what it says is not understood
   */
  KvInjected injectKv(URI instance, KvOrder order, Duration timeout) throws TransportException;

  /** Frees what the transport itself created. Idempotent. */
  @Override
  void close();
}

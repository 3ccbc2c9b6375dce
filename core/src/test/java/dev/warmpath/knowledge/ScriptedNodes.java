package dev.warmpath.knowledge;

import dev.warmpath.api.FailurePhase;
import dev.warmpath.transport.KnowledgeTransport;
import dev.warmpath.transport.TransportException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Nodes and instances that answer as a test says. Used by one thread. */
public final class ScriptedNodes implements KnowledgeTransport {
  public final Map<URI, List<Piece>> has = new HashMap<>();
  public final Map<String, String> texts = new HashMap<>();
  public final List<String> calls = new ArrayList<>();
  public final List<Duration> timeouts = new ArrayList<>();
  public @Nullable KvInjected injected;
  public boolean closed;

  static TransportException gone() {
    return new TransportException(
        TransportException.Kind.CONNECT, FailurePhase.CONNECT, 0, "can't be reached", null);
  }

  @Override
  public List<Piece> snapshot(URI node, int atMost, Duration timeout) throws TransportException {
    calls.add("snapshot " + node);
    List<Piece> pieces = has.get(node);
    if (pieces == null) {
      throw gone();
    }
    return pieces;
  }

  @Override
  public Map<String, String> texts(URI node, Collection<String> ids, Duration timeout)
      throws TransportException {
    timeouts.add(timeout);
    calls.add("texts " + node + " " + ids.size());
    if (!has.containsKey(node)) {
      throw gone();
    }
    Map<String, String> found = new HashMap<>(texts);
    found.keySet().retainAll(ids);
    return found;
  }

  @Override
  public KvInjected injectKv(URI instance, KvOrder order, Duration timeout)
      throws TransportException {
    timeouts.add(timeout);
    calls.add("inject " + instance + " " + order.node() + " " + order.ids().size());
    KvInjected told = injected;
    if (told == null) {
      throw gone();
    }
    return told;
  }

  @Override
  public void close() {
    closed = true;
  }
}

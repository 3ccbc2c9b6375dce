package dev.warmpath.knowledge;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.warmpath.transport.KnowledgeTransport;
import dev.warmpath.transport.TransportException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Texts by their ids: what the application gave, and what nodes delivered. A text counts only where
 * its id is its own, so that no node can put other words into a prompt. Thread safe.
 */
final class KnowledgeTexts {
  /** An entry's own weight beside its characters. */
  private static final int ENTRY_BYTES = 128;

  private final KnowledgeRegistry registry;
  private final @Nullable KnowledgeTransport transport;
  private final Cache<String, String> kept;

  KnowledgeTexts(
      KnowledgeRegistry registry, @Nullable KnowledgeTransport transport, long budgetBytes) {
    this.registry = registry;
    this.transport = transport;
    this.kept =
        Caffeine.newBuilder()
            .maximumWeight(budgetBytes)
            .weigher((String id, String text) -> ENTRY_BYTES + Character.BYTES * text.length())
            .executor(Runnable::run)
            .build();
  }

  /** Takes in a text that the application has; its id. */
  String keep(String text) {
    String normal = KnowledgeIds.normalise(text);
    String id = KnowledgeIds.of(normal);
    kept.put(id, normal);
    return id;
  }

  /** A text that is at hand; null where it isn't. */
  @Nullable String atHand(String id) {
    return kept.getIfPresent(id);
  }

  /**
   * Texts of ids: those at hand, and of the others what the chosen node delivers, then what another
   * one does that has them.
   *
   * @param ids canonical ids
   * @param node the chosen node, or null where there is none
   * @param timeout how long all of it may take
   */
  Map<String, String> of(
      List<String> ids,
      KnowledgeCatalogue catalogue,
      @Nullable KnowledgeNode node,
      Duration timeout) {
    Map<String, String> found = new HashMap<>();
    List<String> missing = new ArrayList<>();
    for (String id : ids) {
      String text = atHand(id);
      if (text == null) {
        missing.add(id);
      } else {
        found.put(id, text);
      }
    }
    long until = registry.now() + timeout.toNanos();
    KnowledgeNode from = node;
    for (int round = 0; round < 2 && !missing.isEmpty() && from != null; round++) {
      List<String> asked = new ArrayList<>(missing);
      asked.retainAll(from.items().keySet());
      long left = until - registry.now();
      if (!asked.isEmpty() && left > 0) {
        found.putAll(fetch(from, asked, Duration.ofNanos(left)));
        missing.removeAll(found.keySet());
      }
      from = missing.isEmpty() ? null : other(catalogue, from, missing);
    }
    return found;
  }

  /** Another node that has the first piece that is missing. */
  private @Nullable KnowledgeNode other(
      KnowledgeCatalogue catalogue, KnowledgeNode than, List<String> missing) {
    for (String id : missing) {
      for (KnowledgeNode node : catalogue.nodes()) {
        if (!node.id().equals(than.id()) && node.items().containsKey(id)) {
          return node;
        }
      }
    }
    return null;
  }

  private Map<String, String> fetch(KnowledgeNode node, List<String> ids, Duration timeout) {
    Map<String, String> found = new HashMap<>();
    URI base = registry.baseOf(node.id());
    if (transport == null || base == null) {
      return found;
    }
    try {
      boolean lied = false;
      for (Map.Entry<String, String> told : transport.texts(base, ids, timeout).entrySet()) {
        String text = KnowledgeIds.normalise(told.getValue());
        String id = KnowledgeIds.canonical(told.getKey());
        if (!ids.contains(id)) {
          continue;
        }
        if (KnowledgeIds.of(text).equals(id)) {
          found.put(id, text);
          kept.put(id, text);
        } else {
          lied = true;
        }
      }
      if (lied) {
        registry.failed(node.id(), "texts: one that isn't its id's");
      }
    } catch (TransportException e) {
      registry.failed(node.id(), "texts: " + e.getMessage());
    } catch (RuntimeException e) {
      registry.failed(node.id(), "texts: " + e.getClass().getSimpleName());
    }
    return found;
  }
}

package dev.warmpath.fake.kdn;

import dev.warmpath.knowledge.KnowledgeIds;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import org.jspecify.annotations.Nullable;

/** What a node has: texts, and which of them have KV. Thread safe. */
final class KdnLibrary {

  /** In the order of ids, as CacheRoute's database lists them. */
  private final Map<String, Entry> entries = new ConcurrentSkipListMap<>();

  private final KnowledgeKv kv;

  /**
   * One piece.
   *
   * @param text normalised
   * @param model whose KV there is; null without any
   * @param promptTokens the prompt that the KV was made of
   */
  record Entry(
      String id, String text, @Nullable String model, int promptTokens, double updatedSeconds) {

    /** Characters as Python counts them. */
    int length() {
      return text.codePointCount(0, text.length());
    }

    boolean ready() {
      return model != null;
    }
  }

  KdnLibrary(KnowledgeKv kv) {
    this.kv = kv;
  }

  /** Adds a text without KV; one that is there stays as it is. */
  boolean add(String id, String text) {
    return entries.putIfAbsent(id, new Entry(id, KnowledgeIds.normalise(text), null, 0, 0)) == null;
  }

  /** Notes that there is KV of a text; a text without a full chunk has none. */
  boolean ready(String id, String model, int promptTokens, double nowSeconds) {
    if (kv.chunks(promptTokens) == 0) {
      return false;
    }
    return entries.computeIfPresent(
            id, (key, was) -> new Entry(id, was.text, model, promptTokens, nowSeconds))
        != null;
  }

  @Nullable Entry get(String id) {
    return entries.get(KnowledgeIds.canonical(id));
  }

  boolean remove(String id) {
    return entries.remove(KnowledgeIds.canonical(id)) != null;
  }

  void clear() {
    entries.clear();
  }

  Collection<Entry> all() {
    return entries.values();
  }

  int chunks(Entry entry) {
    return kv.chunks(entry.promptTokens);
  }

  long bytes(Entry entry) {
    return kv.bytes(entry.promptTokens);
  }

  int reusableTokens(Entry entry) {
    return kv.reusableTokens(entry.promptTokens);
  }
}

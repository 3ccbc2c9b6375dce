package dev.warmpath.fake.load;

import java.util.LinkedHashMap;
import java.util.Map;

/** Numbers things from 0 in order of appearance, and forgets the least recently seen ones. */
final class DenseIds<K> {
  private final int capacity;
  private final LinkedHashMap<K, Long> ids;
  private long next;
  private long forgotten;

  DenseIds(int capacity) {
    this.capacity = capacity;
    this.ids = new LinkedHashMap<>(1024, 0.75f, true);
  }

  long id(K key) {
    Long known = ids.get(key);
    if (known != null) {
      return known;
    }
    ids.put(key, next);
    if (ids.size() > capacity) {
      Map.Entry<K, Long> eldest = ids.entrySet().iterator().next();
      ids.remove(eldest.getKey());
      forgotten++;
    }
    return next++;
  }

  /** How many ids were given out. */
  long given() {
    return next;
  }

  long forgotten() {
    return forgotten;
  }
}

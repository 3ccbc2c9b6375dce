package dev.warmpath.fake.internal.kv;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The keys of requests by the number of their first block, as cache changes name blocks and no
 * requests. Only requests with keys are kept, so that whatever is not here has none. Thread-safe.
 */
final class RootKeys {
  private static final int KEPT = 1 << 16;

  private final Map<Long, RequestKeys> byFirstBlock =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, RequestKeys> eldest) {
          return size() > KEPT;
        }
      };

  synchronized void put(long firstBlock, RequestKeys keys) {
    byFirstBlock.put(firstBlock, keys);
  }

  synchronized RequestKeys get(long firstBlock) {
    return byFirstBlock.getOrDefault(firstBlock, RequestKeys.NONE);
  }
}

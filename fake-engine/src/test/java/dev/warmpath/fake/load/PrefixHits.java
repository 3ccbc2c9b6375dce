package dev.warmpath.fake.load;

import java.util.LinkedHashMap;
import java.util.List;

/**
 * How many blocks of a trace several caches would have, without any time: each request goes to one
 * node, hits the run of blocks from its beginning that is there, and leaves all of its blocks, the
 * least recently used ones going.
 */
final class PrefixHits {
  private final List<LinkedHashMap<Long, Boolean>> nodes = new java.util.ArrayList<>();
  private final int[] requests;
  private final int capacity;
  private long hits;
  private long blocks;

  /** Caches of {@code capacity} blocks; 0 for endless ones. */
  private PrefixHits(int nodes, int capacity) {
    this.capacity = capacity;
    this.requests = new int[nodes];
    for (int i = 0; i < nodes; i++) {
      this.nodes.add(new LinkedHashMap<>(16, 0.75f, true));
    }
  }

  /** Hits over blocks with requests dealt out in turn. */
  static double roundRobin(List<TraceRequest> trace, int nodes, int capacity) {
    PrefixHits caches = new PrefixHits(nodes, capacity);
    for (int i = 0; i < trace.size(); i++) {
      caches.send(trace.get(i), i % nodes);
    }
    return caches.ratio();
  }

  /**
   * Caches after each request has gone where most of it is, and among equals where the fewest
   * requests went.
   */
  static PrefixHits affinity(List<TraceRequest> trace, int nodes, int capacity) {
    PrefixHits caches = new PrefixHits(nodes, capacity);
    for (TraceRequest request : trace) {
      int best = 0;
      for (int node = 1; node < nodes; node++) {
        int more = caches.matched(request, node) - caches.matched(request, best);
        if (more > 0 || (more == 0 && caches.requests[node] < caches.requests[best])) {
          best = node;
        }
      }
      caches.send(request, best);
    }
    return caches;
  }

  private int matched(TraceRequest request, int node) {
    int run = 0;
    while (run < request.hashIds().length && nodes.get(node).containsKey(request.hashIds()[run])) {
      run++;
    }
    return run;
  }

  private void send(TraceRequest request, int node) {
    LinkedHashMap<Long, Boolean> cache = nodes.get(node);
    hits += matched(request, node);
    blocks += request.hashIds().length;
    requests[node]++;
    for (long id : request.hashIds()) {
      cache.put(id, true);
    }
    if (capacity > 0) {
      var oldest = cache.keySet().iterator();
      for (int over = cache.size() - capacity; over > 0; over--) {
        oldest.next();
        oldest.remove();
      }
    }
  }

  double ratio() {
    return (double) hits / blocks;
  }

  int[] requests() {
    return requests.clone();
  }
}

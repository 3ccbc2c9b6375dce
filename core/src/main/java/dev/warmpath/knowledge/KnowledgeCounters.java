package dev.warmpath.knowledge;

/**
 * What a {@link KnowledgeStrategy} has counted since it was made.
 *
 * @param requests decisions
 * @param overloadedNodes nodes that were overloaded when a request with knowledge was decided,
 *     whether that changed anything or not
 * @param topologyHits decisions in which links had a say: a best group that not all were in ({@link
 *     StageOrder#DOCUMENTED}), or several targets left to compare links of ({@link
 *     StageOrder#LOAD_FIRST})
 * @param loadFiltered decisions in which the load window dropped a target
 * @param affinityHits decisions in which a target that was left had been given the knowledge before
 */
public record KnowledgeCounters(
    long requests, long overloadedNodes, long topologyHits, long loadFiltered, long affinityHits) {

  static final KnowledgeCounters NONE = new KnowledgeCounters(0, 0, 0, 0, 0);

  KnowledgeCounters plus(KnowledgeCounters more) {
    return new KnowledgeCounters(
        requests + more.requests,
        overloadedNodes + more.overloadedNodes,
        topologyHits + more.topologyHits,
        loadFiltered + more.loadFiltered,
        affinityHits + more.affinityHits);
  }
}

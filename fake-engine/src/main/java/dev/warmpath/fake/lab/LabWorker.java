package dev.warmpath.fake.lab;

import dev.warmpath.fake.live.RankSnapshot;
import dev.warmpath.fake.scheduler.CoreMetrics;
import dev.warmpath.transport.LoadReport;
import dev.warmpath.transport.RankLoad;
import dev.warmpath.worker.EngineKind;
import dev.warmpath.worker.ServedModel;
import dev.warmpath.worker.WorkerCapabilities;
import dev.warmpath.worker.WorkerRole;
import java.util.ArrayList;
import java.util.List;

/**
 * A simulated worker: its ranks, and what its endpoints say of them. An engine tells no more here
 * than over HTTP.
 */
final class LabWorker {
  private final String url;
  private final EngineKind engine;
  private final WorkerRole role;
  private final int maxNumSeqs;
  private final List<LabRank> ranks;
  private boolean up = true;

  LabWorker(String url, EngineKind engine, WorkerRole role, int maxNumSeqs, List<LabRank> ranks) {
    this.url = url;
    this.engine = engine;
    this.role = role;
    this.maxNumSeqs = maxNumSeqs;
    this.ranks = List.copyOf(ranks);
  }

  /** Whether it accepts connections. */
  boolean up() {
    return up;
  }

  /** Its process dies: what it runs is lost, and it accepts no connections. */
  void die() {
    up = false;
    ranks.forEach(LabRank::die);
  }

  /** A new process takes its place, with an empty cache. */
  void comeBack() {
    up = true;
  }

  String url() {
    return url;
  }

  LabRank rank(int rank) {
    return ranks.get(rank);
  }

  List<LabRank> ranks() {
    return ranks;
  }

  WorkerRole role() {
    return role;
  }

  /** What it is; the lab's vLLM tells its role, too, which the real one's HTTP server does not. */
  WorkerCapabilities capabilities() {
    CoreMetrics metrics = ranks.get(0).snapshot().metrics();
    return new WorkerCapabilities(
        engine,
        "lab",
        role,
        List.of(ServedModel.named(LabRequest.MODEL)),
        ranks.size(),
        metrics.blockSize(),
        metrics.totalTokens(),
        engine == EngineKind.SGLANG ? maxNumSeqs : null,
        true);
  }

  LoadReport load() {
    List<RankLoad> loads = new ArrayList<>(ranks.size());
    double tokens = 0;
    for (int rank = 0; rank < ranks.size(); rank++) {
      RankSnapshot snapshot = ranks.get(rank).snapshot();
      CoreMetrics metrics = snapshot.metrics();
      boolean sglang = engine == EngineKind.SGLANG;
      loads.add(
          new RankLoad(
              ranks.size() == 1 ? -1 : rank,
              metrics.running(),
              metrics.waiting(),
              metrics.usedTokens(),
              metrics.usage(),
              metrics.totalTokens(),
              sglang ? maxNumSeqs : Double.NaN,
              hitRate(metrics),
              snapshot.tokensPerSecond(),
              Double.NaN));
      tokens += metrics.promptTokens() + metrics.generatedTokens();
    }
    return new LoadReport(
        loads, engine == EngineKind.SGLANG ? "/v1/loads" : "/metrics", null, tokens);
  }

  private double hitRate(CoreMetrics metrics) {
    if (engine == EngineKind.SGLANG) {
      return metrics.lastPrefillHitRate();
    }
    return metrics.promptTokens() == 0
        ? Double.NaN
        : (double) metrics.cachedTokens() / metrics.promptTokens();
  }
}

package dev.warmpath.fake.lab;

import dev.warmpath.fake.live.RankSettings;
import dev.warmpath.fake.scheduler.EngineCore;
import dev.warmpath.fake.scheduler.LatencyModel;
import dev.warmpath.fake.scheduler.SglangCore;
import dev.warmpath.fake.scheduler.SglangOptions;
import dev.warmpath.fake.scheduler.VllmCore;
import dev.warmpath.fake.virtual.VirtualTime;
import dev.warmpath.worker.EngineKind;
import dev.warmpath.worker.WorkerRole;
import java.util.ArrayList;
import java.util.List;

/** Builds the workers of a run, with empty caches. */
final class LabFleet {
  private LabFleet() {}

  static List<LabWorker> start(LabSettings settings, VirtualTime time, RankDrives drives) {
    List<WorkerRole> roles = settings.fleet().roles();
    List<LabWorker> workers = new ArrayList<>(roles.size());
    for (int i = 0; i < roles.size(); i++) {
      List<LabRank> ranks = new ArrayList<>(settings.ranks());
      for (int rank = 0; rank < settings.ranks(); rank++) {
        EngineCore core = core(settings, roles.get(i));
        RankSettings of = RankSettings.aggregated(rank, settings.core());
        ranks.add(new LabRank(core, drives.drive(time, of, core)));
      }
      workers.add(
          new LabWorker(
              "http://worker-" + i + ":8000",
              settings.engine(),
              roles.get(i),
              settings.core().maxNumSeqs(),
              ranks));
    }
    return workers;
  }

  private static EngineCore core(LabSettings settings, WorkerRole role) {
    LatencyModel timing =
        switch (role) {
          case PREFILL -> settings.timing().prefillOnly();
          case DECODE -> settings.timing().decodeOnly();
          default -> settings.timing();
        };
    return settings.engine() == EngineKind.SGLANG
        ? new SglangCore(SglangOptions.builder(settings.core()).build(), timing)
        : new VllmCore(settings.core(), timing);
  }
}

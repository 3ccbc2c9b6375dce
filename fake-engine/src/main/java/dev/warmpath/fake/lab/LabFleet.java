package dev.warmpath.fake.lab;

import dev.warmpath.fake.live.RankSettings;
import dev.warmpath.fake.scheduler.CoreOptions;
import dev.warmpath.fake.scheduler.EngineCore;
import dev.warmpath.fake.scheduler.SglangCore;
import dev.warmpath.fake.scheduler.SglangOptions;
import dev.warmpath.fake.scheduler.VllmCore;
import dev.warmpath.fake.virtual.VirtualTime;
import dev.warmpath.worker.EngineKind;
import dev.warmpath.worker.WorkerRole;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Builds the workers of a run, with empty caches. */
final class LabFleet {
  private LabFleet() {}

  /**
   * Starts all workers.
   *
   * @param events hears of their caches' changes; null if nobody does
   */
  static List<LabWorker> start(
      LabSettings settings, VirtualTime time, RankDrives drives, @Nullable LabEvents events) {
    List<WorkerRole> roles = settings.fleet().roles();
    List<LabWorker> workers = new ArrayList<>(roles.size());
    for (int i = 0; i < roles.size(); i++) {
      WorkerRole role = roles.get(i);
      List<LabRank> ranks = new ArrayList<>(settings.ranks());
      for (int rank = 0; rank < settings.ranks(); rank++) {
        ranks.add(
            rank(
                settings, time, drives, role, rank, events == null ? null : events.teller(url(i))));
      }
      workers.add(
          new LabWorker(url(i), settings.engine(), role, settings.core().maxNumSeqs(), ranks));
    }
    return workers;
  }

  /** The address of a worker. */
  static String url(int number) {
    return "http://worker-" + number + ":8000";
  }

  /** The number of an address. */
  static int number(String url) {
    return Integer.parseInt(url.substring("http://worker-".length(), url.lastIndexOf(':')));
  }

  private static LabRank rank(
      LabSettings settings,
      VirtualTime time,
      RankDrives drives,
      WorkerRole role,
      int rank,
      LabEvents.@Nullable Teller teller) {
    if (settings.model() == WorkerModel.FLEET_STUDY) {
      StudyDrive drive = new StudyDrive(settings.core(), time, teller);
      return new LabRank(drive, drive);
    }
    CoreOptions options =
        settings.core().toBuilder()
            .role(role)
            .numBlocks(
                role == WorkerRole.DECODE ? settings.decodeBlocks() : settings.core().numBlocks())
            .build();
    EngineCore core =
        settings.engine() == EngineKind.SGLANG
            ? new SglangCore(SglangOptions.builder(options).build(), settings.timing())
            : new VllmCore(options, settings.timing());
    RankSettings of =
        role == WorkerRole.REGULAR
            ? RankSettings.aggregated(rank, options)
            : RankSettings.handoffs(rank, options);
    return new LabRank(LabRank.Inside.of(core), drives.drive(time, of, core));
  }
}

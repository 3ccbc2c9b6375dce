package dev.warmpath.fake.lab;

import dev.warmpath.fake.live.RankListener;
import dev.warmpath.fake.live.RankSnapshot;
import dev.warmpath.fake.scheduler.CoreMetrics;
import dev.warmpath.fake.scheduler.CoreOptions;
import dev.warmpath.fake.scheduler.EngineRequest;
import dev.warmpath.fake.study.StudyRank;
import dev.warmpath.fake.virtual.VirtualRank;
import dev.warmpath.fake.virtual.VirtualTime;
import org.jspecify.annotations.Nullable;

/** A worker of the fleet study in a run of the lab. */
final class StudyDrive implements RankDrives.Drive, LabRank.Inside {
  private final StudyRank rank;
  private final LabEvents.@Nullable Teller teller;

  /**
   * Creates an idle worker.
   *
   * @param teller hears of its cache's changes; null if nobody does
   */
  StudyDrive(CoreOptions options, VirtualTime time, LabEvents.@Nullable Teller teller) {
    this.teller = teller;
    this.rank =
        new StudyRank(
            time,
            options.numBlocks() * options.blockSize(),
            options.blockSize(),
            teller == null ? (block, stored) -> {} : teller);
  }

  @Override
  public void submit(EngineRequest request, RankListener listener) {
    if (teller != null) {
      teller.submitted(request);
    }
    rank.submit(request, listener);
  }

  @Override
  public void cancel(long requestId) {
    rank.cancel(requestId);
  }

  @Override
  public VirtualRank inVirtualTime() {
    throw new IllegalStateException("a worker of the fleet study takes no part in handoffs");
  }

  @Override
  public RankSnapshot snapshot() {
    return rank.snapshot();
  }

  @Override
  public CoreMetrics metrics() {
    return rank.metrics();
  }

  @Override
  public int cachedTokens(EngineRequest request) {
    return rank.cachedTokens(request);
  }

  @Override
  public void flush() {
    rank.flush();
  }

  @Override
  public void die() {
    rank.die();
    if (teller != null) {
      teller.restarted();
    }
  }

  @Override
  public void close() {
    rank.die();
  }
}

package dev.warmpath.fake.lab;

import dev.warmpath.fake.live.RankListener;
import dev.warmpath.fake.live.RankSnapshot;
import dev.warmpath.fake.scheduler.CoreMetrics;
import dev.warmpath.fake.scheduler.CoreOptions;
import dev.warmpath.fake.scheduler.EngineRequest;
import dev.warmpath.fake.study.StudyRank;
import dev.warmpath.fake.virtual.VirtualRank;
import dev.warmpath.fake.virtual.VirtualTime;

/** A worker of the fleet study in a run of the lab. */
final class StudyDrive implements RankDrives.Drive, LabRank.Inside {
  private final StudyRank rank;

  StudyDrive(CoreOptions options, VirtualTime time) {
    this.rank =
        new StudyRank(
            time,
            options.numBlocks() * options.blockSize(),
            options.blockSize(),
            (block, stored) -> {});
  }

  @Override
  public void submit(EngineRequest request, RankListener listener) {
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
  }

  @Override
  public void close() {
    rank.die();
  }
}

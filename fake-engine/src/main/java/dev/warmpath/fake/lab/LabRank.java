package dev.warmpath.fake.lab;

import dev.warmpath.fake.live.RankListener;
import dev.warmpath.fake.live.RankSnapshot;
import dev.warmpath.fake.scheduler.CoreMetrics;
import dev.warmpath.fake.scheduler.EngineCore;
import dev.warmpath.fake.scheduler.EngineRequest;
import dev.warmpath.fake.virtual.VirtualRank;
import java.util.LinkedHashSet;
import java.util.Set;

/** A simulated rank, and for the oracle alone a look into it. */
final class LabRank {
  /** What nobody outside of an engine sees. */
  interface Inside {
    CoreMetrics metrics();

    int cachedTokens(EngineRequest request);

    static Inside of(EngineCore core) {
      return new Inside() {
        @Override
        public CoreMetrics metrics() {
          return core.metrics();
        }

        @Override
        public int cachedTokens(EngineRequest request) {
          return core.cachedTokens(request);
        }
      };
    }
  }

  private final Inside inside;
  private final RankDrives.Drive drive;
  private final Set<LabExchange> underWay = new LinkedHashSet<>();
  private long pendingTokens;

  LabRank(Inside inside, RankDrives.Drive drive) {
    this.inside = inside;
    this.drive = drive;
  }

  /** The rank itself, where it is an event of virtual time: for handoffs. */
  VirtualRank inVirtualTime() {
    return drive.inVirtualTime();
  }

  void submit(EngineRequest request, RankListener listener) {
    drive.submit(request, listener);
  }

  void cancel(long requestId) {
    drive.cancel(requestId);
  }

  /** Caches KV that comes from elsewhere. */
  void store(EngineRequest prompt) {
    drive.store(prompt);
  }

  /** Empties the cache, whatever runs. */
  void flush() {
    drive.flush();
  }

  /** Loses everything at once, as a process that dies. */
  void die() {
    drive.die();
  }

  void close() {
    drive.close();
  }

  /** What its endpoints show, up to one pass old. */
  RankSnapshot snapshot() {
    return drive.snapshot();
  }

  /** Its true state. */
  CoreMetrics metrics() {
    drive.settle();
    return inside.metrics();
  }

  /** Prompt tokens of a request that its cache truly holds. */
  int cachedTokens(LabRequest request) {
    return cachedTokens(request.forEngine(0));
  }

  /** The same of a prompt that nobody sends. */
  int cachedTokens(EngineRequest prompt) {
    drive.settle();
    return inside.cachedTokens(prompt);
  }

  /** Requests on their way here, queued or running here. */
  Set<LabExchange> underWay() {
    return underWay;
  }

  /** Prompt tokens on their way here, or queued here, that are still to be computed. */
  long pendingTokens() {
    return pendingTokens;
  }

  /** More of them, or fewer once they are computed. */
  void pending(int tokens) {
    pendingTokens += tokens;
  }
}

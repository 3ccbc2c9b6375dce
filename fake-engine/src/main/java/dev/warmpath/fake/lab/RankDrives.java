package dev.warmpath.fake.lab;

import dev.warmpath.fake.live.RankListener;
import dev.warmpath.fake.live.RankSettings;
import dev.warmpath.fake.live.RankSnapshot;
import dev.warmpath.fake.scheduler.EngineCommand;
import dev.warmpath.fake.scheduler.EngineCore;
import dev.warmpath.fake.scheduler.EngineRequest;
import dev.warmpath.fake.virtual.VirtualRank;
import dev.warmpath.fake.virtual.VirtualTime;

/**
 * What lets a run's schedulers compute: events of its virtual time, or live ranks that share its
 * clock, which is how a run is shown to decide live as it does in virtual time.
 */
interface RankDrives {
  /**
   * One rank's driver, as {@link VirtualRank} and {@link dev.warmpath.fake.live.RankDriver} are.
   */
  interface Drive {
    void submit(EngineRequest request, RankListener listener);

    void cancel(long requestId);

    /**
     * The rank as an event of virtual time, for handoffs.
     *
     * @throws IllegalStateException if it is live
     */
    VirtualRank inVirtualTime();

    RankSnapshot snapshot();

    /** Makes the scheduler's own state that of the present, for whoever looks at it directly. */
    default void settle() {}

    /**
     * Empties the cache, whatever runs.
     *
     * @throws UnsupportedOperationException if the scheduler can't
     */
    default void flush() {
      throw new UnsupportedOperationException("this scheduler flushes only while it is idle");
    }

    /**
     * Caches the KV of a prompt that was computed elsewhere.
     *
     * @throws UnsupportedOperationException if the scheduler can't
     */
    default void store(EngineRequest prompt) {
      throw new UnsupportedOperationException("this scheduler takes no KV in");
    }

    /**
     * Loses everything at once; those who wait for it hear of an abort.
     *
     * @throws UnsupportedOperationException if the scheduler can't
     */
    default void die() {
      throw new UnsupportedOperationException("this scheduler ends only with its run");
    }

    void close();
  }

  /** Drives a scheduler from now on. */
  Drive drive(VirtualTime time, RankSettings settings, EngineCore core);

  /**
   * Lets the next thing happen.
   *
   * @return false if nothing is left to happen
   */
  boolean step(VirtualTime time);

  /** Ranks as events of the run's own time. */
  RankDrives VIRTUAL =
      new RankDrives() {
        @Override
        public Drive drive(VirtualTime time, RankSettings settings, EngineCore core) {
          VirtualRank rank = new VirtualRank(time, settings, core);
          rank.runAhead(true);
          return new Drive() {
            @Override
            public void submit(EngineRequest request, RankListener listener) {
              rank.submit(request, listener);
            }

            @Override
            public void cancel(long requestId) {
              rank.cancel(requestId);
            }

            @Override
            public void store(EngineRequest prompt) {
              boolean unused = rank.apply(new EngineCommand.StorePrefix(prompt), result -> {});
            }

            @Override
            public VirtualRank inVirtualTime() {
              return rank;
            }

            @Override
            public RankSnapshot snapshot() {
              return rank.snapshot();
            }

            @Override
            public void settle() {
              rank.settle();
            }

            /** Nothing to free: the rank goes with the run. */
            @Override
            public void close() {}
          };
        }

        @Override
        public boolean step(VirtualTime time) {
          return time.step();
        }
      };
}

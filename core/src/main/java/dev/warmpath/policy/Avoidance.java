package dev.warmpath.policy;

import dev.warmpath.health.FleetView;
import dev.warmpath.index.BranchPath;
import dev.warmpath.worker.CandidateSet;
import dev.warmpath.worker.StableHash;
import dev.warmpath.worker.WorkerRank;

/**
 * Decides which degraded ranks one request keeps away from, before any policy sees them, so that
 * each is sent its share of what would be its, whatever the policy; what is only busy is avoided by
 * policies without {@link Link#affinity()} alone.
 *
 * <p>Who keeps away hangs on what the prompt's home hangs on where that is some conversation's own,
 * so that a conversation stays where it went, in all clients alike, and on chance where it is not.
 * Reused from decision to decision; belongs to one thread at a time.
 */
final class Avoidance {
  private static final long PURPOSE = 0x7d0a_5b1e_93c4_62f1L;

  private final BranchPath path = new BranchPath();

  /**
   * Puts those to be avoided into their tier.
   *
   * @param tiers by candidate
   * @param members the healthy ones, ascending; those that stay so are moved to its beginning
   * @param count how many there are
   * @return how many stay: at least one
   */
  int part(ChainPlan plan, int[] tiers, int[] members, int count) {
    RouteContext context = plan.context();
    if (context.options().pin() != null) {
      return count;
    }
    boolean affinity = plan.policy().affinity();
    FleetView fleet = context.fleet();
    CandidateSet candidates = context.candidates();
    double most = 0;
    for (int k = 0; k < count; k++) {
      double share =
          fleet.state(WorkerRank.slotOf(candidates.holderId(members[k]))).share(affinity);
      most = share > most ? share : most;
    }
    if (most == 0) {
      return count;
    }
    long key = 0;
    boolean keyed = false;
    int kept = 0;
    for (int k = 0; k < count; k++) {
      int i = members[k];
      double share = fleet.state(WorkerRank.slotOf(candidates.holderId(i))).share(affinity);
      boolean stays = share >= most;
      if (!stays) {
        if (!keyed) {
          key = key(context, count);
          keyed = true;
        }
        long drawn = StableHash.pair(key, candidates.stableHash(i));
        stays = (drawn >>> 11) * 0x1p-53 * most < share;
      }
      if (stays) {
        members[kept++] = i;
      } else {
        tiers[i] = Board.AVOIDED;
      }
    }
    // A share may have fallen between the two looks: then nobody is better than the others.
    return kept == 0 ? putBack(tiers, members, count) : kept;
  }

  private static int putBack(int[] tiers, int[] members, int count) {
    int size = 0;
    for (int i = 0; size < count; i++) {
      if (tiers[i] == Board.AVOIDED) {
        tiers[i] = Board.HEALTHY;
        members[size++] = i;
      }
    }
    return size;
  }

  private long key(RouteContext context, int workers) {
    long key = ConversationKey.of(context, workers, path);
    return (key == ConversationKey.NONE ? context.seed() : key) ^ PURPOSE;
  }

  /** Working memory for others. */
  BranchPath path() {
    return path;
  }
}

package dev.warmpath.worker;

import java.util.AbstractList;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The ranks that may serve a (model, role), in the topology's order: what a policy chooses among.
 * Immutable, computed once per topology and shared by its decisions.
 */
public final class CandidateSet {
  private final WorkerRole role;
  private final WorkerRank[] ranks;
  private final long[] holderIds;
  private final long[] stableHashes;
  private final long key;
  private final int workers;

  CandidateSet(WorkerRole role, List<WorkerRank> ranks) {
    this.role = role;
    this.ranks = ranks.toArray(new WorkerRank[0]);
    this.holderIds = ranks.stream().mapToLong(WorkerRank::holderId).toArray();
    this.stableHashes = ranks.stream().mapToLong(WorkerRank::stableHash).toArray();
    long sum = 0;
    for (long hash : stableHashes) {
      sum += hash;
    }
    this.key = StableHash.of(role.label()) ^ sum;
    this.workers = (int) ranks.stream().map(rank -> rank.worker().id()).distinct().count();
  }

  private CandidateSet(CandidateSet of, long key) {
    this.role = of.role;
    this.ranks = of.ranks;
    this.holderIds = of.holderIds;
    this.stableHashes = of.stableHashes;
    this.workers = of.workers;
    this.key = key;
  }

  /** Those of the candidates that {@code accept}s: this very set where it accepts all. */
  public CandidateSet where(Predicate<WorkerRank> accept) {
    List<WorkerRank> kept = new ArrayList<>(ranks.length);
    for (WorkerRank rank : ranks) {
      if (accept.test(rank)) {
        kept.add(rank);
      }
    }
    return kept.size() == ranks.length ? this : new CandidateSet(role, kept);
  }

  /**
   * The same candidates taking turns of their own: round robin walks this set apart from others of
   * the same candidates. For a second choice that depends on a first one, which a shared turn would
   * tie together.
   *
   * @param apart tells it from the others
   */
  public CandidateSet turningApart(long apart) {
    return new CandidateSet(this, StableHash.mix(key ^ apart));
  }

  /** The role the candidates are asked to play. */
  public WorkerRole role() {
    return role;
  }

  /** How many there are. */
  public int size() {
    return ranks.length;
  }

  /** How many workers they belong to. */
  public int workers() {
    return workers;
  }

  /** The i-th candidate, 0-based. */
  public WorkerRank get(int i) {
    return ranks[i];
  }

  /**
   * The i-th candidate's {@link WorkerRank#holderId}, which names its slot too: what a decision
   * over many ranks reads in one sweep.
   */
  public long holderId(int i) {
    return holderIds[i];
  }

  /** The i-th candidate's {@link WorkerRank#stableHash}, for a sweep likewise. */
  public long stableHash(int i) {
    return stableHashes[i];
  }

  /** Whether there is nobody to choose. */
  public boolean isEmpty() {
    return ranks.length == 0;
  }

  /**
   * The candidate that is rank {@code rank} of worker {@code id}; rank -1 is the first of that
   * worker.
   */
  public @Nullable WorkerRank find(WorkerId id, int rank) {
    for (WorkerRank candidate : ranks) {
      if (candidate.worker().id().equals(id) && (rank < 0 || candidate.rank().orElse(-1) == rank)) {
        return candidate;
      }
    }
    return null;
  }

  /**
   * A 64-bit hash of the role and the candidates' names (the sum of their {@link StableHash}es):
   * the key of round-robin state, equal for equal sets across topologies and clients, whatever
   * their order and epochs.
   */
  public long key() {
    return key;
  }

  /** A read-only list view. */
  public List<WorkerRank> asList() {
    return new AbstractList<>() {
      @Override
      public WorkerRank get(int index) {
        return ranks[index];
      }

      @Override
      public int size() {
        return ranks.length;
      }
    };
  }

  @Override
  public String toString() {
    return role.label() + asList();
  }
}

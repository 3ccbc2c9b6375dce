package dev.warmpath.pd;

import dev.warmpath.policy.Candidate;
import dev.warmpath.worker.CandidateSet;
import dev.warmpath.worker.Worker;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Whom the next attempts of one request pass over: workers, and pairs of workers, that failed it. A
 * preference: where nobody else is left they are asked again.
 */
final class PdExclusions {
  private record Pair(long prefill, long decode) {}

  private final Set<Long> prefill = new HashSet<>(0);
  private final Set<Long> decode = new HashSet<>(0);
  private final Set<Pair> pairs = new HashSet<>(0);

  void add(PdVerdict.Blame blame, PdPair pair) {
    Candidate source = pair.prefill();
    long decodeEpoch = pair.decode().target().worker().epoch();
    switch (blame) {
      case PREFILL -> {
        if (source != null) {
          prefill.add(source.target().worker().epoch());
        }
      }
      case DECODE -> decode.add(decodeEpoch);
      case PAIR -> {
        if (source != null) {
          pairs.add(new Pair(source.target().worker().epoch(), decodeEpoch));
        }
      }
      default -> {
        // no worker's fault
      }
    }
  }

  CandidateSet prefill(CandidateSet all) {
    return prefill.isEmpty()
        ? all
        : preferred(all, all.where(rank -> !prefill.contains(rank.worker().epoch())));
  }

  CandidateSet decode(CandidateSet all, @Nullable Worker source) {
    if (decode.isEmpty() && pairs.isEmpty()) {
      return all;
    }
    CandidateSet rest =
        all.where(
            rank ->
                !decode.contains(rank.worker().epoch())
                    && (source == null
                        || !pairs.contains(new Pair(source.epoch(), rank.worker().epoch()))));
    return preferred(all, rest);
  }

  private static CandidateSet preferred(CandidateSet all, CandidateSet rest) {
    return rest.isEmpty() ? all : rest;
  }
}

package dev.warmpath.pd;

import dev.warmpath.worker.CandidateSet;
import dev.warmpath.worker.Topology;
import dev.warmpath.worker.Worker;
import dev.warmpath.worker.WorkerRank;
import dev.warmpath.worker.WorkerRole;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Who can serve a model's requests of one path in pairs, and with whom. Immutable; worked out once
 * per topology. Pairs whose transport, page size or KV type are known to differ are not in it, and
 * neither are workers whose protocol is not theirs.
 */
final class PdPool {
  private final CandidateSet prefill;
  private final CandidateSet alone;
  private final Map<Long, PdTraits> traits = new HashMap<>();
  private final Map<Long, CandidateSet> partners = new HashMap<>();
  private final Map<String, String> refusals = new LinkedHashMap<>();
  private final boolean bothRoles;

  PdPool(Topology topology, @Nullable String model, String path) {
    CandidateSet prefills = topology.candidates(model, WorkerRole.PREFILL);
    CandidateSet decodes = topology.candidates(model, WorkerRole.DECODE);
    bothRoles = !prefills.isEmpty() && !decodes.isEmpty();
    CandidateSet able = decodes.where(rank -> usable(rank.worker(), path));
    CandidateSet sources = prefills.where(rank -> usable(rank.worker(), path));
    prefill = sources.where(rank -> paired(rank.worker(), able));
    alone = able.where(rank -> traits(rank.worker()).protocol().decodesAlone());
  }

  private boolean usable(Worker worker, String path) {
    PdTraits known = traits.computeIfAbsent(worker.epoch(), unused -> PdTraits.of(worker));
    String refusal = known.refusal();
    if (refusal == null && !known.protocol().serves(path)) {
      refusal = known.protocol().name() + " pairs do not serve " + path;
    }
    if (refusal != null) {
      refusals.put(worker.id().value(), refusal);
    }
    return refusal == null;
  }

  private boolean paired(Worker worker, CandidateSet able) {
    CandidateSet known = partners.get(worker.epoch());
    if (known == null) {
      PdTraits source = traits(worker);
      known = able.where(rank -> source.incompatible(traits(rank.worker())) == null);
      partners.put(worker.epoch(), known);
      if (known.isEmpty()) {
        refusals.put(worker.id().value(), "no decode worker matches: " + mismatch(source, able));
      }
    }
    return !known.isEmpty();
  }

  private String mismatch(PdTraits source, CandidateSet able) {
    if (able.isEmpty()) {
      return "none can be used";
    }
    WorkerRank first = able.get(0);
    return "it " + source.incompatible(traits(first.worker())) + " as " + first.worker().id();
  }

  /** Whether there are prefill and decode workers at all, matching or not. */
  boolean bothRoles() {
    return bothRoles;
  }

  /** Prefill candidates that have a partner. */
  CandidateSet prefill() {
    return prefill;
  }

  /** Decode candidates that match a prefill worker. */
  CandidateSet decode(Worker source) {
    return Objects.requireNonNull(partners.get(source.epoch()));
  }

  /** Decode candidates that take whole requests. */
  CandidateSet alone() {
    return alone;
  }

  PdTraits traits(Worker worker) {
    return Objects.requireNonNull(traits.get(worker.epoch()));
  }

  /** Why workers can't be used, by address. */
  Map<String, String> refusals() {
    return refusals;
  }
}

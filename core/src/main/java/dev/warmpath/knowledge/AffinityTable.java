package dev.warmpath.knowledge;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Which knowledge each target was given lately. Each choice adds 1 for each piece; a decay at each
 * decision makes the sum approach {@code 1/(1-decay)} for a target that always gets it.
 *
 * <p>Decay is applied when an entry is next looked at, in the same multiplications that it would
 * have seen one by one, so that scores are those of a table that decays at once. Not thread safe:
 * its owner reads, chooses and records under one lock.
 */
final class AffinityTable {

  /** What has faded below this is forgotten. */
  private static final double FORGOTTEN = 1e-6;

  /** Decisions between two searches for targets of which nothing is remembered any more. */
  private static final int SWEEP = 256;

  private final double decay;
  private final int topK;
  private final boolean listedOnly;
  private final Map<String, Memory> memories = new HashMap<>();

  /** Who remembers a piece: few targets do, so that a decision over many looks at few. */
  private final Map<String, Set<Memory>> holders = new HashMap<>();

  private int sinceSweep;

  /** One target's knowledge. */
  private static final class Memory {
    final String target;
    final Map<String, Entry> entries = new HashMap<>();
    long decays;

    Memory(String target) {
      this.target = target;
    }
  }

  private static final class Entry {
    double score;
    long decays;

    Entry(long decays) {
      this.decays = decays;
    }
  }

  /**
   * An empty table.
   *
   * @param listedOnly whether only what targets of a decision have fades, as in the original
   */
  AffinityTable(double decay, int topK, boolean listedOnly) {
    this.decay = decay;
    this.topK = topK;
    this.listedOnly = listedOnly;
  }

  /**
   * The sums of targets' scores for pieces of knowledge, each times its weight; without targets
   * that remember none of them.
   */
  Map<String, Double> scores(List<String> ids, double[] weights) {
    Map<String, Double> sums = new HashMap<>();
    for (int i = 0; i < weights.length; i++) {
      String id = ids.get(i);
      for (Memory memory : holders.getOrDefault(id, Set.of())) {
        Entry entry = memory.entries.get(id);
        double score = entry == null ? 0 : current(memory, entry);
        if (score > 0) {
          sums.merge(memory.target, score * weights[i], Double::sum);
        }
      }
    }
    return sums;
  }

  /** Lets everything fade by one step. */
  void fade(List<KnowledgeTarget> listed) {
    if (listedOnly) {
      for (KnowledgeTarget target : listed) {
        Memory memory = memories.get(target.id());
        if (memory != null) {
          memory.decays++;
        }
      }
    } else {
      memories.values().forEach(memory -> memory.decays++);
    }
    if (++sinceSweep >= SWEEP) {
      sinceSweep = 0;
      memories.values().forEach(this::forget);
      memories.values().removeIf(memory -> memory.entries.isEmpty());
    }
  }

  /** Remembers that a target is given pieces of knowledge. */
  void add(String target, List<String> ids) {
    if (ids.isEmpty()) {
      return;
    }
    Memory memory = memories.computeIfAbsent(target, Memory::new);
    for (String id : ids) {
      Entry entry = memory.entries.computeIfAbsent(id, key -> new Entry(memory.decays));
      holders.computeIfAbsent(id, key -> new LinkedHashSet<>()).add(memory);
      entry.score = current(memory, entry) + 1;
    }
    if (topK > 0 && memory.entries.size() > topK) {
      forget(memory);
      keepBest(memory);
    }
  }

  /** What is remembered of a target: scores by id, in the order of ids. */
  Map<String, Double> of(String target) {
    Map<String, Double> scores = new TreeMap<>();
    Memory memory = memories.get(target);
    if (memory != null) {
      forget(memory);
      memory.entries.forEach((id, entry) -> scores.put(id, entry.score));
    }
    return scores;
  }

  private void keepBest(Memory memory) {
    List<Map.Entry<String, Entry>> byScore = new ArrayList<>(memory.entries.entrySet());
    byScore.sort(
        Comparator.<Map.Entry<String, Entry>>comparingDouble(e -> -e.getValue().score)
            .thenComparing(Map.Entry::getKey));
    for (int i = topK; i < byScore.size(); i++) {
      String id = byScore.get(i).getKey();
      memory.entries.remove(id);
      drop(id, memory);
    }
  }

  private void forget(Memory memory) {
    memory
        .entries
        .entrySet()
        .removeIf(
            entry -> {
              boolean faded = current(memory, entry.getValue()) == 0;
              if (faded) {
                drop(entry.getKey(), memory);
              }
              return faded;
            });
  }

  private void drop(String id, Memory memory) {
    Set<Memory> its = holders.get(id);
    if (its != null && its.remove(memory) && its.isEmpty()) {
      holders.remove(id);
    }
  }

  /** An entry's score now: 0 if it has faded. */
  private double current(Memory memory, Entry entry) {
    double score = entry.score;
    for (long missing = memory.decays - entry.decays; missing > 0 && score > 0; missing--) {
      score *= decay;
      if (score < FORGOTTEN) {
        score = 0;
      }
    }
    entry.score = score;
    entry.decays = memory.decays;
    return score;
  }
}

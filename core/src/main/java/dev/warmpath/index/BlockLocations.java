package dev.warmpath.index;

import dev.warmpath.api.LookupInfo;
import dev.warmpath.worker.WorkerRank;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * What a {@link BlockLocator} told of one prompt, rank by rank and tier by tier, as decisions read
 * it. A rank's match is the prompt's leading run of blocks there; what lies behind a gap is of no
 * use to an engine. Immutable; reading costs an array access and allocates nothing.
 */
public final class BlockLocations {
  /** What came of a look-up. */
  public enum Outcome {
    /** At least one rank holds the prompt's beginning. */
    FOUND,
    /** The store knows of no rank that does; which a store that has just started says, too. */
    EMPTY,
    /** The store told nothing: where the blocks are is unknown. */
    FAILED,
    /** The store was not asked. */
    SKIPPED;

    private final String label = name().toLowerCase(Locale.ROOT);

    /** The outcome as decisions show it. */
    public String label() {
      return label;
    }
  }

  /** There is no locator. */
  public static final BlockLocations NONE =
      new BlockLocations("", Outcome.SKIPPED, null, 0, 0, 0, List.of());

  /** What a rank holds: the run, and how many blocks of it are in each tier at best. */
  record Match(WorkerRank rank, int blocks, int tokens, TierCounts tiers) {}

  private final String locator;
  private final Outcome outcome;
  private final @Nullable String detail;
  private final int asked;
  private final int ignoredNodes;
  private final long nanos;
  private final List<Match> matches;

  /** By the rank's slot. */
  private final @Nullable Match[] bySlot;

  private volatile @Nullable LookupInfo info;

  /**
   * Keeps an answer.
   *
   * @param matches of ranks with a run of at least one block
   */
  BlockLocations(
      String locator,
      Outcome outcome,
      @Nullable String detail,
      int asked,
      int ignoredNodes,
      long nanos,
      List<Match> matches) {
    this.locator = locator;
    this.outcome = outcome;
    this.detail = detail;
    this.asked = asked;
    this.ignoredNodes = ignoredNodes;
    this.nanos = nanos;
    this.matches = List.copyOf(matches);
    int slots = 0;
    for (Match match : matches) {
      slots = Math.max(slots, match.rank().slot() + 1);
    }
    this.bySlot = new Match[slots];
    for (Match match : matches) {
      bySlot[match.rank().slot()] = match;
    }
  }

  static BlockLocations skipped(String locator, String why) {
    return new BlockLocations(locator, Outcome.SKIPPED, why, 0, 0, 0, List.of());
  }

  /** What came of the look-up. */
  public Outcome outcome() {
    return outcome;
  }

  /** Why it failed or was skipped, or what cut it short; null for nothing. */
  public @Nullable String detail() {
    return detail;
  }

  /** Nodes that the store named and that are none of the workers asked for. */
  public int ignoredNodes() {
    return ignoredNodes;
  }

  /** Whether any rank holds the prompt's beginning. */
  public boolean found() {
    return bySlot.length > 0;
  }

  private @Nullable Match match(long holderId) {
    int slot = WorkerRank.slotOf(holderId);
    Match match = slot < bySlot.length ? bySlot[slot] : null;
    return match != null && match.rank().holderId() == holderId ? match : null;
  }

  /**
   * The prompt tokens that a rank need not compute, whatever tier they are in: whole blocks of its
   * engine, and never the whole prompt.
   *
   * @param holderId names the rank and its incarnation: {@link WorkerRank#holderId}
   */
  public int tokens(long holderId) {
    Match match = match(holderId);
    return match == null ? 0 : match.tokens();
  }

  /** The blocks of a rank's match. */
  public int blocks(long holderId) {
    Match match = match(holderId);
    return match == null ? 0 : match.blocks();
  }

  /** The blocks of a rank's match that are in a tier, and in no better one. */
  public int blocks(long holderId, Tier tier) {
    Match match = match(holderId);
    return match == null ? 0 : match.tiers().of(tier);
  }

  /**
   * What a rank's match is worth, in prompt tokens: its tokens, weighed by the tiers of its blocks.
   */
  public double worth(long holderId, TierWeights weights) {
    Match match = match(holderId);
    return match == null ? 0 : match.tokens() * (match.tiers().weighed(weights) / match.blocks());
  }

  /** The answer as decisions show it; null where there is no locator. */
  public @Nullable LookupInfo info() {
    if (locator.isEmpty()) {
      return null;
    }
    LookupInfo made = info;
    if (made == null) {
      made =
          new LookupInfo(
              locator,
              outcome.label(),
              detail,
              asked,
              ignoredNodes,
              nanos / 1e6,
              matches.stream().map(BlockLocations::view).toList());
      info = made;
    }
    return made;
  }

  private static LookupInfo.Match view(Match match) {
    OptionalInt rank = match.rank().rank();
    Map<String, Integer> tiers = new LinkedHashMap<>();
    for (Tier tier : Tier.values()) {
      int blocks = match.tiers().of(tier);
      if (blocks > 0) {
        tiers.put(tier.label(), blocks);
      }
    }
    return new LookupInfo.Match(
        match.rank().worker().id().value(),
        rank.isPresent() ? rank.getAsInt() : null,
        match.blocks(),
        match.tokens(),
        tiers);
  }

  /** What happened, in words; empty where there is no locator. */
  public List<String> steps() {
    if (locator.isEmpty()) {
      return List.of();
    }
    List<String> steps = new ArrayList<>();
    String because = detail == null ? "" : " (" + detail + ")";
    steps.add(
        switch (outcome) {
          case SKIPPED -> locator + " was not asked" + because;
          case FAILED -> locator + " told nothing" + because + ": where blocks are is unknown";
          case EMPTY ->
              locator + " knows of nobody that holds the first of " + asked + " blocks" + because;
          case FOUND ->
              locator
                  + " knows "
                  + matches.size()
                  + " of the ranks to hold the prompt's beginning"
                  + because;
        });
    if (ignoredNodes > 0) {
      steps.add(
          locator + " named " + ignoredNodes + " nodes that are none of the workers asked for");
    }
    return steps;
  }

  @Override
  public String toString() {
    return "BlockLocations[" + outcome.label() + ", " + matches.size() + " ranks]";
  }
}

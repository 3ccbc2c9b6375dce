package dev.warmpath.index;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class BlockTiersTest {
  private static final int BLOCKS = 12;
  private static final List<Tier> TIERS = List.of(Tier.values());

  /** Block and tier, as one number. */
  private static BlockTiers tiers(List<Integer> told) {
    BlockTiers tiers = new BlockTiers(BLOCKS);
    for (int each : told) {
      tiers.add(each % BLOCKS, TIERS.get(each / BLOCKS));
    }
    return tiers;
  }

  private static Set<Tier> told(List<Integer> told, int block) {
    Set<Tier> tiers = EnumSet.noneOf(Tier.class);
    told.stream()
        .filter(each -> each % BLOCKS == block)
        .forEach(each -> tiers.add(TIERS.get(each / BLOCKS)));
    return tiers;
  }

  @Property(tries = 300)
  void theRunEndsAtTheFirstGapAndItsTiersAddUpToIt(
      @ForAll @Size(max = 30) List<@IntRange(max = 3 * BLOCKS - 1) Integer> told) {
    BlockTiers tiers = tiers(told);
    int run =
        IntStream.range(0, BLOCKS)
            .filter(block -> told(told, block).isEmpty())
            .findFirst()
            .orElse(BLOCKS);
    assertThat(tiers.run()).isEqualTo(run);
    TierCounts counts = tiers.ofRun();
    assertThat(counts.blocks()).isEqualTo(run);
    for (Tier tier : Tier.values()) {
      long best =
          IntStream.range(0, run)
              .filter(block -> told(told, block).iterator().next() == tier)
              .count();
      assertThat(counts.of(tier)).isEqualTo((int) best);
    }
    for (int block = 0; block < BLOCKS; block++) {
      assertThat(tiers.tier(block)).isEqualTo(told(told, block).stream().findFirst().orElse(null));
    }
  }

  @Property(tries = 200)
  void whatTwoHoldIsWhatOneWouldThatWasToldAll(
      @ForAll @Size(max = 20) List<@IntRange(max = 3 * BLOCKS - 1) Integer> one,
      @ForAll @Size(max = 20) List<@IntRange(max = 3 * BLOCKS - 1) Integer> other) {
    BlockTiers first = tiers(one);
    BlockTiers both = first.with(tiers(other));
    List<Integer> all = new ArrayList<>(one);
    all.addAll(other);
    for (int block = 0; block < BLOCKS; block++) {
      assertThat(both.tier(block)).isEqualTo(tiers(all).tier(block));
      assertThat(first.tier(block)).isEqualTo(tiers(one).tier(block));
    }
  }

  @Test
  void answersAboutDifferentlyManyBlocksAddUp() {
    BlockTiers few = new BlockTiers(1);
    few.add(0, Tier.SSD);
    BlockTiers many = new BlockTiers(3);
    many.add(1, Tier.HBM);
    assertThat(few.with(many).run()).isEqualTo(2);
    assertThat(many.with(few).run()).isEqualTo(2);
  }

  @Test
  void weightsAreBetweenNothingAndOne() {
    assertThat(new TierCounts(4, 2, 4).weighed(TierWeights.DEFAULT)).isEqualTo(4 + 1.5 + 1);
    assertThat(TierWeights.DEFAULT.of(Tier.DRAM)).isEqualTo(0.75);
    assertThatThrownBy(() -> new TierWeights(1, 1.5, 0)).hasMessageContaining("dram=1.5");
    assertThatThrownBy(() -> new TierWeights(1, 1, Double.NaN)).hasMessageContaining("ssd=NaN");
  }
}

package dev.warmpath.index;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.management.ThreadMXBean;
import dev.warmpath.hash.BlockHash;
import dev.warmpath.hash.BlockHashes;
import dev.warmpath.hash.HashNamespace;
import dev.warmpath.hash.HashParams;
import dev.warmpath.hash.HashScheme;
import dev.warmpath.hash.HashSchemes;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class BlockIndexTest {
  private static final long A = HolderIds.of(1, 0);
  private static final long B = HolderIds.of(1, 1);
  private static final long C = HolderIds.of(1, 2);

  private final ManualTicker ticker = new ManualTicker();
  private final BlockMatches matches = new BlockMatches();
  private BlockIndex index = BlockIndex.builder().ticker(ticker).build();

  @AfterEach
  void audit() {
    BlockAudit.audit(index);
  }

  private void store(String text, long holder) {
    BlockHashes hashes = Chains.of(text);
    index.stored(hashes, 0, hashes.size(), holder, Tier.HBM);
  }

  private void remove(String text, int block, long holder, Tier tier) {
    BlockHashes hashes = Chains.of(text);
    index.removed(hashes.namespace(), new long[] {hashes.bits(block)}, holder, tier);
  }

  private BlockMatches match(String text) {
    index.match(Chains.of(text), matches);
    return matches;
  }

  @Test
  void knowsNothingWhenEmpty() {
    assertThat(match("prompt").size()).isZero();
    assertThat(matches.longest()).isZero();
    assertThat(matches.blocks(A)).isZero();
    assertThat(match("").size()).isZero();
  }

  @Test
  void givesEveryHolderItsOwnRun() {
    store("system user", A);
    store("system u", B);
    store("system tool", C);

    match("system user and more");

    assertThat(matches.blocks(A)).isEqualTo(11);
    assertThat(matches.blocks(B)).isEqualTo(8);
    assertThat(matches.blocks(C)).isEqualTo(7);
    assertThat(matches.size()).isEqualTo(3);
    assertThat(matches.longest()).isEqualTo(11);
    assertThat(List.of(matches.holderAt(0), matches.holderAt(1), matches.holderAt(2)))
        .containsExactlyInAnyOrder(A, B, C);
  }

  @Test
  void findsTheRunsOfManyHoldersThatFallAwayOneByOne() {
    String text = "abcdefghijklmnopqrstuvwxyz".repeat(10);
    for (int slot = 0; slot < 250; slot++) {
      store(text.substring(0, 1 + (slot * 7) % 250), HolderIds.of(1, slot));
    }

    match(text);

    for (int slot = 0; slot < 250; slot++) {
      assertThat(matches.blocks(HolderIds.of(1, slot))).isEqualTo(1 + (slot * 7) % 250);
    }
  }

  @Test
  void endsTheRunWhereABlockWasTakenOutAndGoesOnWhereItIsBack() {
    store("abcdefgh", A);
    store("abcdefgh", B);
    remove("abcdefgh", 3, A, Tier.HBM);

    assertThat(match("abcdefgh").blocks(A)).isEqualTo(3);
    assertThat(matches.blocks(B)).isEqualTo(8);

    BlockHashes hashes = Chains.of("abcdefgh");
    index.stored(hashes, 3, 4, A, Tier.HBM);

    assertThat(match("abcdefgh").blocks(A)).isEqualTo(8);
  }

  @Test
  void doesNotCountAHolderThatLacksTheFirstBlock() {
    store("abc", A);
    remove("abc", 0, A, Tier.HBM);

    assertThat(match("abc").size()).isZero();
    assertThat(index.stats().blocks()).isEqualTo(3);
  }

  @Test
  void letsGoOfHolesWhenNothingIsLeftBelow() {
    store("abcd", A);
    remove("abcd", 1, A, Tier.HBM);
    remove("abcd", 3, A, Tier.HBM);
    assertThat(index.stats().blocks()).isEqualTo(3);

    remove("abcd", 2, A, Tier.HBM);

    assertThat(index.stats().blocks()).isEqualTo(1);
    assertThat(match("abcd").blocks(A)).isEqualTo(1);
  }

  @Test
  void tellsTiersApart() {
    BlockHashes hashes = Chains.of("abcdefgh");
    index.stored(hashes, 0, 3, A, Tier.HBM);
    index.stored(hashes, 2, 6, A, Tier.DRAM);
    index.stored(hashes, 6, 8, A, Tier.SSD);

    match("abcdefgh");

    assertThat(matches.blocks(A)).isEqualTo(8);
    assertThat(matches.blocks(A, Tier.HBM)).isEqualTo(3);
    assertThat(matches.blocks(A, Tier.DRAM)).isEqualTo(6);
    assertThat(matches.blocks(A, Tier.SSD)).isEqualTo(8);
    assertThat(matches.blocksIn(A, Tier.HBM)).isEqualTo(3);
    assertThat(matches.blocksIn(A, Tier.DRAM)).isEqualTo(3);
    assertThat(matches.blocksIn(A, Tier.SSD)).isEqualTo(2);
  }

  @Test
  void keepsOtherTiersOfARemovedBlock() {
    BlockHashes hashes = Chains.of("ab");
    index.stored(hashes, 0, 2, A, Tier.HBM);
    index.stored(hashes, 0, 2, A, Tier.DRAM);
    remove("ab", 0, A, Tier.HBM);

    match("ab");

    assertThat(matches.blocks(A)).isEqualTo(2);
    assertThat(matches.blocks(A, Tier.HBM)).isZero();
    assertThat(matches.blocksIn(A, Tier.HBM)).isEqualTo(1);
    assertThat(matches.blocks(A, Tier.DRAM)).isEqualTo(2);
  }

  @Test
  void extendsAChainByItsParent() {
    store("abc", A);
    long[] bits = Chains.bits(Chains.of("abcde"));
    HashNamespace namespace = Chains.MODEL.namespace();
    index.storedAfter(namespace, bits[2], new long[] {bits[3], bits[4]}, A, Tier.HBM);
    index.storedAfter(namespace, bits[2], new long[] {bits[3], bits[4]}, B, Tier.HBM);

    match("abcdef");

    assertThat(matches.blocks(A)).isEqualTo(5);
    assertThat(matches.blocks(B)).as("lacks what leads up to it").isZero();

    index.stored(Chains.of("abc"), 0, 3, B, Tier.DRAM);

    assertThat(match("abcdef").blocks(B)).isEqualTo(5);
  }

  @Test
  void refusesWhatFollowsAnUnknownBlock() {
    index.storedAfter(Chains.MODEL.namespace(), 42, new long[] {43, 44}, A, Tier.HBM);

    assertThat(index.stats().refused()).isEqualTo(2);
    assertThat(index.stats().blocks()).isZero();
  }

  @Test
  void refusesABlockThatIsToldToFollowAnother() {
    HashNamespace namespace = Chains.MODEL.namespace();
    index.stored(namespace, new long[] {1, 2, 3}, 0, 3, A, Tier.HBM);
    index.stored(namespace, new long[] {1, 3, 2}, 0, 3, B, Tier.HBM);

    assertThat(index.stats().refused()).isEqualTo(2);
    assertThat(index.stats().holdings()).isEqualTo(4);
  }

  // Dispatches.

  @Test
  void countsADispatchAsHeldUntilItIsWithdrawn() {
    Speculation speculation = index.dispatch(Chains.of("abc"), A);
    assertThat(match("abc").blocks(A, Tier.HBM)).isEqualTo(3);

    speculation.withdraw();

    assertThat(match("abc").size()).isZero();
    assertThat(index.stats().blocks()).isZero();
  }

  @Test
  void withdrawsOnlyWhatNobodyElseClaimsOrHasStored() {
    store("ab", A);
    Speculation first = index.dispatch(Chains.of("abcdef"), A);
    Speculation second = index.dispatch(Chains.of("abcd"), A);

    first.withdraw();
    assertThat(match("abcdef").blocks(A)).isEqualTo(4);

    second.withdraw();
    assertThat(match("abcdef").blocks(A)).isEqualTo(2);
  }

  @Test
  void keepsWhatWasConfirmedOrStoredMeanwhile() {
    Speculation first = index.dispatch(Chains.of("abcdef"), A);
    Speculation second = index.dispatch(Chains.of("abc"), A);
    second.confirm();
    index.stored(Chains.of("abcd"), 3, 4, A, Tier.DRAM);

    first.withdraw();

    assertThat(match("abcdef").blocks(A)).isEqualTo(4);
    assertThat(matches.blocks(A, Tier.HBM)).isEqualTo(3);
  }

  @Test
  void settlesOnce() {
    Speculation speculation = index.dispatch(Chains.of("abc"), A);
    speculation.confirm();
    speculation.withdraw();

    assertThat(match("abc").blocks(A)).isEqualTo(3);
  }

  @Test
  void forgetsTheOldestOfTooManyDispatchesUnderWay() {
    Speculation oldest = index.dispatch(Chains.of("xyz"), A);
    Speculation next = index.dispatch(Chains.of("uvw"), A);
    for (int i = 1; i < Dispatches.MOST_PENDING; i++) {
      Speculation unused = index.dispatch(Chains.of("abc"), A);
      assertThat(unused).isNotNull();
    }

    oldest.withdraw();
    next.withdraw();

    assertThat(match("uvw").size()).isZero();
    assertThat(match("xyz").size()).isZero();
  }

  // Lives.

  @Test
  void forgetsADroppedHolderAndItsDispatches() {
    Speculation speculation = index.dispatch(Chains.of("abc"), A);
    store("abc", B);

    index.drop(A);
    speculation.confirm();
    store("abc", A);

    assertThat(match("abc").blocks(A)).isZero();
    assertThat(matches.blocks(B)).isEqualTo(3);
    assertThat(index.stats().holders()).isEqualTo(1);
  }

  @Test
  void startsANewEpochEmpty() {
    store("abc", A);
    long next = HolderIds.of(2, 0);
    store("a", next);

    assertThat(match("abc").blocks(A)).isZero();
    assertThat(matches.blocks(next)).isEqualTo(1);
  }

  @Test
  void emptiesAHolderThatLivesOn() {
    index.capacity(A, 2);
    store("abc", A);
    index.clear(A);
    assertThat(match("abc").size()).isZero();

    store("xyz", A);

    assertThat(match("xyz").blocks(A)).as("the capacity stays").isEqualTo(2);
  }

  @Test
  void endsALifeInATimeThatDoesNotDependOnItsBlocks() {
    for (int i = 0; i < 100; i++) {
      store("abcdefghij" + (char) (1_000 + i) + "abcdefghij", A);
    }
    long before = index.stats().holdings();

    index.drop(A);

    assertThat(before - index.stats().holdings()).isBetween(0L, 16L);
    for (int i = 0; i < 100; i++) {
      store("x", B);
    }
    assertThat(index.stats().holdings()).isEqualTo(1);
  }

  // Age.

  @Test
  void losesTheLeastRecentlyUsedBeyondACapacity() {
    index.capacity(A, 6);
    store("abc", A);
    store("xyz", A);
    store("ab", A);
    store("uv", A);

    assertThat(match("xyz").blocks(A)).as("older than the new use of ab").isEqualTo(2);
    assertThat(match("abc").blocks(A)).as("c is the oldest").isEqualTo(2);
    assertThat(match("uv").blocks(A)).isEqualTo(2);
    assertThat(index.stats().overCapacity()).isEqualTo(2);
  }

  @Test
  void keepsInOtherTiersWhatIsBeyondTheCapacity() {
    index.capacity(A, 2);
    index.stored(Chains.of("abc"), 0, 3, A, Tier.DRAM);
    store("abc", A);

    match("abc");

    assertThat(matches.blocks(A)).isEqualTo(3);
    assertThat(matches.blocks(A, Tier.HBM)).isEqualTo(2);
  }

  @Test
  void tellsWhoHoldsABlock() {
    store("abc", A);
    Speculation speculation = index.dispatch(Chains.of("ab"), B);
    ticker.advance(ManualTicker.TICK.multipliedBy(10));
    index.stored(Chains.of("ab"), 0, 2, A, Tier.SSD);

    BlockHash block = Chains.of("ab").get(1);
    assertThat(index.holders(block))
        .containsExactlyInAnyOrder(
            new BlockHolder(A, Set.of(Tier.HBM, Tier.SSD), false, Duration.ZERO),
            new BlockHolder(B, Set.of(), true, ManualTicker.TICK.multipliedBy(10)));
    speculation.withdraw();
    assertThat(index.holders(block)).hasSize(1);
  }

  // Namespaces.

  @Test
  void keepsNamespacesApart() {
    HashScheme small = scheme("vllm-sha256-cbor", 16);
    HashScheme large = scheme("vllm-sha256-cbor", 32);
    HashNamespace[] namespaces = {
      small.namespace(), large.namespace(), scheme("atom", 16).namespace(),
    };
    long[] chain = {1, 2, 3};
    for (int i = 0; i < namespaces.length; i++) {
      index.stored(namespaces[i], chain, 0, 1 + i, HolderIds.of(1, i), Tier.HBM);
    }

    assertThat(index.stats().blocks()).isEqualTo(6);
    for (int i = 0; i < namespaces.length; i++) {
      assertThat(index.holders(new BlockHash(namespaces[i], 1))).hasSize(1);
      index.removed(namespaces[i], chain, HolderIds.of(1, (i + 1) % 3), Tier.HBM);
    }
    assertThat(index.stats().blocks()).as("nothing of another namespace").isEqualTo(6);
  }

  @Test
  void findsBlocksOfEventsByTheHashesOfRequests() {
    HashScheme salted = Chains.scheme("m", "salt");
    BlockHashes request = Chains.of(salted, "abc");
    assertThat(request.namespace()).isNotEqualTo(request.namespace().published());

    index.stored(request.namespace().published(), Chains.bits(request), 0, 3, A, Tier.HBM);

    index.match(request, matches);
    assertThat(matches.blocks(A)).isEqualTo(3);
    assertThat(match("abc").size()).as("the same text without the salt").isZero();
  }

  private static HashScheme scheme(String name, int blockSize) {
    return HashSchemes.byName(name, HashParams.builder().blockSize(blockSize).seed("0").build());
  }

  // Bounds.

  @Test
  void staysWithinItsBudgetAndKeepsTheNewest() {
    index = BlockIndex.builder().ticker(ticker).budgetBytes(64 << 10).build();
    for (int i = 0; i < 500; i++) {
      ticker.advance(ManualTicker.TICK);
      store((char) (1_000 + i) + "abcdefghijklmnop", HolderIds.of(1, i % 7));
    }

    BlockIndex.Stats stats = index.stats();
    assertThat(stats.evicted()).isPositive();
    assertThat(stats.bytes()).isLessThanOrEqualTo(64 << 10);
    assertThat(stats.blocks()).isGreaterThan(500);
    assertThat(match((char) 1_499 + "abcdefghijklmnop").longest()).isEqualTo(17);
    assertThat(match((char) 1_000 + "abcdefghijklmnop").longest()).isZero();
  }

  @Test
  void makesRoomForManyHoldersWhereBlocksHaveTakenItUp() {
    index = BlockIndex.builder().ticker(ticker).budgetBytes(64 << 10).build();
    for (int i = 0; i < 500; i++) {
      ticker.advance(ManualTicker.TICK);
      store((char) (1_000 + i) + "abcdefghijklmnop", A);
    }
    for (int slot = 0; slot < 60; slot++) {
      ticker.advance(ManualTicker.TICK);
      store("system", HolderIds.of(1, slot));
    }

    assertThat(match("system").size()).isEqualTo(60);
  }

  @Test
  void keepsTheBeginningOfAChainThatIsTooLong() {
    index = BlockIndex.builder().budgetBytes(64 << 10).build();
    store("a".repeat(1_000), A);

    assertThat(match("a".repeat(1_000)).blocks(A)).isEqualTo(128);
  }

  @Test
  void refusesNonsense() {
    assertThatIllegalArgumentException().isThrownBy(() -> BlockIndex.builder().budgetBytes(1_000));
    assertThatIllegalArgumentException().isThrownBy(() -> index.capacity(A, -1));
    assertThatExceptionOfType(IndexOutOfBoundsException.class)
        .isThrownBy(() -> index.stored(Chains.of("abc"), 0, 4, A, Tier.HBM));
  }

  @Test
  void matchesWithoutAllocation() {
    ThreadMXBean threads =
        (ThreadMXBean) ManagementFactory.getPlatformMXBean(java.lang.management.ThreadMXBean.class);
    assumeTrue(threads.isThreadAllocatedMemorySupported());
    threads.setThreadAllocatedMemoryEnabled(true);
    String text = "abcdefghijklmnopqrstuvwxyz".repeat(10);
    for (int slot = 0; slot < 64; slot++) {
      store(text.substring(0, 4 * slot + 1), HolderIds.of(1, slot));
      remove(text, 2 * slot, HolderIds.of(1, slot), Tier.HBM);
    }
    BlockHashes hashes = Chains.of(Chains.scheme("m", null), text);
    index.match(hashes, matches);

    long thread = Thread.currentThread().getId();
    long before = threads.getThreadAllocatedBytes(thread);
    for (int i = 0; i < 1_000; i++) {
      index.match(hashes, matches);
    }

    assertThat((threads.getThreadAllocatedBytes(thread) - before) / 1_000).isZero();
    assertThat(matches.size()).isEqualTo(63);
  }
}

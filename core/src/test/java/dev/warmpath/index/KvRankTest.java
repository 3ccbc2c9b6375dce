package dev.warmpath.index;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.hash.BlockHashes;
import dev.warmpath.hash.HashParams;
import dev.warmpath.hash.HashSchemes;
import dev.warmpath.index.KvEvent.Cleared;
import dev.warmpath.index.KvEvent.KvKeys;
import dev.warmpath.index.KvEvent.Removed;
import dev.warmpath.index.KvEvent.Stored;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KvRankTest {
  private static final int CLIENT = 16;
  private static final long A = HolderIds.of(1, 0);
  private static final long B = HolderIds.of(1, 1);

  private final ManualTicker ticker = new ManualTicker();
  private final BlockIndex index = BlockIndex.builder().ticker(ticker).build();
  private final KvEventIndex events = new KvEventIndex(index, CLIENT, 8 << 20);
  private final KvRank rank = events.rank(A, "m");
  private final BlockMatches matches = new BlockMatches();

  @AfterEach
  void audit() {
    BlockAudit.audit(index);
  }

  private static int[] tokens(int count) {
    return IntStream.range(1000, 1000 + count).toArray();
  }

  private static BlockHashes prompt(int[] tokens, KvKeys keys) {
    HashParams params =
        HashParams.builder()
            .blockSize(CLIENT)
            .model("m")
            .loraName(keys.lora())
            .cacheSalt(keys.salt())
            .build();
    return HashSchemes.content(params).newChain().append(tokens).hashes();
  }

  private static BlockHashes prompt(int count) {
    return prompt(tokens(count), KvKeys.NONE);
  }

  /** Blocks {@code from} to {@code to} of a prompt, in blocks of so many tokens. */
  private static Stored stored(int width, int from, int to, Tier tier, KvKeys keys) {
    int[] tokens = Arrays.copyOfRange(tokens(to * width), from * width, to * width);
    long[] hashes = IntStream.range(from, to).mapToLong(i -> -500 - i).toArray();
    return new Stored(hashes, from == 0, -499 - from, tokens, tier, keys);
  }

  private static Stored stored(int width, int from, int to) {
    return stored(width, from, to, Tier.HBM, KvKeys.NONE);
  }

  private static Removed removed(Tier tier, int... blocks) {
    return new Removed(Arrays.stream(blocks).mapToLong(i -> -500 - i).toArray(), tier);
  }

  private void tell(KvEvent... told) {
    rank.apply(List.of(told), true);
  }

  private int held(BlockHashes prompt) {
    index.match(prompt, matches);
    return matches.blocks(A);
  }

  private boolean authoritative() {
    return index.authoritative(A, prompt(16).namespace());
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8, 16, 24, 32, 64, 96})
  void findsWhatAnEngineWithBlocksOfAnySizeTells(int width) {
    rank.begin();
    int blocks = 4 * 96 / width;
    for (int i = 0; i < blocks; i += 2) {
      tell(stored(width, i, Math.min(blocks, i + 2)));
      assertThat(held(prompt(400))).isEqualTo(Math.min(blocks, i + 2) * width / CLIENT);
    }
    for (int i = blocks - 1; i >= 0; i--) {
      tell(removed(Tier.HBM, i));
      assertThat(held(prompt(400))).isEqualTo(i * width / CLIENT);
    }
    assertThat(index.stats().blocks()).isZero();
    assertThat(rank.counts().blocks()).isZero();
  }

  @Test
  void isAuthoritativeOnlySinceItBegan() {
    tell(stored(16, 0, 3));
    assertThat(held(prompt(48))).isEqualTo(3);
    assertThat(authoritative()).isFalse();
    assertThat(rank.complete()).isFalse();

    rank.begin();
    assertThat(authoritative()).isTrue();
    assertThat(index.authoritative(B, prompt(16).namespace())).isFalse();
    assertThat(held(prompt(48))).isZero();

    rank.lose();
    assertThat(authoritative()).isFalse();
    assertThat(rank.complete()).isFalse();
  }

  @Test
  void whatIsToldOverridesWhatWasGuessed() {
    index.dispatch(prompt(64), A).confirm();
    assertThat(held(prompt(64))).isEqualTo(4);

    rank.begin();
    assertThat(held(prompt(64))).isZero();
    index.dispatch(prompt(64), A).confirm();
    assertThat(held(prompt(64))).as("just sent").isEqualTo(4);
    tell(stored(16, 0, 2));
    ticker.advance(Duration.ofMillis(1_900));
    assertThat(held(prompt(64))).isEqualTo(4);
    ticker.advance(Duration.ofMillis(300));
    assertThat(held(prompt(64))).as("what the engine told of").isEqualTo(2);
  }

  @Test
  void anotherDispatchOfTheSamePromptKeepsItsClaimUntilItsOwnTimeIsOver() {
    rank.begin();
    index.dispatch(prompt(64), A).confirm();
    ticker.advance(Duration.ofMillis(1_500));
    Speculation second = index.dispatch(prompt(64), A);
    ticker.advance(Duration.ofSeconds(1));
    assertThat(held(prompt(64))).isEqualTo(4);
    second.withdraw();
    assertThat(held(prompt(64))).isZero();
    ticker.advance(Duration.ofSeconds(3));
    assertThat(held(prompt(64))).isZero();
  }

  @Test
  void guessesOfOtherModelsAreAddedAsEver() {
    rank.begin();
    HashParams other = HashParams.builder().blockSize(CLIENT).model("n").build();
    BlockHashes prompt = HashSchemes.content(other).newChain().append(tokens(64)).hashes();
    index.dispatch(prompt, A).confirm();
    ticker.advance(Duration.ofSeconds(5));
    assertThat(held(prompt)).isEqualTo(4);
    assertThat(index.authoritative(A, prompt.namespace())).isFalse();
  }

  @Test
  void aBlockThatLeavesTheHostStaysOnTheAccelerator() {
    rank.begin();
    tell(stored(32, 0, 2), stored(32, 0, 2, Tier.DRAM, KvKeys.NONE));
    tell(removed(Tier.DRAM, 0, 1));
    assertThat(held(prompt(64))).isEqualTo(4);
    assertThat(matches.blocks(A, Tier.HBM)).isEqualTo(4);

    tell(stored(32, 0, 2, Tier.DRAM, KvKeys.NONE), removed(Tier.HBM, 1));
    assertThat(held(prompt(64))).isEqualTo(4);
    assertThat(matches.blocks(A, Tier.HBM)).isEqualTo(2);
    assertThat(matches.blocksIn(A, Tier.DRAM)).isEqualTo(2);
    tell(removed(Tier.DRAM, 1));
    assertThat(held(prompt(64))).isEqualTo(2);
  }

  @Test
  void aBlockThatIsKnownMayComeToAnotherTierWithoutItsTokensOrItsParent() {
    rank.begin();
    tell(stored(32, 0, 2));
    Stored again = new Stored(new long[] {-501}, false, 77, new int[0], Tier.SSD, KvKeys.NONE);
    tell(again, removed(Tier.HBM, 1));
    assertThat(held(prompt(64))).isEqualTo(4);
    assertThat(matches.blocks(A, Tier.DRAM)).isEqualTo(2);
    assertThat(rank.counts().unplaced()).isZero();
  }

  @Test
  void whatFollowsAnUnknownBlockIsCountedAndNotGuessed() {
    tell(stored(16, 2, 4), stored(16, 4, 5));
    assertThat(held(prompt(80))).isZero();
    assertThat(rank.counts().unplaced()).isEqualTo(3);
    tell(removed(Tier.HBM, 3));
    assertThat(rank.counts().unknownRemoved()).isEqualTo(1);
  }

  @Test
  void whatCoversMoreThanTokensIsLeftOutWithAllThatFollows() {
    rank.begin();
    tell(stored(16, 0, 1));
    tell(new Stored(new long[] {-501}, false, -500, new int[0], Tier.HBM, KvKeys.NONE));
    tell(stored(16, 2, 3));
    assertThat(held(prompt(48))).isEqualTo(1);
    assertThat(rank.counts().unplaced()).isEqualTo(2);
  }

  @Test
  void adaptersAndSaltsAreKeptApart() {
    rank.begin();
    KvKeys lora = new KvKeys("l", null);
    KvKeys salt = new KvKeys(null, "s");
    tell(stored(16, 0, 3, Tier.HBM, salt));
    assertThat(held(prompt(48))).isZero();
    assertThat(held(prompt(tokens(48), lora))).isZero();
    assertThat(held(prompt(tokens(48), salt))).isEqualTo(3);
    assertThat(index.authoritative(A, prompt(tokens(48), lora).namespace())).isTrue();
  }

  @Test
  void anEmptiedCacheIsOneOfWhichAllIsKnown() {
    tell(stored(16, 0, 3));
    tell(new Cleared(), stored(16, 0, 1));
    assertThat(held(prompt(48))).isEqualTo(1);
    assertThat(authoritative()).isTrue();

    rank.lose();
    rank.apply(List.of(new Cleared(), stored(16, 0, 2)), false);
    assertThat(held(prompt(48))).isEqualTo(2);
    assertThat(authoritative()).isFalse();
  }

  @Test
  void aRestartedRankTakesWhatItToldAlreadyWithIt() {
    rank.begin();
    tell(stored(16, 0, 3));
    long next = HolderIds.of(2, 1);
    rank.moveTo(next);
    index.drop(A);
    tell(stored(16, 3, 4));
    index.match(prompt(80), matches);
    assertThat(matches.blocks(A)).isZero();
    assertThat(matches.blocks(next)).isEqualTo(4);
    assertThat(index.authoritative(next, prompt(16).namespace())).isTrue();
    assertThat(authoritative()).isFalse();
  }

  @Test
  void branchesGrowAndFallInAnyOrder() {
    rank.begin();
    tell(stored(16, 0, 4));
    int[] other = IntStream.range(9000, 9032).toArray();
    tell(new Stored(new long[] {1, 2}, false, -501, other, Tier.HBM, KvKeys.NONE));
    tell(stored(16, 4, 6));
    int[] branch = IntStream.concat(Arrays.stream(tokens(32)), Arrays.stream(other)).toArray();
    assertThat(held(prompt(branch, KvKeys.NONE))).isEqualTo(4);
    assertThat(held(prompt(96))).isEqualTo(6);
    BlockAudit.audit(index);
    tell(removed(Tier.HBM, 5, 4, 3), new Removed(new long[] {2}, Tier.HBM));
    assertThat(held(prompt(branch, KvKeys.NONE))).isEqualTo(3);
    assertThat(held(prompt(96))).isEqualTo(3);
  }

  /** Blocks of four of the client's, of prompts that share beginnings, at two ranks. */
  @Test
  void holdsWhatRanksHoldWhoeverElseDoesAndInWhateverOrderItGoes() {
    int width = 4 * CLIENT;
    int depth = 5;
    int prompts = 6;
    KvRank[] ranks = {rank, events.rank(B, "m")};
    boolean[][][] there = new boolean[2][prompts][depth];
    ranks[0].begin();
    ranks[1].begin();
    SplittableRandom random = new SplittableRandom(5);
    for (int step = 0; step < 3_000; step++) {
      int r = random.nextInt(2);
      int p = random.nextInt(prompts);
      int d = random.nextInt(depth);
      // The first blocks are those of all prompts, the second of half of them.
      int owner = d == 0 ? 0 : d == 1 ? p % 2 : p;
      boolean[] held = there[r][owner];
      int above = d == 1 ? 0 : d == 2 ? p % 2 : p;
      long hash = 10L * owner + d;
      if (held[d]) {
        held[d] = false;
        ranks[r].apply(List.of(new Removed(new long[] {hash}, Tier.HBM)), true);
      } else if (d == 0 || there[r][above][d - 1]) {
        held[d] = true;
        int[] tokens = Arrays.copyOfRange(forked(p, depth, width), d * width, (d + 1) * width);
        long parent = 10L * above + d - 1;
        ranks[r].apply(
            List.of(new Stored(new long[] {hash}, d == 0, parent, tokens, Tier.HBM, KvKeys.NONE)),
            true);
      }
      int expected = 0;
      while (expected < depth
          && there[r][expected == 0 ? 0 : expected == 1 ? p % 2 : p][expected]) {
        expected++;
      }
      index.match(prompt(forked(p, depth, width), KvKeys.NONE), matches);
      assertThat(matches.blocks(r == 0 ? A : B)).isEqualTo(4 * expected);
      if (step % 100 == 0) {
        BlockAudit.audit(index);
      }
    }
  }

  private static int[] forked(int prompt, int depth, int width) {
    int[] tokens = tokens(depth * width);
    Arrays.fill(tokens, width, 2 * width, prompt % 2);
    Arrays.fill(tokens, 2 * width, tokens.length, 10 + prompt);
    return tokens;
  }

  @Test
  void aRankWithoutRoomForItsBlocksIsNotAuthoritative() {
    KvEventIndex tight = new KvEventIndex(index, CLIENT, 4 << 10);
    KvRank full = tight.rank(B, "m");
    full.begin();
    full.apply(List.of(stored(16, 0, 30)), true);
    assertThat(full.complete()).isTrue();
    full.apply(List.of(stored(16, 30, 300)), true);
    assertThat(full.complete()).isFalse();
    assertThat(index.authoritative(B, prompt(16).namespace())).isFalse();
    assertThat(tight.usedBytes()).isLessThanOrEqualTo(tight.budgetBytes());
    full.close();
    assertThat(tight.usedBytes()).isZero();
  }

  @Test
  void aRankWhoseBlocksHadToMakeRoomInTheIndexIsNotAuthoritative() {
    BlockIndex small = BlockIndex.builder().budgetBytes(64 << 10).ticker(ticker).build();
    KvRank told = new KvEventIndex(small, CLIENT, 8 << 20).rank(A, "m");
    told.begin();
    for (int i = 0; i < 2_000; i++) {
      int[] tokens = {i, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
      Stored one = new Stored(new long[] {i}, true, 0, tokens, Tier.HBM, KvKeys.NONE);
      told.apply(List.of(one), true);
      ticker.advance(Duration.ofMillis(100));
    }
    assertThat(small.stats().evicted()).isPositive();
    assertThat(small.authoritative(A, prompt(16).namespace())).isFalse();
    BlockAudit.audit(small);
  }
}

package dev.warmpath.index;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ByteRadixTreeTest {
  private static final PrefixNamespace MODEL = PrefixNamespace.of("model");
  private static final Duration TTL = Duration.ofMinutes(1);
  private static final long A = HolderIds.of(1, 0);
  private static final long B = HolderIds.of(1, 1);
  private static final long C = HolderIds.of(1, 2);

  private final ManualTicker ticker = new ManualTicker();
  private final PrefixMatches matches = new PrefixMatches();
  private ByteRadixTree tree = ByteRadixTree.builder().ttl(TTL).ticker(ticker).build();

  @AfterEach
  void audit() {
    TreeAudit.audit(tree);
  }

  private void insert(String prompt, long holder) {
    tree.insert(MODEL, bytes(prompt), 0, prompt.length(), holder);
  }

  private Speculation dispatch(String prompt, long holder, int tokens) {
    return tree.dispatch(MODEL, bytes(prompt), 0, prompt.length(), holder, tokens);
  }

  private int matched(String prompt, long holder) {
    return match(prompt).matched(holder);
  }

  private PrefixMatches match(String prompt) {
    tree.match(MODEL, bytes(prompt), 0, prompt.length(), matches);
    return matches;
  }

  private static byte[] bytes(String prompt) {
    return prompt.getBytes(ISO_8859_1);
  }

  @Test
  void knowsNothingOfAnEmptyTree() {
    assertThat(match("prompt").size()).isZero();
    assertThat(matches.longest()).isZero();
    assertThat(matches.matched(A)).isZero();
    assertThat(matches.expected(A)).isZero();
  }

  @Test
  void givesEveryHolderWithItsOwnLength() {
    insert("system user", A);
    insert("system u", B);
    insert("system tool", C);

    match("system user and more");

    assertThat(matches.matched(A)).isEqualTo(11);
    assertThat(matches.matched(B)).isEqualTo(8);
    assertThat(matches.matched(C)).isEqualTo(7);
    assertThat(matches.size()).isEqualTo(3);
    assertThat(matches.longest()).isEqualTo(11);
  }

  @Test
  void keepsEveryHolderAtTheShallowerDepthOfASplit() {
    insert("abcdef", A);
    insert("abcdef", B);
    insert("abcxyz", C);

    assertThat(matched("abc", A)).isEqualTo(3);
    assertThat(matched("abc", B)).isEqualTo(3);
    assertThat(matched("abc", C)).isEqualTo(3);
    assertThat(matched("abcdef", B)).isEqualTo(6);
    assertThat(matched("abcdef", C)).isEqualTo(3);
  }

  @Test
  void matchesWithinAnEdgeAndWithinTheRangeOnly() {
    byte[] prompt = bytes("##abcdef##");
    tree.insert(MODEL, prompt, 2, 6, A);

    tree.match(MODEL, prompt, 2, 4, matches);
    assertThat(matches.matched(A)).isEqualTo(4);
    tree.match(MODEL, prompt, 2, 8, matches);
    assertThat(matches.matched(A)).isEqualTo(6);
    tree.match(MODEL, prompt, 0, 10, matches);
    assertThat(matches.matched(A)).isZero();
    tree.match(MODEL, prompt, 10, 0, matches);
    assertThat(matches.size()).isZero();
  }

  @Test
  void tellsWhatAllAskedHoldersShare() {
    insert("system user", A);
    insert("system u", B);

    match("system user");

    assertThat(matches.shared(new long[] {A, B}, 2)).isEqualTo(8);
    assertThat(matches.shared(new long[] {A, B}, 1)).isEqualTo(11);
    assertThat(matches.shared(new long[] {A, B, C}, 3)).isZero();
    assertThat(matches.shared(new long[] {}, 0)).isZero();
  }

  @Test
  void listsTheTouchedHoldersOnceEach() {
    insert("abc", B);
    insert("abcdef", B);
    insert("abcdef", A);

    match("abcdef");

    assertThat(new long[] {matches.holderAt(0), matches.holderAt(1)})
        .containsExactlyInAnyOrder(A, B);
    assertThat(HolderIds.slot(matches.holderAt(0))).isEqualTo(matches.slotAt(0));
    assertThat(match("xyz").size()).as("a new answer forgets the last").isZero();
    assertThat(matches.matched(A)).isZero();
  }

  @Test
  void keepsNamespacesApart() {
    insert("prompt", A);
    tree.insert(PrefixNamespace.of("model", "lora", null, null), bytes("prompt"), 0, 6, B);
    tree.insert(PrefixNamespace.of("model", null, "salt", null), bytes("prompt"), 0, 6, C);

    match("prompt");
    assertThat(matches.size()).isEqualTo(1);
    assertThat(matches.matched(A)).isEqualTo(6);
    for (PrefixNamespace other :
        new PrefixNamespace[] {
          PrefixNamespace.of("mode"),
          PrefixNamespace.of("model2"),
          PrefixNamespace.of("model", "", null, null),
          PrefixNamespace.of("model", null, "salt", "tenant"),
          PrefixNamespace.of("model", "lora", "salt", null)
        }) {
      tree.match(other, bytes("prompt"), 0, 6, matches);
      assertThat(matches.size()).as("%s", other).isZero();
    }
  }

  @Test
  void findsEveryOneOfManyBranches() {
    for (int first = 0; first < 256; first++) {
      byte[] prompt = {1, (byte) first, 2};
      tree.insert(MODEL, prompt, 0, 3, first % 2 == 0 ? A : B);
      TreeAudit.audit(tree);
    }
    for (int first = 0; first < 256; first++) {
      tree.match(MODEL, new byte[] {1, (byte) first, 2}, 0, 3, matches);
      assertThat(matches.matched(A)).isEqualTo(first % 2 == 0 ? 3 : 1);
      assertThat(matches.matched(B)).isEqualTo(first % 2 == 0 ? 1 : 3);
    }
  }

  @Test
  void cutsLongPromptsIntoSeveralNodes() {
    byte[] prompt = new byte[100_000];
    new Random(1).nextBytes(prompt);
    tree.insert(MODEL, prompt, 0, prompt.length, A);

    assertThat(tree.stats().nodes()).isGreaterThan(6);
    tree.match(MODEL, prompt, 0, prompt.length, matches);
    assertThat(matches.matched(A)).isEqualTo(prompt.length);
    tree.match(MODEL, prompt, 0, 70_000, matches);
    assertThat(matches.matched(A)).isEqualTo(70_000);
  }

  @Test
  void keepsAnEighthOfTheBudgetOfALongerPrompt() {
    tree = ByteRadixTree.builder().budgetBytes(1 << 20).build();
    byte[] prompt = new byte[1 << 20];
    tree.insert(MODEL, prompt, 0, prompt.length, A);

    tree.match(MODEL, prompt, 0, prompt.length, matches);

    assertThat(matches.matched(A)).isEqualTo(1 << 17);
  }

  // Holders that come and go.

  @Test
  void aDroppedHolderVanishesAndNeverComesBack() {
    insert("prompt", A);
    insert("prompt", B);
    Speculation underWay = dispatch("prompt", A, 10);

    tree.drop(A);

    assertThat(match("prompt").size()).isEqualTo(1);
    assertThat(matches.matched(A)).isZero();
    assertThat(matches.matched(B)).isEqualTo(6);
    underWay.confirm();
    insert("prompt", A);
    dispatch("prompt", A, 10);
    assertThat(matched("prompt", A)).isZero();
    assertThat(tree.stats().holders()).isEqualTo(1);
  }

  @Test
  void aNewEpochStartsEmptyAndEndsTheOlderOnes() {
    long second = HolderIds.of(2, 0);
    insert("prompt", A);

    insert("pro", second);

    assertThat(matched("prompt", A)).isZero();
    assertThat(matched("prompt", second)).isEqualTo(3);
    insert("prompt", A);
    assertThat(matched("prompt", A)).isZero();
    tree.drop(A);
    assertThat(matched("prompt", second)).as("a late drop of the old epoch").isEqualTo(3);
  }

  @Test
  void aNewerEpochThatIsDroppedUnseenEndsTheOlderOne() {
    insert("prompt", A);

    tree.drop(HolderIds.of(2, 0));

    assertThat(match("prompt").size()).isZero();
    assertThat(tree.stats().holders()).isZero();
  }

  @Test
  void anAnswerForOneEpochSaysNothingOfAnother() {
    insert("prompt", HolderIds.of(2, 0));

    assertThat(match("prompt").matched(HolderIds.of(1, 0))).isZero();
    assertThat(matches.matched(HolderIds.of(3, 0))).isZero();
    assertThat(matches.matched(HolderIds.of(2, 500))).isZero();
  }

  @Test
  void aClearedHolderLivesOnEmpty() {
    insert("prompt", A);
    Speculation underWay = dispatch("prompt", A, 10);
    tree.clear(A);

    assertThat(matched("prompt", A)).isZero();
    underWay.confirm();
    assertThat(matched("prompt", A)).isZero();
    insert("pro", A);
    assertThat(matched("prompt", A)).isEqualTo(3);
  }

  @Test
  void takesNoHolderWhoseSlotWouldEatUpTheBudget() {
    tree = ByteRadixTree.builder().budgetBytes(64 << 10).build();
    long far = HolderIds.of(1, HolderIds.MAX_SLOTS - 1);

    insert("prompt", far);
    insert("prompt", A);

    assertThat(matched("prompt", far)).isZero();
    assertThat(matched("prompt", A)).isEqualTo(6);
  }

  // Age.

  @Test
  void anEntryExpiresOnceItWasNotUsedForTheTtl() {
    insert("prompt", A);
    ticker.advance(TTL.minus(ManualTicker.TICK));
    assertThat(matched("prompt", A)).isEqualTo(6);
    insert("prom", A);

    ticker.advance(ManualTicker.TICK.multipliedBy(3));

    assertThat(matched("prompt", A)).as("what was used later").isEqualTo(4);
    ticker.advance(TTL);
    assertThat(matched("prompt", A)).isZero();
  }

  @Test
  void whatExpiredIsReclaimedByOtherUpdates() {
    long empty = tree.stats().nodes();
    for (int i = 0; i < 10; i++) {
      insert(i + " prompt", A);
    }
    ticker.advance(TTL.plus(TTL));
    for (int i = 0; i < 10; i++) {
      insert("other", B);
    }

    assertThat(tree.stats().expired()).isEqualTo(10);
    assertThat(tree.stats().entries()).isEqualTo(1);
    assertThat(tree.stats().nodes()).isEqualTo(empty + 2);
  }

  @Test
  void anEntryIsGoneOnceItsHolderReceivedItsCapacity() {
    tree.capacity(A, 64_000);
    insert("prompt", A);
    insert("prompt", B);

    tree.received(A, 48_000);
    assertThat(match("prompt").expected(A)).as("up to three quarters").isEqualTo(6);
    tree.received(A, 8_000);
    assertThat(match("prompt").matched(A)).isEqualTo(6);
    assertThat(matches.expected(A)).as("half way down").isEqualTo(3);
    tree.received(A, 8_000);
    assertThat(match("prompt").matched(A)).isZero();
    assertThat(matches.matched(B)).as("without a capacity").isEqualTo(6);
  }

  @Test
  void eachPartOfAMatchIsDiscountedByItsOwnAge() {
    tree.capacity(A, 64_000);
    insert("0123456789abcdefghij", A);
    tree.received(A, 56_000);
    insert("0123456789", A);

    match("0123456789abcdefghij");

    assertThat(matches.matched(A)).isEqualTo(20);
    assertThat(matches.expected(A)).isEqualTo(15);
  }

  @Test
  void aConfirmedDispatchAgesTheRestByWhatTheHolderDidNotHold() {
    tree.capacity(A, 64_000);
    insert("other", A);
    insert("01234", A);
    dispatch("0123456789", A, 112_000).confirm();

    assertThat(match("other").matched(A)).isEqualTo(5);
    assertThat(matches.expected(A)).isEqualTo(3);
    assertThat(match("0123456789").expected(A)).as("not by its own tokens").isEqualTo(10);
    dispatch("0123456789", A, 112_000).confirm();
    assertThat(match("other").matched(A)).as("a full hit displaces nothing").isEqualTo(5);
  }

  @Test
  void aWithdrawnDispatchAgesNothing() {
    tree.capacity(A, 64_000);
    insert("other", A);

    dispatch("0123456789", A, 1_000_000).withdraw();

    assertThat(match("other").expected(A)).isEqualTo(5);
  }

  // Speculation.

  @Test
  void aDispatchCountsUntilItIsWithdrawn() {
    insert("sys", A);
    long nodes = tree.stats().nodes();
    Speculation speculation = dispatch("system", A, 10);
    assertThat(matched("system", A)).isEqualTo(6);

    speculation.withdraw();

    assertThat(matched("system", A)).as("what was there before").isEqualTo(3);
    assertThat(tree.stats().nodes()).as("the nodes have merged again").isEqualTo(nodes);
  }

  @Test
  void aWithdrawalLeavesWhatAnotherDispatchClaims() {
    Speculation first = dispatch("system user", A, 10);
    Speculation second = dispatch("system", A, 10);

    first.withdraw();
    assertThat(matched("system user", A)).isEqualTo(6);
    second.withdraw();
    assertThat(match("system user").size()).isZero();
    assertThat(tree.stats().entries()).isZero();
  }

  @Test
  void aWithdrawalLeavesWhatAnotherDispatchHasConfirmed() {
    Speculation first = dispatch("system user", A, 10);
    dispatch("system", A, 10).confirm();

    first.withdraw();

    assertThat(matched("system user", A)).isEqualTo(6);
  }

  @Test
  void aWithdrawalGivesBackTheAgeOfBefore() {
    insert("prompt", A);
    ticker.advance(TTL.minusSeconds(10));
    Speculation speculation = dispatch("prompt", A, 10);
    ticker.advance(Duration.ofSeconds(20));
    assertThat(matched("prompt", A)).isEqualTo(6);

    speculation.withdraw();

    assertThat(matched("prompt", A)).isZero();
  }

  @Test
  void aWithdrawalLeavesWhatALaterDispatchMadeAnew() {
    Speculation first = dispatch("prompt", A, 10);
    tree.core.evictTo(0, tree.tick());
    assertThat(match("prompt").size()).isZero();
    Speculation second = dispatch("prompt", A, 10);

    first.withdraw();
    assertThat(matched("prompt", A)).isEqualTo(6);
    second.withdraw();
    assertThat(match("prompt").size()).isZero();
  }

  @Test
  void aConfirmationBringsBackWhatWasEvictedMeanwhile() {
    Speculation speculation = dispatch("prompt", A, 10);
    tree.core.evictTo(0, tree.tick());

    speculation.confirm();

    assertThat(matched("prompt", A)).isEqualTo(6);
  }

  @Test
  void aDispatchIsSettledOnce() {
    Speculation confirmed = dispatch("first", A, 10);
    Speculation withdrawn = dispatch("second", A, 10);
    confirmed.confirm();
    withdrawn.withdraw();

    confirmed.withdraw();
    withdrawn.confirm();

    assertThat(matched("first", A)).isEqualTo(5);
    assertThat(matched("second", A)).isZero();
  }

  @Test
  void anEmptyPromptLeavesNothingBehind() {
    dispatch("", A, 0).confirm();
    insert("", A);

    assertThat(tree.stats().entries()).isZero();
    assertThat(match("").size()).isZero();
  }

  // The budget.

  @Test
  void makesRoomForANewEntryByTheOnesUsedLongestAgo() {
    tree = ByteRadixTree.builder().budgetBytes(64 << 10).ttl(TTL).ticker(ticker).build();
    for (int i = 0; i < 20; i++) {
      insert(i % 10 + "x".repeat(5_900), A);
      ticker.advance(Duration.ofSeconds(1));
    }
    assertThat(tree.stats().evicted()).isZero();
    insert("0" + "x".repeat(5_900), A);
    ticker.advance(Duration.ofSeconds(1));

    insert("n" + "x".repeat(6_000), B);

    assertThat(tree.stats().evicted()).isEqualTo(1);
    assertThat(matched("n" + "x".repeat(6_000), B)).isEqualTo(6_001);
    assertThat(matched("0" + "x".repeat(5_900), A)).as("used just now").isEqualTo(5_901);
    assertThat(match("1" + "x".repeat(5_900)).size()).as("the oldest").isZero();
    assertThat(matched("2" + "x".repeat(5_900), A)).as("the next").isEqualTo(5_901);
  }

  @Test
  void evictsTheDeepestFirstAndMergesWhatIsLeft() {
    insert("abcd", A);
    long nodes = tree.stats().nodes();
    insert("abcdef", A);
    insert("abcdxy", A);
    ticker.advance(Duration.ofSeconds(5));
    insert("abcd", A);

    tree.core.evictTo(tree.stats().bytes() - 1, tree.tick());
    assertThat(tree.stats().evicted()).isEqualTo(1);
    assertThat(matched("abcd", A)).isEqualTo(4);
    tree.core.evictTo(tree.stats().bytes() - 1, tree.tick());
    assertThat(matched("abcdef", A)).isEqualTo(4);
    assertThat(matched("abcdxy", A)).isEqualTo(4);
    assertThat(tree.stats().nodes()).isEqualTo(nodes);
  }

  @Test
  void anEvictionTakesTheOldHolderOfANodeAndLeavesTheOthers() {
    insert("prompt", A);
    ticker.advance(Duration.ofSeconds(5));
    insert("prompt", B);

    tree.core.evictTo(tree.stats().bytes() - 1, tree.tick());

    assertThat(match("prompt").size()).isEqualTo(1);
    assertThat(matches.matched(B)).isEqualTo(6);
  }

  @Test
  void everythingGoesWhenNothingMayStay() {
    Random random = new Random(5);
    for (int i = 0; i < 500; i++) {
      insert(Integer.toString(random.nextInt(100_000), 3), HolderIds.of(1, random.nextInt(20)));
      ticker.advance(Duration.ofMillis(random.nextInt(200)));
    }

    tree.core.evictTo(0, tree.tick());

    assertThat(tree.stats().nodes()).isEqualTo(1);
    assertThat(tree.stats().entries()).isZero();
  }

  @Test
  void countsWhatItHolds() {
    ByteRadixTree.Stats empty = tree.stats();
    assertThat(empty.nodes()).isEqualTo(1);
    assertThat(empty.budgetBytes()).isEqualTo(64 << 20);
    insert("abc", A);
    insert("abc", B);
    insert("abd", B);

    ByteRadixTree.Stats stats = tree.stats();

    // The root, the namespace, "ab", "c" and "d".
    assertThat(stats.nodes()).isEqualTo(5);
    assertThat(stats.entries()).isEqualTo(5);
    assertThat(stats.holders()).isEqualTo(2);
    assertThat(stats.bytes()).isGreaterThan(empty.bytes());
    assertThat(stats.evicted() + stats.expired() + stats.shed()).isZero();
  }

  @Test
  void rejectsWhatMakesNoSense() {
    byte[] prompt = bytes("prompt");
    assertThatExceptionOfType(IndexOutOfBoundsException.class)
        .isThrownBy(() -> tree.match(MODEL, prompt, 3, 4, matches));
    assertThatExceptionOfType(IndexOutOfBoundsException.class)
        .isThrownBy(() -> tree.insert(MODEL, prompt, -1, 2, A));
    assertThatExceptionOfType(IndexOutOfBoundsException.class)
        .isThrownBy(() -> tree.dispatch(MODEL, prompt, 0, 7, A, 1));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> tree.dispatch(MODEL, prompt, 0, 6, A, -1));
    assertThatIllegalArgumentException().isThrownBy(() -> tree.capacity(A, -1));
    assertThatIllegalArgumentException().isThrownBy(() -> tree.received(A, -1));
    ByteRadixTree.Builder builder = ByteRadixTree.builder();
    assertThatIllegalArgumentException().isThrownBy(() -> builder.budgetBytes(1000));
    assertThatIllegalArgumentException().isThrownBy(() -> builder.ttl(Duration.ZERO));
    assertThatIllegalArgumentException().isThrownBy(() -> builder.ttl(Duration.ofDays(8)));
  }
}

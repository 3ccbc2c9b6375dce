package dev.warmpath.index;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.warmpath.prompt.ContentKeys;
import dev.warmpath.prompt.TestPrompts;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

/** Prompts are spelled as texts: a letter stands for 64 bytes, which are a key. */
class BranchTrieTest {
  private final AtomicLong now = new AtomicLong();
  private final BranchTrie trie = BranchTrie.builder().ticker(now::get).build();

  private static ContentKeys keys(String text) {
    StringBuilder bytes = new StringBuilder();
    text.chars().forEach(c -> bytes.append(String.valueOf((char) c).repeat(64)));
    return TestPrompts.inNamespace("m", bytes.toString().getBytes(ISO_8859_1)).contentKeys();
  }

  private static BranchPath walk(BranchTrie trie, String text) {
    BranchPath path = new BranchPath();
    trie.walk(keys(text), path);
    return path;
  }

  private static void visit(BranchTrie trie, String... prompts) {
    for (String prompt : prompts) {
      trie.visit(keys(prompt)).served(-1);
    }
  }

  @Test
  void whatWasNeverSentIsNotKnown() {
    assertThat(walk(trie, "abc").size()).isZero();
    assertThat(walk(trie, "").size()).isZero();
    visit(trie, "abc");
    assertThat(walk(trie, "xyz").known()).isZero();
    assertThat(walk(trie, "").known()).isZero();
  }

  @Test
  void aStretchWithoutBranchesIsOneNode() {
    visit(trie, "abc", "abcdef", "ab", "abcdef");
    assertThat(trie.stats().nodes()).isEqualTo(1);
    BranchPath path = walk(trie, "abcde");
    assertThat(path.size()).isEqualTo(1);
    assertThat(path.known()).isEqualTo(5);
    assertThat(path.fans(0)).isFalse();
  }

  @Test
  void promptsPartWhereTheirKeysDo() {
    visit(trie, "abcX1", "abcY2");
    BranchPath path = walk(trie, "abcX9");
    assertThat(path.size()).isEqualTo(2);
    assertThat(path.end(0)).isEqualTo(3);
    assertThat(path.known()).isEqualTo(4);
    assertThat(path.holding(2)).isZero();
    assertThat(path.holding(3)).isEqualTo(1);
    assertThat(path.holding(4)).isEqualTo(path.size());
  }

  @Test
  void countsFadeWithinSeconds() {
    visit(trie, "ab", "ab", "ab", "cd");
    assertThat(walk(trie, "ab").count(0)).isCloseTo(4, within(1e-6));
    assertThat(walk(trie, "ab").total()).isCloseTo(5, within(1e-6));
    now.addAndGet(15_000_000_000L);
    assertThat(walk(trie, "ab").count(0)).isCloseTo(1 + 3 / Math.E, within(0.01));
    now.addAndGet(600_000_000_000L);
    assertThat(walk(trie, "ab").total()).isCloseTo(1, within(1e-6));
  }

  @Test
  void whatWasWithdrawnCountsAsNeverSent() {
    BranchVisit visit = trie.visit(keys("ab"));
    visit.withdraw();
    visit.withdraw();
    visit.served(64);
    assertThat(walk(trie, "ab").count(0)).isCloseTo(1, within(1e-6));
    assertThat(walk(trie, "ab").total()).isCloseTo(1, within(1e-6));
  }

  @Test
  void onlyWhatHasNotFadedIsWithdrawn() {
    BranchVisit visit = trie.visit(keys("ab"));
    now.addAndGet(15_000_000_000L);
    visit(trie, "ab");
    visit.withdraw();
    assertThat(walk(trie, "ab").count(0)).isCloseTo(2, within(1e-3));
    assertThat(walk(trie, "ab").total()).isCloseTo(2, within(1e-3));
  }

  /** However often and in what order each ends, it ends once. */
  @Property(tries = 100)
  void eachVisitIsTakenBackOnceOrNever(@ForAll long seed, @ForAll @IntRange(max = 40) int visits) {
    Random random = new Random(seed);
    BranchTrie fresh = BranchTrie.builder().ticker(() -> 0).build();
    int served = 0;
    for (int i = 0; i < visits; i++) {
      BranchVisit visit = fresh.visit(keys("S" + (char) ('a' + random.nextInt(5))));
      boolean first = random.nextBoolean();
      for (int k = random.nextInt(3); k >= 0; k--) {
        if (first) {
          visit.served(random.nextInt(200) - 1);
        } else {
          visit.withdraw();
        }
        served += first && k == 0 ? 1 : 0;
        if (random.nextBoolean()) {
          visit.withdraw();
        }
      }
    }
    assertThat(walk(fresh, "S").total()).isCloseTo(served + 1, within(1e-3));
  }

  @Property(tries = 200)
  void theSameTrafficInAnotherOrderTeachesTheSame(
      @ForAll long seed, @ForAll @IntRange(min = 1, max = 60) int prompts) {
    Random random = new Random(seed);
    List<String> traffic = new ArrayList<>();
    for (int i = 0; i < prompts; i++) {
      StringBuilder text = new StringBuilder();
      for (int k = random.nextInt(6); k >= 0; k--) {
        text.append((char) ('a' + random.nextInt(4)));
      }
      traffic.add(text.toString());
    }
    BranchTrie one = BranchTrie.builder().ticker(() -> 0).build();
    BranchTrie other = BranchTrie.builder().ticker(() -> 0).build();
    visit(one, traffic.toArray(new String[0]));
    List<String> shuffled = new ArrayList<>(traffic);
    Collections.shuffle(shuffled, random);
    visit(other, shuffled.toArray(new String[0]));
    for (String prompt : traffic) {
      BranchPath a = walk(one, prompt);
      BranchPath b = walk(other, prompt);
      assertThat(forks(a)).isEqualTo(forks(b));
      assertThat(a.known()).isEqualTo(b.known()).isEqualTo(prompt.length());
    }
  }

  private static List<Integer> forks(BranchPath path) {
    List<Integer> forks = new ArrayList<>();
    for (int i = 0; i < path.size(); i++) {
      if (path.fans(i)) {
        forks.add(path.end(i));
      }
    }
    return forks;
  }

  @Property(tries = 30)
  void theBudgetIsKept(@ForAll long seed) {
    Random random = new Random(seed);
    BranchTrie small = BranchTrie.builder().budgetBytes(64 << 10).ticker(() -> 0).build();
    for (int i = 0; i < 1_500; i++) {
      StringBuilder text = new StringBuilder("S");
      for (int k = random.nextInt(20); k >= 0; k--) {
        text.append((char) ('a' + random.nextInt(20)));
      }
      visit(small, text.toString());
      assertThat(small.stats().bytes()).isLessThanOrEqualTo(small.stats().budgetBytes());
    }
    assertThat(small.stats().evicted()).isPositive();
    assertThat(walk(small, "Sx").fans(0)).as("what all prompts share is kept").isTrue();
  }

  @Test
  void whatIsForgottenAndComesAgainIsNoNewBranch() {
    BranchTrie small = BranchTrie.builder().budgetBytes(64 << 10).ticker(() -> 0).build();
    for (int round = 0; round < 10; round++) {
      visit(small, "Sa", "Sb");
      for (int i = 0; i < 400; i++) {
        visit(small, "T" + (char) (0x21 + i % 90) + (char) (0x21 + i / 90));
      }
    }
    assertThat(small.stats().evicted()).isPositive();
    visit(small, "Sa", "Sb");
    assertThat(walk(small, "Sa").fans(0)).isFalse();
  }

  @Test
  void whatWasLearnedIsSavedAndLoaded() throws IOException {
    for (int i = 0; i < 3; i++) {
      for (String prompt : new String[] {"Sa", "Sb", "Sc", "Sd"}) {
        trie.visit(keys(prompt)).served(i * 64);
      }
    }
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    trie.save(out);
    BranchTrie later = BranchTrie.builder().ticker(() -> 0).build();
    assertThat(later.load(new ByteArrayInputStream(out.toByteArray())))
        .isEqualTo(trie.stats().nodes());
    BranchPath before = walk(trie, "Sx");
    BranchPath after = walk(later, "Sx");
    assertThat(after.fans(0)).isTrue();
    assertThat(after.visits(0)).isEqualTo(before.visits(0)).isPositive();
    assertThat(after.reused(0)).isEqualTo(before.reused(0)).isPositive();
    assertThat(after.presence(0)).isEqualTo(before.presence(0));
    assertThat(later.stats().bytes()).isEqualTo(trie.stats().bytes());
  }

  @Test
  void aDamagedFileAddsNothing() throws IOException {
    visit(trie, "Sa", "Sb", "Sc");
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    trie.save(out);
    byte[] good = out.toByteArray();
    for (int i = 0; i < good.length; i++) {
      byte[] bad = good.clone();
      bad[i] ^= 0x20;
      BranchTrie fresh = BranchTrie.builder().ticker(() -> 0).build();
      assertThatThrownBy(() -> fresh.load(new ByteArrayInputStream(bad)))
          .as("byte %d", i)
          .isInstanceOf(IOException.class);
      assertThat(fresh.stats().nodes()).isZero();
    }
    for (int length = 0; length < good.length; length++) {
      byte[] cut = Arrays.copyOf(good, length);
      assertThatThrownBy(() -> trie.load(new ByteArrayInputStream(cut)))
          .isInstanceOf(IOException.class);
    }
  }

  @Test
  void aBudgetThatIsTooSmallIsRefused() {
    assertThatThrownBy(() -> BranchTrie.builder().budgetBytes(100))
        .isInstanceOf(IllegalArgumentException.class);
  }
}

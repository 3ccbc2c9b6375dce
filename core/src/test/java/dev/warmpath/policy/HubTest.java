package dev.warmpath.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.index.BranchPath;
import dev.warmpath.index.BranchTrie;
import dev.warmpath.index.BranchVisit;
import dev.warmpath.prompt.ContentKeys;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** A fork is a hub once three branches were seen and some of them again. */
class HubTest {
  private static final int WORKERS = 16;
  private static final long MINUTE = 60_000_000_000L;

  private final AtomicLong now = new AtomicLong();
  private final BranchTrie trie = BranchTrie.builder().ticker(now::get).build();

  /** Each long after the one before, so that nothing is popular. */
  private void send(String prompt, int cachedKeys) {
    now.addAndGet(MINUTE);
    BranchVisit visit = trie.visit(HomingPrompts.of(prompt).contentKeys());
    visit.served(cachedKeys * HomingPrompts.TOKENS);
  }

  private int hub(String prompt) {
    now.addAndGet(MINUTE);
    BranchPath path = new BranchPath();
    trie.walk(HomingPrompts.of(prompt).contentKeys(), path);
    int fork = Hub.find(path, WORKERS);
    return fork == Hub.NONE ? 0 : path.end(fork);
  }

  @Test
  void branchesThatAreUsedAgainHaveHomesOfTheirOwn() {
    for (String branch : new String[] {"SSa", "SSb", "SSc"}) {
      send(branch, 0);
    }
    for (String branch : new String[] {"SSa", "SSb", "SSc"}) {
      send(branch, 3);
    }
    assertThat(hub("SSd")).isEqualTo(2);
    assertThat(hub("SSab")).isEqualTo(2);
  }

  @Test
  void branchesThatAreNeverUsedAgainBelongToTheirPrefix() {
    for (char branch = 'a'; branch <= 'z'; branch++) {
      send("SS" + branch, 2);
    }
    assertThat(hub("SSA")).isZero();
  }

  @Test
  void whatOtherClientsUsedAgainIsReuseToo() {
    for (String branch : new String[] {"SSaX", "SSbX", "SScX", "SSdX"}) {
      send(branch, 4); // never seen here, and yet in the worker's cache
    }
    assertThat(hub("SSe")).isEqualTo(2);
  }

  @Test
  void whatIsNotReportedIsNoSignOfNoReuse() {
    for (char branch = 'a'; branch <= 'z'; branch++) {
      now.addAndGet(MINUTE);
      trie.visit(HomingPrompts.of("SS" + branch).contentKeys()).served(-1);
    }
    assertThat(hub("SSA")).isZero();
    now.addAndGet(MINUTE);
    trie.visit(HomingPrompts.of("SSa").contentKeys()).served(-1);
    assertThat(hub("SSA")).isEqualTo(2);
  }

  @Test
  void twoBranchesAreNoFork() {
    for (int i = 0; i < 10; i++) {
      send(i % 2 == 0 ? "SSa" : "SSb", 3);
    }
    assertThat(hub("SSa")).isZero();
  }

  @Test
  void theThirdBranchMakesTheForkForItself() {
    send("SSa", 0);
    send("SSb", 0);
    for (int i = 0; i < 3; i++) {
      send("SSa", 3);
    }
    BranchPath path = new BranchPath();
    trie.walk(HomingPrompts.of("SSc").contentKeys(), path);
    assertThat(path.fans(0)).isTrue();
    trie.walk(HomingPrompts.of("SSa").contentKeys(), path);
    assertThat(path.fans(0)).isFalse();
  }

  @Test
  void aForkThatTooManyAskForIsSplitWithoutReuse() {
    BranchPath path = new BranchPath();
    for (char branch = 'a'; branch <= 'z'; branch++) {
      trie.visit(HomingPrompts.of("SS" + branch).contentKeys()).served(128);
    }
    trie.walk(HomingPrompts.of("SSA").contentKeys(), path);
    assertThat(Hub.find(path, WORKERS)).isZero();
    now.addAndGet(10 * MINUTE);
    trie.walk(HomingPrompts.of("SSA").contentKeys(), path);
    assertThat(Hub.find(path, WORKERS)).isEqualTo(Hub.NONE);
  }

  @Test
  void theDeepestHubCounts() {
    for (int round = 0; round < 2; round++) {
      for (String prompt : new String[] {"Sax", "Say", "Saz", "Sb", "Sc"}) {
        send(prompt, round * prompt.length());
      }
    }
    assertThat(hub("Sa!")).isEqualTo(2);
    assertThat(hub("Sd")).isEqualTo(1);
  }

  @Test
  void keysOfOtherNamespacesShareNothing() {
    ContentKeys one = HomingPrompts.of("m", "SS").contentKeys();
    ContentKeys other = HomingPrompts.of("n", "SS").contentKeys();
    assertThat(one.get(0)).isNotEqualTo(other.get(0));
    assertThat(one.get(0)).isEqualTo(HomingPrompts.of("m", "SST").contentKeys().get(0));
  }
}

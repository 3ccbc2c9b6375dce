package dev.warmpath.index;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import net.jqwik.api.statistics.Statistics;

/** The tree against {@link NaiveIndex}, over random histories. */
class ByteRadixTreeModelTest {
  private static final int BLOCK = 1300;
  private static final List<PrefixNamespace> NAMESPACES =
      List.of(
          PrefixNamespace.of("m"),
          PrefixNamespace.of("m", "lora", null, null),
          PrefixNamespace.of("m", null, "salt", null));

  /** One step of a history; what the numbers mean depends on the kind. */
  record Step(Kind kind, int namespace, String prompt, int slot, int epoch, int number) {
    long holder() {
      return HolderIds.of(epoch, slot);
    }
  }

  enum Kind {
    INSERT,
    DISPATCH,
    CONFIRM,
    WITHDRAW,
    RECEIVED,
    CAPACITY,
    DROP,
    CLEAR,
    ADVANCE
  }

  @Provide
  Arbitrary<Step> steps() {
    return steps(Arbitraries.strings().withChars('a', 'b').ofMinLength(1).ofMaxLength(7));
  }

  /** Prompts of blocks, of which a few dozen fill the smallest budget. */
  @Provide
  Arbitrary<Step> largeSteps() {
    return steps(
        Arbitraries.integers()
            .between(0, 5)
            .list()
            .ofMinSize(1)
            .ofMaxSize(6)
            .map(
                blocks -> {
                  StringBuilder prompt = new StringBuilder();
                  for (int block : blocks) {
                    prompt.append(String.valueOf((char) ('a' + block)).repeat(BLOCK));
                  }
                  return prompt.toString();
                }));
  }

  private static Arbitrary<Step> steps(Arbitrary<String> prompts) {
    Arbitrary<Kind> kinds =
        Arbitraries.frequency(
            Tuple.of(12, Kind.INSERT),
            Tuple.of(20, Kind.DISPATCH),
            Tuple.of(10, Kind.CONFIRM),
            Tuple.of(8, Kind.WITHDRAW),
            Tuple.of(4, Kind.RECEIVED),
            Tuple.of(2, Kind.CAPACITY),
            Tuple.of(1, Kind.DROP),
            Tuple.of(1, Kind.CLEAR),
            Tuple.of(6, Kind.ADVANCE));
    return Combinators.combine(
            kinds,
            Arbitraries.frequency(Tuple.of(8, 0), Tuple.of(1, 1), Tuple.of(1, 2)),
            prompts,
            Arbitraries.integers().between(0, 3),
            Arbitraries.frequency(Tuple.of(12, 1), Tuple.of(1, 2)),
            Arbitraries.integers().between(0, 100))
        .as(Step::new);
  }

  @Property(tries = 400, seed = "20")
  void answersAsTheNaiveIndexDoes(@ForAll("history") List<Step> history) {
    Run run = new Run(64 << 20, 10, 1);
    for (Step step : history) {
      run.take(step);
      run.compare(step.prompt, true);
      run.compare("abababa", true);
      run.compare("aaaaaaa", true);
      TreeAudit.audit(run.tree);
    }
    assertThat(run.tree.stats().evicted()).isZero();
  }

  @Property(tries = 40, seed = "21", edgeCases = EdgeCasesMode.NONE)
  void neverClaimsMoreThanTheNaiveIndexAndStaysWithinTheBudget(
      @ForAll("largeHistory") List<Step> history) {
    Run run = new Run(64 << 10, 200, BLOCK);
    for (Step step : history) {
      run.take(step);
      run.compare(step.prompt, false);
      TreeAudit.audit(run.tree);
    }
    Statistics.label("made room")
        .collect(run.tree.stats().evicted() > 0)
        .coverage(coverage -> coverage.check(true).percentage(share -> share > 50));
  }

  @Provide
  Arbitrary<List<Step>> history() {
    return steps().list().ofMaxSize(60);
  }

  @Provide
  Arbitrary<List<Step>> largeHistory() {
    return largeSteps().list().ofSize(150);
  }

  /** The same history in both. */
  private static final class Run {
    private final ManualTicker ticker = new ManualTicker();
    private final PrefixMatches matches = new PrefixMatches();
    private final NaiveIndex naive;
    private final List<Speculation> speculations = new ArrayList<>();
    private final List<NaiveIndex.Claim> claims = new ArrayList<>();
    private final ByteRadixTree tree;

    Run(long budget, int ttlTicks, int blockLength) {
      naive = new NaiveIndex(ttlTicks, blockLength);
      tree =
          ByteRadixTree.builder()
              .budgetBytes(budget)
              .ttl(ManualTicker.TICK.multipliedBy(ttlTicks))
              .ticker(ticker)
              .build();
    }

    void take(Step step) {
      PrefixNamespace namespace = NAMESPACES.get(step.namespace);
      // An offset, so that a forgotten one shows.
      byte[] prompt = ("#" + step.prompt + "#").getBytes(ISO_8859_1);
      int length = step.prompt.length();
      long holder = step.holder();
      switch (step.kind) {
        case INSERT -> {
          tree.insert(namespace, prompt, 1, length, holder);
          naive.insert(namespace, step.prompt, holder);
        }
        case DISPATCH -> {
          int tokens = step.number * 40;
          speculations.add(tree.dispatch(namespace, prompt, 1, length, holder, tokens));
          claims.add(naive.dispatch(namespace, step.prompt, holder, tokens));
        }
        case CONFIRM -> {
          if (!claims.isEmpty()) {
            int chosen = step.number % claims.size();
            speculations.remove(chosen).confirm();
            naive.confirm(claims.remove(chosen));
          }
        }
        case WITHDRAW -> {
          if (!claims.isEmpty()) {
            int chosen = step.number % claims.size();
            speculations.remove(chosen).withdraw();
            naive.withdraw(claims.remove(chosen));
          }
        }
        case RECEIVED -> {
          tree.received(holder, step.number * 50L);
          naive.received(holder, step.number * 50L);
        }
        case CAPACITY -> {
          tree.capacity(holder, step.number * 400L);
          naive.capacity(holder, step.number * 400L);
        }
        case DROP -> {
          tree.drop(holder);
          naive.drop(holder);
        }
        case CLEAR -> {
          tree.clear(holder);
          naive.clear(holder);
        }
        case ADVANCE -> {
          int ticks = step.number % 7;
          ticker.advance(ManualTicker.TICK.multipliedBy(ticks));
          naive.advance(ticks);
        }
      }
    }

    void compare(String prompt, boolean exactly) {
      byte[] bytes = ("#" + prompt).getBytes(ISO_8859_1);
      for (PrefixNamespace namespace : NAMESPACES) {
        tree.match(namespace, bytes, 1, prompt.length(), matches);
        int touched = 0;
        int longest = 0;
        for (int slot = 0; slot < 4; slot++) {
          for (int epoch = 1; epoch <= 2; epoch++) {
            long holder = HolderIds.of(epoch, slot);
            int expected = naive.matched(namespace, prompt, holder);
            int actual = matches.matched(holder);
            touched += actual > 0 ? 1 : 0;
            longest = Math.max(longest, actual);
            if (exactly) {
              assertThat(actual).isEqualTo(expected);
              assertThat((double) matches.expected(holder))
                  .isCloseTo(naive.expected(namespace, prompt, holder), within(1.0));
            } else {
              assertThat(actual).isLessThanOrEqualTo(expected);
            }
          }
        }
        assertThat(matches.size()).isEqualTo(touched);
        assertThat(matches.longest()).isEqualTo(longest);
      }
    }
  }
}

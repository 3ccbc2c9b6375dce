package dev.warmpath.index;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.hash.BlockHashes;
import dev.warmpath.hash.HashScheme;
import java.util.ArrayList;
import java.util.Arrays;
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

/** The block index against {@link NaiveBlocks}, over random histories. */
class BlockIndexModelTest {
  private static final int SLOTS = 4;
  private static final List<HashScheme> SCHEMES =
      List.of(Chains.MODEL, Chains.scheme("m", "salt"), Chains.scheme("n", null));

  /** One step of a history; what the numbers mean depends on the kind. */
  record Step(Kind kind, int scheme, String text, int slot, int epoch, Tier tier, int number) {
    long holder() {
      return HolderIds.of(epoch, slot);
    }
  }

  enum Kind {
    STORED,
    STORED_PART,
    STORED_AFTER,
    REMOVED,
    REMOVED_TAIL,
    DISPATCH,
    CONFIRM,
    WITHDRAW,
    CAPACITY,
    DROP,
    CLEAR,
    ADVANCE
  }

  private static Arbitrary<Step> steps(Arbitrary<String> texts, Arbitrary<Integer> numbers) {
    Arbitrary<Kind> kinds =
        Arbitraries.frequency(
            Tuple.of(8, Kind.STORED),
            Tuple.of(6, Kind.STORED_PART),
            Tuple.of(6, Kind.STORED_AFTER),
            Tuple.of(8, Kind.REMOVED),
            Tuple.of(4, Kind.REMOVED_TAIL),
            Tuple.of(12, Kind.DISPATCH),
            Tuple.of(6, Kind.CONFIRM),
            Tuple.of(5, Kind.WITHDRAW),
            Tuple.of(2, Kind.CAPACITY),
            Tuple.of(1, Kind.DROP),
            Tuple.of(1, Kind.CLEAR),
            Tuple.of(3, Kind.ADVANCE));
    return Combinators.combine(
            kinds,
            Arbitraries.frequency(Tuple.of(10, 0), Tuple.of(1, 1), Tuple.of(1, 2)),
            texts,
            Arbitraries.integers().between(0, SLOTS - 1),
            Arbitraries.frequency(Tuple.of(15, 1), Tuple.of(1, 2)),
            Arbitraries.frequency(
                Tuple.of(5, Tier.HBM), Tuple.of(2, Tier.DRAM), Tuple.of(1, Tier.SSD)),
            numbers)
        .as(Step::new);
  }

  @Provide
  Arbitrary<List<Step>> history() {
    return steps(
            Arbitraries.strings().withChars('a', 'b').ofMinLength(1).ofMaxLength(9),
            Arbitraries.integers().between(0, 30))
        .list()
        .ofMaxSize(60);
  }

  /** Longer chains over more letters, of which a few dozen fill the smallest budget. */
  @Provide
  Arbitrary<List<Step>> largeHistory() {
    return steps(
            Arbitraries.integers()
                .between(0, 25)
                .list()
                .ofMinSize(3)
                .ofMaxSize(5)
                .map(
                    parts -> {
                      StringBuilder text = new StringBuilder();
                      for (int part : parts) {
                        text.append(String.valueOf((char) ('a' + part)).repeat(25));
                      }
                      return text.toString();
                    }),
            Arbitraries.integers().between(0, 300))
        .list()
        .ofSize(200);
  }

  @Property(tries = 1_000, seed = "30")
  void findsTheRunsThatTheNaiveIndexFinds(@ForAll("history") List<Step> history) {
    Run run = new Run(64 << 20);
    for (Step step : history) {
      run.take(step);
      run.compare(step.text, true);
      run.compare("abababab", true);
      run.compare("aaaaaaaa", true);
      BlockAudit.audit(run.index);
    }
    assertThat(run.index.stats().evicted()).isZero();
  }

  @Property(tries = 40, seed = "31", edgeCases = EdgeCasesMode.NONE)
  void neverFindsMoreThanTheNaiveIndexAndStaysWithinTheBudget(
      @ForAll("largeHistory") List<Step> history) {
    Run run = new Run(64 << 10);
    for (Step step : history) {
      run.take(step);
      run.compare(step.text, false);
      BlockAudit.audit(run.index);
    }
    Statistics.label("made room")
        .collect(run.index.stats().evicted() > 0)
        .coverage(coverage -> coverage.check(true).percentage(share -> share > 50));
  }

  /** The same history in both. */
  private static final class Run {
    private final ManualTicker ticker = new ManualTicker();
    private final BlockMatches matches = new BlockMatches();
    private final NaiveBlocks model = new NaiveBlocks();
    private final List<Speculation> speculations = new ArrayList<>();
    private final List<NaiveBlocks.Claim> claims = new ArrayList<>();
    private final BlockIndex index;

    Run(long budget) {
      index = BlockIndex.builder().budgetBytes(budget).ticker(ticker).build();
    }

    void take(Step step) {
      BlockHashes hashes = Chains.of(SCHEMES.get(step.scheme), step.text);
      long[] bits = Chains.bits(hashes);
      int length = step.text.length();
      long holder = step.holder();
      int at = step.number % length;
      String text = apart(step.scheme, step.text);
      switch (step.kind) {
        case STORED -> {
          index.stored(hashes, 0, length, holder, step.tier);
          model.stored(text, 0, length, holder, step.tier);
        }
        case STORED_PART -> {
          index.stored(hashes.namespace(), bits, at, length, holder, step.tier);
          model.stored(text, at, length, holder, step.tier);
        }
        case STORED_AFTER -> {
          if (at > 0) {
            long refused = index.stats().refused();
            long[] rest = Arrays.copyOfRange(bits, at, length);
            index.storedAfter(hashes.namespace(), bits[at - 1], rest, holder, step.tier);
            if (index.stats().refused() == refused) {
              model.stored(text, at, length, holder, step.tier);
            } else {
              model.stored(text, 0, 0, holder, step.tier);
            }
          }
        }
        case REMOVED -> {
          index.removed(hashes.namespace(), new long[] {bits[at]}, holder, step.tier);
          model.removed(text, at, holder, step.tier);
        }
        case REMOVED_TAIL -> {
          long[] rest = Arrays.copyOfRange(bits, at, length);
          index.removed(hashes.namespace(), rest, holder, step.tier);
          for (int block = at; block < length; block++) {
            model.removed(text, block, holder, step.tier);
          }
        }
        case DISPATCH -> {
          speculations.add(index.dispatch(hashes, holder));
          claims.add(model.dispatch(text, holder));
        }
        case CONFIRM -> {
          if (!claims.isEmpty()) {
            int chosen = step.number % claims.size();
            speculations.remove(chosen).confirm();
            model.confirm(claims.remove(chosen));
          }
        }
        case WITHDRAW -> {
          if (!claims.isEmpty()) {
            int chosen = step.number % claims.size();
            speculations.remove(chosen).withdraw();
            model.withdraw(claims.remove(chosen));
          }
        }
        case CAPACITY -> {
          index.capacity(holder, step.number);
          model.capacity(holder, step.number);
        }
        case DROP -> {
          index.drop(holder);
          model.drop(holder);
        }
        case CLEAR -> {
          index.clear(holder);
          model.clear(holder);
        }
        case ADVANCE -> ticker.advance(ManualTicker.TICK.multipliedBy(step.number % 7));
      }
    }

    void compare(String text, boolean exactly) {
      for (int scheme = 0; scheme < SCHEMES.size(); scheme++) {
        BlockHashes hashes = Chains.of(SCHEMES.get(scheme), text);
        index.match(hashes, matches);
        int touched = 0;
        int longest = 0;
        for (int slot = 0; slot < SLOTS; slot++) {
          for (int epoch = 1; epoch <= 2; epoch++) {
            long holder = HolderIds.of(epoch, slot);
            compare(apart(scheme, text), holder, exactly);
            touched += matches.blocks(holder) > 0 ? 1 : 0;
            longest = Math.max(longest, matches.blocks(holder));
          }
        }
        assertThat(matches.size()).isEqualTo(touched);
        assertThat(matches.longest()).isEqualTo(longest);
      }
    }

    private void compare(String text, long holder, boolean exactly) {
      for (Tier tier : Tier.values()) {
        int expected = model.run(text, holder, tier);
        int found = matches.blocks(holder, tier);
        if (exactly) {
          assertThat(found).isEqualTo(expected);
          assertThat(matches.blocksIn(holder, tier)).isEqualTo(model.runIn(text, holder, tier));
        } else {
          assertThat(found).isLessThanOrEqualTo(expected);
        }
      }
      assertThat(matches.blocks(holder)).isEqualTo(matches.blocks(holder, Tier.SSD));
    }

    /** The text in letters of its own for each scheme. */
    private static String apart(int scheme, String text) {
      StringBuilder letters = new StringBuilder();
      text.chars().forEach(letter -> letters.append((char) (letter + (scheme << 8))));
      return letters.toString();
    }
  }
}

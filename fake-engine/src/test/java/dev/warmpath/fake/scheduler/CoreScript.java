package dev.warmpath.fake.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.fake.scheduler.CommandResult.Outcome;
import dev.warmpath.fake.scheduler.EngineEffect.Admitted;
import dev.warmpath.fake.scheduler.EngineEffect.Output;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/** Drives a scheduler through a test, in virtual time. */
final class CoreScript {
  final VllmCore core;
  final List<EngineEffect> log = new ArrayList<>();
  double now;

  CoreScript(CoreOptions.Builder options) {
    this(options, LatencyModel.polynomial());
  }

  CoreScript(CoreOptions.Builder options, LatencyModel latency) {
    core = new VllmCore(options.build(), latency);
  }

  /** Blocks of 4 tokens. */
  static CoreOptions.Builder small(int blocks, int budget, int sequences) {
    return CoreOptions.builder()
        .numBlocks(blocks)
        .blockSize(4)
        .maxNumBatchedTokens(budget)
        .maxNumSeqs(sequences)
        .cacheEvents(true);
  }

  /** A request whose tokens no other id has. */
  static EngineRequest request(long id, int prompt, int output) {
    return request(id, id, prompt, output);
  }

  /** A request with the tokens of a family, which share prefixes. */
  static EngineRequest request(long id, long family, int prompt, int output) {
    int first = (int) family * 100_000;
    return new EngineRequest(
        id,
        IntStream.range(first, first + prompt).toArray(),
        IntStream.range((int) id * 100_000 + 50_000, (int) id * 100_000 + 50_000 + output)
            .toArray(),
        0);
  }

  List<EngineEffect> apply(EngineCommand command, Outcome expected) {
    CommandResult result = core.apply(command, true, now);
    assertThat(result.outcome()).as("%s", command).isEqualTo(expected);
    log.addAll(result.effects());
    return result.effects();
  }

  void submit(EngineRequest... requests) {
    for (EngineRequest request : requests) {
      apply(new EngineCommand.Submit(request), Outcome.SUBMITTED);
    }
  }

  /** Runs a pass and moves to its end. */
  PassResult pass() {
    PassResult pass = core.executePass(now);
    now = pass.endMs();
    log.addAll(pass.onStart());
    log.addAll(pass.onEnd());
    return pass;
  }

  /** Runs passes, ticks and retries until nothing can move. */
  void drain() {
    for (int i = 0; ; i++) {
      assertThat(i).as("passes").isLessThan(100_000);
      boolean progressed = core.hasWork() && pass().progressed();
      List<EngineEffect> retried = core.retryDestinations(now);
      log.addAll(retried);
      if (progressed || !retried.isEmpty()) {
        continue;
      }
      if (core.nextDeadlineMs() == Double.POSITIVE_INFINITY) {
        return;
      }
      tickTo(core.nextDeadlineMs(), true);
    }
  }

  List<EngineEffect> tickTo(double ms, boolean admitDestinations) {
    now = Math.max(now, ms);
    List<EngineEffect> effects = core.tick(now, admitDestinations);
    log.addAll(effects);
    return effects;
  }

  static List<Long> admitted(PassResult pass) {
    return pass.onStart().stream()
        .filter(Admitted.class::isInstance)
        .map(effect -> ((Admitted) effect).requestId())
        .toList();
  }

  static <T extends EngineEffect> List<T> only(Class<T> type, List<EngineEffect> effects) {
    return effects.stream().filter(type::isInstance).map(type::cast).toList();
  }

  static int tokens(List<EngineEffect> effects, long requestId) {
    return only(Output.class, effects).stream()
        .filter(output -> output.requestId() == requestId)
        .mapToInt(Output::tokens)
        .sum();
  }

  /** An effect as text, with what is in its arrays. */
  static String text(EngineEffect effect) {
    return effect instanceof EngineEffect.BlocksStored stored
        ? stored.tier()
            + " stored after "
            + (stored.root() ? "nothing" : stored.parentHash())
            + Arrays.toString(stored.blockHashes())
            + Arrays.toString(stored.tokens())
        : effect.toString();
  }

  /** Compares two logs and shows the first difference only. */
  static void assertSame(List<?> actual, List<?> expected) {
    for (int i = 0; i < Math.min(actual.size(), expected.size()); i++) {
      assertThat(actual.get(i))
          .as("entry %d after %s", i, i == 0 ? "" : expected.get(i - 1))
          .isEqualTo(expected.get(i));
    }
    assertThat(actual).hasSameSizeAs(expected);
  }

  Sequence sequence(long id) {
    Sequence sequence = core.state().known.get(id);
    if (sequence == null) {
      throw new AssertionError("request " + id + " is not alive");
    }
    return sequence;
  }

  int active() {
    return core.metrics().activeBlocks();
  }
}

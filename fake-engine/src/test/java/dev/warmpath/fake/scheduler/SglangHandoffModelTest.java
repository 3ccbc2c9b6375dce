package dev.warmpath.fake.scheduler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Every order in which a source, a destination and an ordinary request can be driven on one small
 * scheduler, to a depth at which everything has happened to everybody.
 */
class SglangHandoffModelTest {
  private static final int SOURCE = 1;
  private static final int DESTINATION = 2;
  private static final int ORDINARY = 3;
  private static final int DEPTH = 5;

  private static final EngineCommand[] BEGINNINGS = {
    new EngineCommand.SubmitHandoffPrefill(SOURCE, request(SOURCE, 6, 2)),
    new EngineCommand.ReserveDestination(DESTINATION, request(DESTINATION, 6, 3)),
    new EngineCommand.Submit(request(ORDINARY, 6, 3))
  };

  private static final int[][] ORDERS = {
    {0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}
  };

  /** Null is a pass. */
  private static final EngineCommand[] STEPS = {
    null,
    new EngineCommand.ReleaseSource(SOURCE),
    new EngineCommand.CancelSource(SOURCE),
    new EngineCommand.ActivateDestination(DESTINATION),
    new EngineCommand.CancelDestination(DESTINATION),
    new EngineCommand.Cancel(SOURCE),
    new EngineCommand.Cancel(DESTINATION)
  };

  private static EngineRequest request(long id, int prompt, int output) {
    int[] tokens = new int[prompt];
    for (int i = 0; i < prompt; i++) {
      // the first page is everybody's
      tokens[i] = i < 2 ? i : (int) id * 100 + i;
    }
    return new EngineRequest(id, tokens, new int[output], 0);
  }

  @Test
  void everyInterleavingDrains() {
    int paths = 0;
    int[] steps = new int[DEPTH];
    for (int pages : new int[] {5, 8}) {
      for (int[] order : ORDERS) {
        int count = (int) Math.pow(STEPS.length, DEPTH);
        for (int path = 0; path < count; path++) {
          int rest = path;
          for (int i = 0; i < DEPTH; i++) {
            steps[i] = rest % STEPS.length;
            rest /= STEPS.length;
          }
          run(pages, order, steps);
          paths++;
        }
      }
    }
    assertThat(paths).isEqualTo(2 * 6 * 16_807);
  }

  private static void run(int pages, int[] order, int[] steps) {
    SglangCore core =
        new SglangCore(
            SglangOptions.builder(
                    CoreOptions.builder().numBlocks(pages).blockSize(2).maxNumSeqs(2).build())
                .chunkedPrefillSize(4)
                .build(),
            LatencyModel.instant());
    List<EngineEffect> log = new ArrayList<>();
    for (int beginning : order) {
      log.addAll(core.apply(BEGINNINGS[beginning], true, 0).effects());
    }
    for (int step : steps) {
      step(core, STEPS[step], log);
    }
    log.addAll(core.apply(STEPS[1], true, 0).effects());
    log.addAll(core.apply(STEPS[4], true, 0).effects());
    for (int i = 0; core.hasWork(); i++) {
      if (i > 100) {
        fail("does not drain: %s after %s", core.metrics(), log);
      }
      step(core, null, log);
    }
    RadixPool pool = core.pool();
    if (!core.isDrained() || pool.locked() + pool.privatePages() > 0) {
      fail("something is left: %s after %s", core.metrics(), log);
    }
    int[] ends = new int[4];
    for (EngineEffect effect : log) {
      if (effect instanceof EngineEffect.Output output && output.finish() != null) {
        ends[(int) output.requestId()]++;
      }
    }
    if (ends[SOURCE] != 1 || ends[DESTINATION] != 1 || ends[ORDINARY] != 1) {
      fail("not every request ended once: %s", log);
    }
  }

  private static void step(SglangCore core, EngineCommand command, List<EngineEffect> log) {
    if (command != null) {
      log.addAll(core.apply(command, true, 0).effects());
    } else if (core.hasWork()) {
      PassResult pass = core.executePass(0);
      log.addAll(pass.onStart());
      log.addAll(pass.onEnd());
      log.addAll(core.retryDestinations(0));
    }
  }
}

package dev.warmpath.fake.live;

import dev.warmpath.fake.scheduler.CoreMetrics;
import dev.warmpath.fake.scheduler.EngineEffect;
import dev.warmpath.fake.scheduler.ForwardPassMetrics;
import dev.warmpath.fake.scheduler.PassResult;
import dev.warmpath.fake.scheduler.PassRun;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** Makes an ordinary pass of one that was executed as a part of a run. */
final class QuietPass {
  private QuietPass() {}

  /**
   * Returns the last pass of a run, without its cache changes, which nobody observes.
   *
   * @param run a run with at least one pass
   * @param after the state after it
   */
  static PassResult last(PassRun run, CoreMetrics after) {
    int passes = run.passes();
    double startMs = passes == 1 ? run.startMs() : run.endsMs()[passes - 2];
    double endMs = run.endMs();
    ForwardPassMetrics forward = Objects.requireNonNull(run.last(), "last");
    List<EngineEffect> outputs = new ArrayList<>(run.requestIds().length);
    for (long requestId : run.requestIds()) {
      outputs.add(new EngineEffect.Output(requestId, 1, null));
    }
    CoreMetrics during = after.withGeneratedTokens(after.generatedTokens() - outputs.size());
    return new PassResult(startMs, endMs, 0, endMs - startMs, forward, during, List.of(), outputs);
  }
}

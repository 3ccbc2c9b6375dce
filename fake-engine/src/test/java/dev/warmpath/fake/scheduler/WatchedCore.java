package dev.warmpath.fake.scheduler;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What somebody sees who watches a scheduler: times, effects and metrics, whether passes are run
 * one by one or ahead.
 */
final class WatchedCore {
  final EngineCore core;
  final boolean ahead;
  final List<Object> log = new ArrayList<>();
  int quiet;
  double now;
  @Nullable ForwardPassMetrics last;

  WatchedCore(EngineCore core, boolean ahead) {
    this.core = core;
    this.ahead = ahead;
  }

  void apply(EngineCommand command) {
    note(core.apply(command, true, now).effects());
  }

  /** Runs passes that begin before a time, then moves there. */
  void runTo(double untilMs) {
    while (core.hasWork() && now < untilMs) {
      note(core.retryDestinations(now));
      if (ahead) {
        PassRun run = core.executeQuietPasses(now, untilMs);
        note(run);
        quiet += run.passes();
        if (run.passes() > 0) {
          continue;
        }
      }
      PassResult pass = core.executePass(now);
      log.add(now);
      note(pass.onStart());
      note(pass.onEnd());
      last = pass.forward();
      if (!pass.progressed()) {
        break;
      }
      now = pass.endMs();
    }
    log.add(core.metrics());
    if (last != null) {
      log.add(last);
    }
    if (now < untilMs) {
      now = untilMs;
      note(core.tick(now, true));
    }
  }

  private void note(List<EngineEffect> effects) {
    effects.forEach(effect -> log.add(CoreScript.text(effect)));
  }

  private void note(PassRun run) {
    double start = run.startMs();
    int event = 0;
    for (int i = 0; i < run.passes(); i++) {
      log.add(start);
      while (event < run.cacheEvents().size() && run.cacheEvents().get(event).pass() == i) {
        log.add(CoreScript.text(run.cacheEvents().get(event++).effect()));
      }
      for (long id : run.requestIds()) {
        log.add(CoreScript.text(new EngineEffect.Output(id, 1, null)));
      }
      start = run.endsMs()[i];
    }
    if (run.passes() > 0) {
      now = run.endMs();
      last = run.last();
    }
  }
}

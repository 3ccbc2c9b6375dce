package dev.warmpath.examples;

import dev.warmpath.Admin;
import dev.warmpath.RouterClient;
import dev.warmpath.transport.CacheLevel;
import java.io.PrintWriter;

/** Empties workers' prefix caches, so that one policy's run does not warm up the next one's. */
final class CacheFlush {
  private CacheFlush() {}

  static void all(RouterClient router, PrintWriter warnings) {
    for (Admin.Result result : router.admin().everyWorker().flush(CacheLevel.L1)) {
      if (!result.outcome().success()) {
        warnings.println(
            "warning: the cache of "
                + result.worker()
                + " was not flushed ("
                + result.outcome().label()
                + ": "
                + result.detail()
                + "): the next policy starts warm");
      }
    }
  }
}

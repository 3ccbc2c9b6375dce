package dev.warmpath.examples;

import dev.warmpath.RouterClient;
import dev.warmpath.api.Headers;
import dev.warmpath.health.WorkerView;
import dev.warmpath.transport.ExchangeResponse;
import dev.warmpath.transport.OutboundRequest;
import dev.warmpath.transport.Timeouts;
import dev.warmpath.transport.TransportException;
import dev.warmpath.worker.Worker;
import java.io.PrintWriter;
import java.time.Duration;

/** Empties workers' prefix caches, so that one policy's run does not warm up the next one's. */
final class CacheFlush {
  private static final Timeouts TIMEOUTS =
      new Timeouts(
          Duration.ofSeconds(2),
          Duration.ofSeconds(10),
          Duration.ofSeconds(10),
          Duration.ofSeconds(15));

  private CacheFlush() {}

  static void all(RouterClient router, PrintWriter warnings) {
    for (WorkerView view : router.workers().list()) {
      String problem = flush(router, view.worker());
      if (problem != null) {
        warnings.println(
            "warning: the cache of "
                + view.worker().id()
                + " was not flushed ("
                + problem
                + "): the next policy starts warm");
      }
    }
  }

  private static @org.jspecify.annotations.Nullable String flush(
      RouterClient router, Worker worker) {
    String path =
        switch (worker.engine()) {
          case SGLANG -> "/flush_cache";
          case VLLM -> "/reset_prefix_cache";
          case ATOM, UNKNOWN -> null;
        };
    if (path == null) {
      return "its engine has no such call";
    }
    OutboundRequest request =
        new OutboundRequest(
            worker.ranks().get(0),
            "POST",
            path,
            Headers.EMPTY,
            new byte[0],
            false,
            true,
            null,
            TIMEOUTS);
    try (ExchangeResponse response = router.direct(request).execute()) {
      return response.status() == 200 ? null : path + " answers " + response.status();
    } catch (TransportException e) {
      return e.getMessage();
    }
  }
}

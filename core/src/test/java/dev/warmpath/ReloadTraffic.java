package dev.warmpath;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.api.RouterRequest;
import dev.warmpath.config.RouterConfig;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

/** Traffic on a client whose configuration changes. */
final class ReloadTraffic {

  private ReloadTraffic() {}

  /** Sends 1,000 requests from 8 threads, and changes to and fro until all are answered. */
  static void noneIsLost(RouterClient client, List<RouterConfig> configs, RouterRequest request)
      throws Exception {
    AtomicInteger answered = new AtomicInteger();
    CountDownLatch begun = new CountDownLatch(100);
    ExecutorService callers = Executors.newFixedThreadPool(8);
    try {
      List<Future<?>> calls = new ArrayList<>();
      for (int caller = 0; caller < 8; caller++) {
        calls.add(
            callers.submit(
                () -> {
                  for (int i = 0; i < 125; i++) {
                    assertThat(client.send(request).status()).isEqualTo(200);
                    answered.incrementAndGet();
                    begun.countDown();
                  }
                }));
      }
      begun.await();
      int reloads = 0;
      while (reloads < 20 || calls.stream().anyMatch(call -> !call.isDone())) {
        client.reload(configs.get(reloads++ % configs.size()));
      }
      for (Future<?> call : calls) {
        call.get();
      }
    } finally {
      callers.shutdownNow();
    }
    assertThat(answered).hasValue(1_000);
  }
}

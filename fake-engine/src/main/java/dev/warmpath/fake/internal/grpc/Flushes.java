package dev.warmpath.fake.internal.grpc;

import dev.warmpath.fake.internal.surface.Life;
import dev.warmpath.proto.smg.FlushCacheResponse;
import java.util.concurrent.CompletableFuture;

/** smg's {@code FlushCache}. */
final class Flushes {
  private Flushes() {}

  static CompletableFuture<FlushCacheResponse> flush(Life life) {
    return life.flush()
        .thenApply(
            done ->
                FlushCacheResponse.newBuilder()
                    .setSuccess(done)
                    .setMessage(done ? "Cache flushed." : "Flush cache failed.")
                    .build());
  }
}

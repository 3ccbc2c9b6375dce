package dev.warmpath.okhttp;

import java.io.IOException;
import okhttp3.MediaType;
import okhttp3.RequestBody;
import okio.BufferedSink;
import org.jspecify.annotations.Nullable;

/**
 * A body that OkHttp may send once. We hold the bytes and own every replay; OkHttp by itself would
 * repeat a POST on a stale connection, on 408, 421 and on 503 with {@code Retry-After: 0}, and the
 * worker would compute it twice.
 */
final class OneShotBody extends RequestBody {
  private final byte[] bytes;
  private final @Nullable MediaType type;

  OneShotBody(byte[] bytes, @Nullable MediaType type) {
    this.bytes = bytes;
    this.type = type;
  }

  @Override
  public @Nullable MediaType contentType() {
    return type;
  }

  @Override
  public long contentLength() {
    return bytes.length;
  }

  @Override
  public boolean isOneShot() {
    return true;
  }

  @Override
  public void writeTo(BufferedSink sink) throws IOException {
    sink.write(bytes);
  }
}

package dev.warmpath.okhttp;

import java.io.IOException;
import okhttp3.MediaType;
import okhttp3.RequestBody;
import okio.BufferedSink;
import org.jspecify.annotations.Nullable;

/**
 * A caller's body that is not held in memory. OkHttp may send it once per attempt; whether there
 * may be another attempt is for {@link #repeatable()} to say. One call.
 */
final class StreamedBody extends RequestBody {
  private final RequestBody inner;
  private volatile boolean written;

  StreamedBody(RequestBody inner) {
    this.inner = inner;
  }

  /** Whether it can be written once more: always, or until it has been written once. */
  boolean repeatable() {
    return !written || !(inner.isOneShot() || inner.isDuplex());
  }

  @Override
  public @Nullable MediaType contentType() {
    return inner.contentType();
  }

  @Override
  public long contentLength() throws IOException {
    return inner.contentLength();
  }

  @Override
  public boolean isDuplex() {
    return inner.isDuplex();
  }

  @Override
  public boolean isOneShot() {
    return true;
  }

  @Override
  public void writeTo(BufferedSink sink) throws IOException {
    written = true;
    inner.writeTo(sink);
  }
}

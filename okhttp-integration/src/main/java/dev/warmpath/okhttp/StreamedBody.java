package dev.warmpath.okhttp;

import java.io.IOException;
import okhttp3.MediaType;
import okhttp3.RequestBody;
import okio.BufferedSink;
import org.jspecify.annotations.Nullable;

/** A caller's body that is not held in memory, as one that OkHttp may send once. */
final class StreamedBody extends RequestBody {
  private final RequestBody inner;

  StreamedBody(RequestBody inner) {
    this.inner = inner;
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
    inner.writeTo(sink);
  }
}

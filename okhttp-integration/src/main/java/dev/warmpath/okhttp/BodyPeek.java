package dev.warmpath.okhttp;

import java.io.IOException;
import okhttp3.RequestBody;
import okio.Buffer;
import okio.BufferedSink;
import okio.ForwardingSink;
import okio.Okio;
import okio.Sink;
import org.jspecify.annotations.Nullable;

/** Takes a caller's body into memory where that is possible and small enough. */
final class BodyPeek {
  private BodyPeek() {}

  /**
   * The body's bytes, or null where it is to be streamed: it is longer than {@code maxBytes}, is
   * written while the response is read, or can be written only once and does not say how long it
   * is.
   *
   * @throws IOException as the body throws it
   */
  static byte @Nullable [] bytes(RequestBody body, long maxBytes) throws IOException {
    long length = body.contentLength();
    if (body.isDuplex() || length > maxBytes || (length < 0 && body.isOneShot())) {
      return null;
    }
    Buffer buffer = new Buffer();
    try (BufferedSink sink = Okio.buffer(new Limited(buffer, maxBytes))) {
      body.writeTo(sink);
    } catch (TooLong e) {
      if (body.isOneShot()) {
        throw new IOException("the body is longer than the " + length + " bytes it told", e);
      }
      return null;
    }
    return buffer.readByteArray();
  }

  private static final class Limited extends ForwardingSink {
    private long left;

    Limited(Sink sink, long maxBytes) {
      super(sink);
      this.left = maxBytes;
    }

    @Override
    public void write(Buffer source, long byteCount) throws IOException {
      left -= byteCount;
      if (left < 0) {
        source.skip(byteCount);
        throw new TooLong();
      }
      super.write(source, byteCount);
    }
  }

  private static final class TooLong extends IOException {
    private static final long serialVersionUID = 1L;
  }
}

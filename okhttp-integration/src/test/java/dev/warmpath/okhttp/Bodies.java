package dev.warmpath.okhttp;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import mockwebserver3.MockResponse;
import mockwebserver3.MockResponseBody;
import okhttp3.MediaType;
import okhttp3.RequestBody;
import okio.BufferedSink;

/** Bodies that wait for a test, and bodies that can be written once. */
final class Bodies {
  private Bodies() {}

  private static void await(CountDownLatch latch) {
    try {
      latch.await(30, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** A response that is held back until the latch opens. */
  static MockResponse held(CountDownLatch open) {
    await(open);
    return MockWorker.ok();
  }

  /** A stream that sends its head and then stays open until the latch opens. */
  static MockResponse streaming(String head, CountDownLatch open) {
    return streaming(head, open, "");
  }

  /** A stream that sends its head at once and its tail when the latch opens. */
  static MockResponse streaming(String head, CountDownLatch open, String tail) {
    return new MockResponse.Builder()
        .setHeader("Content-Type", "text/event-stream")
        .setHeader("Transfer-Encoding", "chunked")
        .body(
            new MockResponseBody() {
              @Override
              public long getContentLength() {
                return -1;
              }

              @Override
              public void writeTo(BufferedSink sink) throws IOException {
                chunk(sink, head);
                await(open);
                chunk(sink, tail);
                sink.writeUtf8("0\r\n\r\n").flush();
              }
            })
        .build();
  }

  private static void chunk(BufferedSink sink, String text) throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    if (bytes.length > 0) {
      sink.writeHexadecimalUnsignedLong(bytes.length).writeUtf8("\r\n").write(bytes);
      sink.writeUtf8("\r\n").flush();
    }
  }

  /** A body that counts how often it is written. */
  static final class Once extends RequestBody {
    private final byte[] bytes;
    private final boolean oneShot;
    private final long length;
    private final AtomicInteger written = new AtomicInteger();

    Once(String text, boolean oneShot) {
      this(text, oneShot, text.length());
    }

    Once(String text, boolean oneShot, long length) {
      this.bytes = text.getBytes(StandardCharsets.UTF_8);
      this.oneShot = oneShot;
      this.length = length;
    }

    int written() {
      return written.get();
    }

    @Override
    public MediaType contentType() {
      return Fixture.JSON;
    }

    @Override
    public long contentLength() {
      return length;
    }

    @Override
    public boolean isOneShot() {
      return oneShot;
    }

    @Override
    public void writeTo(BufferedSink sink) throws IOException {
      written.incrementAndGet();
      sink.write(bytes);
    }
  }

  /** A body that is written while the response may already be read. */
  static final class Duplex extends RequestBody {
    private final CompletableFuture<BufferedSink> sink = new CompletableFuture<>();

    BufferedSink sink() throws Exception {
      return sink.get(30, TimeUnit.SECONDS);
    }

    @Override
    public MediaType contentType() {
      return Fixture.JSON;
    }

    @Override
    public boolean isDuplex() {
      return true;
    }

    @Override
    public void writeTo(BufferedSink to) {
      sink.complete(to);
    }
  }
}

package dev.warmpath.okhttp.internal;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;

/** Fails beyond a number of bytes: an answer without end must not fill the heap. */
final class LimitedStream extends FilterInputStream {
  private long left;

  LimitedStream(InputStream in, long limit) {
    super(in);
    this.left = limit;
  }

  @Override
  public int read() throws IOException {
    int value = super.read();
    if (value >= 0) {
      take(1);
    }
    return value;
  }

  @Override
  public int read(byte[] buffer, int offset, int length) throws IOException {
    int count = super.read(buffer, offset, length);
    if (count > 0) {
      take(count);
    }
    return count;
  }

  private void take(int count) throws IOException {
    left -= count;
    if (left < 0) {
      throw new IOException("the answer is too long");
    }
  }
}

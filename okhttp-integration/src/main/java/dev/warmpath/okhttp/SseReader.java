package dev.warmpath.okhttp;

import dev.warmpath.api.StreamEvent;
import java.io.IOException;
import java.net.ProtocolException;
import okio.Buffer;
import okio.BufferedSource;
import okio.ByteString;
import org.jspecify.annotations.Nullable;

/**
 * Parses server-sent events from bytes, as the WHATWG HTML standard (section 9.2.6) defines them:
 * lines end in LF, CR or CRLF, lines that begin with a colon are comments, several {@code data}
 * lines join with a line feed, one space after the colon is dropped, a leading byte order mark too.
 * Bytes become text only once a line is whole, so a character split between two reads stays whole.
 * Ids and retry times have no meaning here and are read over. One thread.
 */
final class SseReader {
  private static final ByteString LINE_END = ByteString.encodeUtf8("\r\n");
  private static final ByteString BOM = ByteString.decodeHex("efbbbf");

  /** Longer lines are no engine's; without a bound a hostile one could fill the heap. */
  private static final long MAX_LINE_BYTES = 64L << 20;

  private final BufferedSource source;
  private boolean begun;
  private boolean skipLineFeed;

  SseReader(BufferedSource source) {
    this.source = source;
  }

  /**
   * Waits for the next event that carries data.
   *
   * @return the event, or null at the end of the bytes; an event that the end cuts short is
   *     dropped, as the standard says
   * @throws IOException when reading fails or a line is beyond all measure
   */
  @Nullable StreamEvent next() throws IOException {
    String event = null;
    StringBuilder data = null;
    while (true) {
      String line = line();
      if (line == null) {
        return null;
      }
      if (line.isEmpty()) {
        if (data != null) {
          return new StreamEvent(event, data.toString());
        }
        event = null;
        continue;
      }
      int colon = line.indexOf(':');
      if (colon == 0) {
        continue;
      }
      String field = colon < 0 ? line : line.substring(0, colon);
      int valueAt = colon < 0 ? line.length() : colon + 1;
      if (valueAt < line.length() && line.charAt(valueAt) == ' ') {
        valueAt++;
      }
      switch (field) {
        case "data" -> {
          if (data == null) {
            data = new StringBuilder(line.length() - valueAt);
          } else {
            data.append('\n');
          }
          data.append(line, valueAt, line.length());
          if (data.length() > MAX_LINE_BYTES) {
            throw new ProtocolException(
                "an event is longer than " + MAX_LINE_BYTES + " characters");
          }
        }
        case "event" -> event = valueAt < line.length() ? line.substring(valueAt) : null;
        default -> {
          // id, retry and unknown fields
        }
      }
    }
  }

  /**
   * The next line without its end, or null at the end of the bytes; an unfinished last line is no
   * line.
   */
  private @Nullable String line() throws IOException {
    if (!begun) {
      begun = true;
      if (source.rangeEquals(0, BOM)) {
        source.skip(BOM.size());
      }
    }
    if (skipLineFeed) {
      // The CR before ended a line at once; waiting for a byte that tells CR from CRLF would delay
      // the event.
      skipLineFeed = false;
      if (source.exhausted()) {
        return null;
      }
      if (source.getBuffer().getByte(0) == '\n') {
        source.skip(1);
      }
    }
    long end = endOfLine();
    if (end < 0) {
      return null;
    }
    String line = source.readUtf8(end);
    skipLineFeed = source.readByte() == '\r';
    return line;
  }

  private long endOfLine() throws IOException {
    Buffer buffer = source.getBuffer();
    long from = 0;
    while (true) {
      long found = buffer.indexOfElement(LINE_END, from);
      if (found >= 0) {
        return found;
      }
      from = buffer.size();
      if (from > MAX_LINE_BYTES) {
        throw new ProtocolException("an event line is longer than " + MAX_LINE_BYTES + " bytes");
      }
      if (!source.request(from + 1)) {
        return -1;
      }
    }
  }
}

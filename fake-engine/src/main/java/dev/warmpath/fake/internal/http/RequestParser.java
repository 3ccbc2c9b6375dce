package dev.warmpath.fake.internal.http;

import java.io.ByteArrayOutputStream;
import java.net.URLDecoder;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Turns received bytes into requests, one at a time (RFC 9112). */
final class RequestParser {
  private static final int MAX_HEAD_BYTES = 64 * 1024;

  /** What the peer sent is not HTTP/1.x, or too large. */
  static final class BadRequest extends Exception {
    private static final long serialVersionUID = 1;
    private final int status;

    BadRequest(int status, String message) {
      super(message);
      this.status = status;
    }

    int status() {
      return status;
    }
  }

  private record Head(
      String method,
      String path,
      Map<String, String> query,
      Map<String, String> headers,
      boolean keepAlive,
      int contentLength) {}

  private final int maxBodyBytes;
  private byte[] buffer = new byte[4096];
  private int start;
  private int end;
  private int scanned;
  private @Nullable Head head;
  private @Nullable ByteArrayOutputStream chunked;
  private boolean lastKeepAlive;

  RequestParser(int maxBodyBytes) {
    this.maxBodyBytes = maxBodyBytes;
  }

  void feed(ByteBuffer bytes) {
    int count = bytes.remaining();
    if (buffer.length - end < count) {
      int live = end - start;
      byte[] target =
          live + count <= buffer.length ? buffer : new byte[Math.max(live + count, live * 2)];
      System.arraycopy(buffer, start, target, 0, live);
      buffer = target;
      scanned -= start;
      start = 0;
      end = live;
    }
    bytes.get(buffer, end, count);
    end += count;
  }

  int buffered() {
    return end - start;
  }

  /** Whether a part of a request has arrived. */
  boolean inProgress() {
    return head != null || buffered() > 0;
  }

  /** Whether the head of an unfinished request asks to be told to go on. */
  boolean expectsContinue() {
    return head != null && "100-continue".equalsIgnoreCase(head.headers().get("expect"));
  }

  /** Whether the last request returned allows its connection to be used again. */
  boolean keepAlive() {
    return lastKeepAlive;
  }

  /** Returns the next complete request, or null if more bytes are needed. */
  @Nullable HttpRequest next() throws BadRequest {
    if (head == null) {
      head = readHead();
      if (head == null) {
        return null;
      }
    }
    byte[] body = chunked != null ? readChunks(chunked) : readFixed(head.contentLength());
    if (body == null) {
      return null;
    }
    HttpRequest request =
        new HttpRequest(head.method(), head.path(), head.query(), head.headers(), body);
    lastKeepAlive = head.keepAlive();
    head = null;
    chunked = null;
    scanned = start;
    if (start == end) {
      start = 0;
      end = 0;
      scanned = 0;
      if (buffer.length > 1 << 20) {
        buffer = new byte[4096];
      }
    }
    return request;
  }

  private @Nullable Head readHead() throws BadRequest {
    int stop = headEnd();
    if (stop < 0) {
      if (end - start > MAX_HEAD_BYTES) {
        throw new BadRequest(431, "request head too large");
      }
      return null;
    }
    String text = new String(buffer, start, stop - start, StandardCharsets.ISO_8859_1);
    start = stop + 4;
    String[] lines = text.split("\r\n", -1);
    String[] requestLine = lines[0].split(" ", -1);
    if (requestLine.length != 3 || !requestLine[2].startsWith("HTTP/1.")) {
      throw new BadRequest(400, "not an HTTP/1.1 request");
    }
    Map<String, String> headers = new LinkedHashMap<>();
    for (int i = 1; i < lines.length; i++) {
      int colon = lines[i].indexOf(':');
      if (colon <= 0) {
        throw new BadRequest(400, "malformed header");
      }
      String name = lines[i].substring(0, colon).toLowerCase(Locale.ROOT);
      headers.merge(name, lines[i].substring(colon + 1).strip(), (a, b) -> a + ", " + b);
    }
    String target = requestLine[1];
    int question = target.indexOf('?');
    String path = decode(question < 0 ? target : target.substring(0, question));
    Map<String, String> query = new LinkedHashMap<>();
    if (question >= 0) {
      for (String part : target.substring(question + 1).split("&", -1)) {
        int equals = part.indexOf('=');
        if (!part.isEmpty()) {
          query.put(
              decode(equals < 0 ? part : part.substring(0, equals)),
              equals < 0 ? "" : decode(part.substring(equals + 1)));
        }
      }
    }
    String connection = headers.getOrDefault("connection", "").toLowerCase(Locale.ROOT);
    boolean keepAlive =
        requestLine[2].equals("HTTP/1.0")
            ? connection.contains("keep-alive")
            : !connection.contains("close");
    String encoding = headers.getOrDefault("transfer-encoding", "");
    int length = 0;
    if (encoding.toLowerCase(Locale.ROOT).contains("chunked")) {
      chunked = new ByteArrayOutputStream();
    } else {
      length = contentLength(headers.getOrDefault("content-length", "0"));
    }
    return new Head(requestLine[0], path, query, headers, keepAlive, length);
  }

  private int headEnd() {
    for (int i = Math.max(start, scanned - 3); i + 3 < end; i++) {
      if (buffer[i] == '\r'
          && buffer[i + 1] == '\n'
          && buffer[i + 2] == '\r'
          && buffer[i + 3] == '\n') {
        return i;
      }
    }
    scanned = end;
    return -1;
  }

  private int contentLength(String value) throws BadRequest {
    try {
      long length = Long.parseLong(value);
      if (length >= 0) {
        if (length > maxBodyBytes) {
          throw new BadRequest(413, "body too large");
        }
        return (int) length;
      }
    } catch (NumberFormatException e) {
      // falls through to the same answer as a negative number
    }
    throw new BadRequest(400, "malformed content-length");
  }

  private static String decode(String text) throws BadRequest {
    try {
      return URLDecoder.decode(text, StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      throw new BadRequest(400, "malformed request target");
    }
  }

  private byte @Nullable [] readFixed(int length) {
    if (end - start < length) {
      return null;
    }
    byte[] body = Arrays.copyOfRange(buffer, start, start + length);
    start += length;
    return body;
  }

  /** Consumes whole chunks as they arrive; trailers are skipped. */
  private byte @Nullable [] readChunks(ByteArrayOutputStream body) throws BadRequest {
    while (true) {
      int lineEnd = lineEnd(start);
      if (lineEnd < 0) {
        return null;
      }
      int size = chunkSize(start, lineEnd);
      if (size == 0) {
        return skipTrailers(lineEnd + 2) ? body.toByteArray() : null;
      }
      if (body.size() + (long) size > maxBodyBytes) {
        throw new BadRequest(413, "body too large");
      }
      int dataStart = lineEnd + 2;
      if (end - dataStart < size + 2) {
        return null;
      }
      body.write(buffer, dataStart, size);
      start = dataStart + size + 2;
    }
  }

  private boolean skipTrailers(int from) {
    int at = from;
    while (true) {
      int lineEnd = lineEnd(at);
      if (lineEnd < 0) {
        return false;
      }
      if (lineEnd == at) {
        start = at + 2;
        return true;
      }
      at = lineEnd + 2;
    }
  }

  private int lineEnd(int from) {
    for (int i = from; i + 1 < end; i++) {
      if (buffer[i] == '\r' && buffer[i + 1] == '\n') {
        return i;
      }
    }
    return -1;
  }

  private int chunkSize(int from, int to) throws BadRequest {
    String line = new String(buffer, from, to - from, StandardCharsets.ISO_8859_1);
    int semicolon = line.indexOf(';');
    try {
      int size =
          Integer.parseInt((semicolon < 0 ? line : line.substring(0, semicolon)).strip(), 16);
      if (size >= 0) {
        return size;
      }
    } catch (NumberFormatException e) {
      // falls through to the same answer as a negative number
    }
    throw new BadRequest(400, "malformed chunk");
  }
}

package dev.warmpath.fake.internal.http;

import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One client connection. The server's thread reads and parses; whoever answers writes, without ever
 * blocking: what the socket does not take is queued for the server's thread.
 */
final class HttpConnection {
  private static final Logger LOG = LoggerFactory.getLogger(HttpConnection.class);
  private static final byte[] CRLF = {'\r', '\n'};
  private static final byte[] LAST_CHUNK = ascii("0\r\n\r\n");
  private static final byte[] CONTINUE = ascii("HTTP/1.1 100 Continue\r\n\r\n");

  /** Beyond this a client that does not read is dropped. */
  private static final int MAX_QUEUED_BYTES = 64 << 20;

  /** Beyond this a pipelining client is not read further until its request is answered. */
  private static final int MAX_PIPELINED_BYTES = 1 << 20;

  private final HttpServer server;
  private final SocketChannel channel;
  private final SelectionKey key;
  private final RequestParser parser;
  private final ReentrantLock lock = new ReentrantLock();

  // Guarded by lock.
  private final ArrayDeque<ByteBuffer> outbound = new ArrayDeque<>();
  private int queuedBytes;
  private @Nullable Exchange current;
  private boolean closeWhenFlushed;
  private boolean gone;
  private boolean inputPending;

  private volatile long idleSince;
  private boolean continued;

  HttpConnection(HttpServer server, SocketChannel channel, SelectionKey key, RequestParser parser) {
    this.server = server;
    this.channel = channel;
    this.key = key;
    this.parser = parser;
  }

  /** When the last answer was complete, or 0 before the first and while a request is handled. */
  long idleSince() {
    return idleSince;
  }

  private static long nonZeroNow() {
    long now = System.nanoTime();
    return now == 0 ? 1 : now;
  }

  void ready(SelectionKey selected, ByteBuffer scratch) {
    if (selected.isValid() && selected.isWritable()) {
      lock.lock();
      try {
        flush();
      } finally {
        lock.unlock();
      }
    }
    if (selected.isValid() && selected.isReadable()) {
      read(scratch);
    }
  }

  private void read(ByteBuffer scratch) {
    try {
      int count;
      do {
        scratch.clear();
        count = channel.read(scratch);
        if (count < 0) {
          closeNow();
          return;
        }
        scratch.flip();
        parser.feed(scratch);
      } while (count == scratch.capacity());
    } catch (IOException e) {
      LOG.trace("client went away", e);
      closeNow();
      return;
    }
    pump();
  }

  /** Starts the next request if none is being answered. Server's thread only. */
  private void pump() {
    while (true) {
      lock.lock();
      try {
        if (gone || closeWhenFlushed) {
          return;
        }
        if (current != null) {
          inputPending = true;
          if (parser.buffered() > MAX_PIPELINED_BYTES) {
            interest(SelectionKey.OP_READ, false);
          }
          return;
        }
        inputPending = false;
      } finally {
        lock.unlock();
      }
      interest(SelectionKey.OP_READ, true);
      HttpRequest request;
      try {
        request = parser.next();
      } catch (RequestParser.BadRequest e) {
        refuse(e);
        return;
      }
      if (request == null) {
        if (parser.inProgress()) {
          idleSince = 0;
        }
        if (parser.expectsContinue() && !continued) {
          continued = true;
          write(CONTINUE);
        }
        return;
      }
      continued = false;
      handle(new Exchange(request, parser.keepAlive()));
    }
  }

  private void refuse(RequestParser.BadRequest problem) {
    byte[] body = ascii("Invalid HTTP request received.");
    idleSince = 0;
    write(
        head(problem.status(), Map.of("content-type", "text/plain; charset=utf-8"), body.length),
        body);
    finishAndClose();
  }

  private void handle(Exchange exchange) {
    lock.lock();
    try {
      current = exchange;
      idleSince = 0;
    } finally {
      lock.unlock();
    }
    try {
      server.handler().handle(exchange);
    } catch (RuntimeException e) {
      LOG.error("handler failed for {}", exchange.request().path(), e);
      if (exchange.begun()) {
        exchange.cut();
      } else {
        exchange.respond(
            500,
            Map.of("content-type", "text/plain; charset=utf-8"),
            ascii("Internal Server Error"));
      }
    }
  }

  /** Writes what the socket takes and queues the rest, in the order of the calls. */
  private void write(byte[]... parts) {
    lock.lock();
    try {
      writeLocked(parts);
    } finally {
      lock.unlock();
    }
  }

  private void writeLocked(byte[]... parts) {
    if (gone) {
      return;
    }
    int size = 0;
    for (byte[] part : parts) {
      size += part.length;
    }
    ByteBuffer joined = ByteBuffer.allocate(size);
    for (byte[] part : parts) {
      joined.put(part);
    }
    joined.flip();
    outbound.add(joined);
    queuedBytes += size;
    flush();
    if (queuedBytes > MAX_QUEUED_BYTES) {
      server.later(this::resetNow);
    }
  }

  private void flush() {
    try {
      for (ByteBuffer head = outbound.peek(); head != null; head = outbound.peek()) {
        queuedBytes -= channel.write(head);
        if (head.hasRemaining()) {
          interest(SelectionKey.OP_WRITE, true);
          return;
        }
        outbound.remove();
      }
      interest(SelectionKey.OP_WRITE, false);
      if (closeWhenFlushed) {
        server.later(this::closeNow);
      }
    } catch (IOException e) {
      LOG.trace("client went away", e);
      server.later(this::closeNow);
    }
  }

  private void interest(int operation, boolean wanted) {
    try {
      int before = wanted ? key.interestOpsOr(operation) : key.interestOpsAnd(~operation);
      if (((before & operation) != 0) != wanted) {
        server.later(() -> {});
      }
    } catch (CancelledKeyException e) {
      LOG.trace("connection is closing", e);
    }
  }

  /** Closes with FIN. Server's thread only. */
  void closeNow() {
    close(false);
  }

  /** Closes with RST. Server's thread only. */
  void resetNow() {
    close(true);
  }

  private void close(boolean abruptly) {
    Exchange interrupted;
    lock.lock();
    try {
      if (gone) {
        return;
      }
      gone = true;
      interrupted = current;
      current = null;
      outbound.clear();
    } finally {
      lock.unlock();
    }
    key.cancel();
    try {
      if (abruptly) {
        channel.setOption(StandardSocketOptions.SO_LINGER, 0);
      }
      channel.close();
    } catch (IOException e) {
      LOG.trace("while closing a connection", e);
    }
    server.forget(this);
    if (interrupted != null) {
      interrupted.disconnected();
    }
  }

  private void finishAndClose() {
    lock.lock();
    try {
      current = null;
      closeWhenFlushed = true;
      if (outbound.isEmpty()) {
        server.later(this::closeNow);
      }
    } finally {
      lock.unlock();
    }
  }

  private static byte[] head(int status, Map<String, String> headers, int contentLength) {
    StringBuilder text = new StringBuilder(192);
    text.append("HTTP/1.1 ").append(status).append(' ').append(reason(status)).append("\r\n");
    text.append("date: ").append(DateTimeFormatter.RFC_1123_DATE_TIME.format(now()));
    text.append("\r\nserver: uvicorn\r\n");
    headers.forEach((name, value) -> text.append(name).append(": ").append(value).append("\r\n"));
    if (contentLength < 0) {
      text.append("transfer-encoding: chunked\r\n\r\n");
    } else {
      text.append("content-length: ").append(contentLength).append("\r\n\r\n");
    }
    return text.toString().getBytes(StandardCharsets.ISO_8859_1);
  }

  private static ZonedDateTime now() {
    return ZonedDateTime.now(ZoneOffset.UTC);
  }

  private static String reason(int status) {
    return switch (status) {
      case 200 -> "OK";
      case 400 -> "Bad Request";
      case 401 -> "Unauthorized";
      case 403 -> "Forbidden";
      case 404 -> "Not Found";
      case 405 -> "Method Not Allowed";
      case 408 -> "Request Timeout";
      case 413 -> "Content Too Large";
      case 422 -> "Unprocessable Entity";
      case 429 -> "Too Many Requests";
      case 431 -> "Request Header Fields Too Large";
      case 500 -> "Internal Server Error";
      case 502 -> "Bad Gateway";
      case 503 -> "Service Unavailable";
      case 504 -> "Gateway Timeout";
      default -> "Status " + status;
    };
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  private final class Exchange implements HttpExchange {
    private final HttpRequest request;
    private final boolean keepAlive;

    // Guarded by lock.
    private boolean begun;
    private boolean finished;
    private boolean lost;
    private @Nullable Runnable onDisconnect;

    Exchange(HttpRequest request, boolean keepAlive) {
      this.request = request;
      this.keepAlive = keepAlive;
    }

    @Override
    public HttpRequest request() {
      return request;
    }

    @Override
    public boolean begun() {
      lock.lock();
      try {
        return begun;
      } finally {
        lock.unlock();
      }
    }

    @Override
    public void respond(int status, Map<String, String> headers, byte[] body) {
      byte[] head = head(status, withConnection(headers), body.length);
      finish(head, request.method().equals("HEAD") ? new byte[0] : body);
    }

    private Map<String, String> withConnection(Map<String, String> headers) {
      if (keepAlive) {
        return headers;
      }
      Map<String, String> extended = new LinkedHashMap<>(headers);
      extended.put("connection", "close");
      return extended;
    }

    @Override
    public void begin(int status, Map<String, String> headers) {
      send(head(status, withConnection(headers), -1));
    }

    @Override
    public void chunk(byte[] data) {
      if (data.length > 0) {
        send(ascii(Integer.toHexString(data.length) + "\r\n"), data, CRLF);
      }
    }

    @Override
    public void end() {
      finish(LAST_CHUNK);
    }

    @Override
    public void raw(byte[] data) {
      send(data);
    }

    private void send(byte[]... parts) {
      lock.lock();
      try {
        if (current == this && !finished) {
          begun = true;
          writeLocked(parts);
        }
      } finally {
        lock.unlock();
      }
    }

    private void finish(byte[]... parts) {
      lock.lock();
      try {
        if (current != this || finished) {
          return;
        }
        begun = true;
        finished = true;
        onDisconnect = null;
        current = null;
        idleSince = nonZeroNow();
        closeWhenFlushed = !keepAlive;
        writeLocked(parts);
        if (inputPending) {
          server.later(HttpConnection.this::pump);
        }
      } finally {
        lock.unlock();
      }
    }

    @Override
    public void reset() {
      if (markFinished()) {
        server.later(HttpConnection.this::resetNow);
      }
    }

    @Override
    public void cut() {
      if (markFinished()) {
        finishAndClose();
      }
    }

    private boolean markFinished() {
      lock.lock();
      try {
        if (current != this || finished) {
          return false;
        }
        finished = true;
        onDisconnect = null;
        return true;
      } finally {
        lock.unlock();
      }
    }

    @Override
    public void onDisconnect(Runnable action) {
      lock.lock();
      try {
        if (finished) {
          return;
        }
        if (!lost) {
          onDisconnect = action;
          return;
        }
      } finally {
        lock.unlock();
      }
      action.run();
    }

    /** Server's thread only. */
    private void disconnected() {
      Runnable action;
      lock.lock();
      try {
        if (finished) {
          return;
        }
        lost = true;
        action = onDisconnect;
        onDisconnect = null;
      } finally {
        lock.unlock();
      }
      if (action != null) {
        action.run();
      }
    }
  }
}

package dev.warmpath.okhttp;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * A worker that takes requests, answers them as a test says, and notices the very moment at which
 * their connection drops. What happens is told in its order.
 */
final class RawWorker implements AutoCloseable {
  /** Answers one request by writing to its connection; null bytes keep it waiting. */
  interface Answer {
    String to(String path, int number) throws IOException;
  }

  private final ServerSocket listening;
  private final Answer answer;
  private final BlockingQueue<String> happened = new LinkedBlockingQueue<>();
  private final List<String> heads = new CopyOnWriteArrayList<>();
  private final List<Socket> sockets = new CopyOnWriteArrayList<>();

  RawWorker(Answer answer) {
    this.answer = answer;
    try {
      listening = new ServerSocket(0, 50, InetAddress.getByName("127.0.0.1"));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    daemon(this::accept);
  }

  private static void daemon(Runnable task) {
    Thread thread = new Thread(task, "raw-worker");
    thread.setDaemon(true);
    thread.start();
  }

  private void accept() {
    try {
      while (true) {
        Socket socket = listening.accept();
        sockets.add(socket);
        daemon(() -> serve(socket));
      }
    } catch (IOException closed) {
      // the test is over
    }
  }

  private void serve(Socket socket) {
    int number = 0;
    String path = "nothing";
    try (socket) {
      InputStream in = new BufferedInputStream(socket.getInputStream());
      String head = head(in);
      while (head != null) {
        heads.add(head);
        path = head.split(" ", 3)[1];
        in.readNBytes(length(head));
        happened.add("request " + path);
        String response = answer.to(path, number++);
        if (response != null) {
          socket.getOutputStream().write(response.getBytes(StandardCharsets.UTF_8));
          socket.getOutputStream().flush();
        }
        head = head(in);
      }
    } catch (IOException reset) {
      // a drop all the same
    }
    happened.add("drop " + path);
  }

  private static String head(InputStream in) throws IOException {
    StringBuilder head = new StringBuilder();
    while (head.indexOf("\r\n\r\n") < 0) {
      int read = in.read();
      if (read < 0) {
        return null;
      }
      head.append((char) read);
    }
    return head.toString();
  }

  private static int length(String head) {
    for (String line : head.split("\r\n")) {
      if (line.toLowerCase(java.util.Locale.ROOT).startsWith("content-length:")) {
        return Integer.parseInt(line.substring(15).trim());
      }
    }
    return 0;
  }

  static String json(int status, String body) {
    return "HTTP/1.1 "
        + status
        + " x\r\nContent-Type: application/json\r\nContent-Length: "
        + body.length()
        + "\r\n\r\n"
        + body;
  }

  /** The head of a stream and its first bytes; it never ends. */
  static String stream(String text) {
    return "HTTP/1.1 200 OK\r\n"
        + "Content-Type: text/event-stream\r\n"
        + "Transfer-Encoding: chunked\r\n\r\n"
        + (text.isEmpty() ? "" : Integer.toHexString(text.length()) + "\r\n" + text + "\r\n");
  }

  String url() {
    return "http://127.0.0.1:" + listening.getLocalPort();
  }

  /** Waits for the next thing to happen. */
  String next() {
    try {
      return Objects.requireNonNull(happened.poll(30, TimeUnit.SECONDS), "nothing happened");
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  List<String> heads() {
    return heads;
  }

  @Override
  public void close() {
    try {
      listening.close();
      for (Socket socket : sockets) {
        socket.close();
      }
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }
}

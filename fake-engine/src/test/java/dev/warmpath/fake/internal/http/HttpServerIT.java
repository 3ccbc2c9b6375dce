package dev.warmpath.fake.internal.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class HttpServerIT {
  private final List<HttpRequest> requests = new CopyOnWriteArrayList<>();
  private final HttpServer server = start(Duration.ofMinutes(1), this::answer);

  private static HttpServer start(Duration keepAlive, HttpHandler handler) {
    return new HttpServer(HttpServer.loopback(0), keepAlive, 1 << 20, handler);
  }

  private void answer(HttpExchange exchange) {
    requests.add(exchange.request());
    switch (exchange.request().path()) {
      case "/boom" -> throw new IllegalStateException("boom");
      case "/stream" -> {
        exchange.begin(200, Map.of());
        exchange.chunk("one".getBytes(StandardCharsets.US_ASCII));
        exchange.chunk(new byte[0]);
        exchange.chunk("two".getBytes(StandardCharsets.US_ASCII));
        exchange.end();
      }
      case "/big" -> exchange.respond(200, Map.of(), new byte[8 << 20]);
      default ->
          exchange.respond(
              200,
              Map.of("content-type", "text/plain"),
              exchange.request().path().getBytes(StandardCharsets.US_ASCII));
    }
  }

  @AfterEach
  void close() {
    server.close();
  }

  private static Socket connect(HttpServer to) throws IOException {
    return new Socket(to.address().getAddress(), to.address().getPort());
  }

  private static void send(Socket socket, String text) throws IOException {
    OutputStream out = socket.getOutputStream();
    out.write(text.getBytes(StandardCharsets.ISO_8859_1));
    out.flush();
  }

  private static String readAll(Socket socket) throws IOException {
    return new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
  }

  private String talk(String text) throws IOException {
    try (Socket socket = connect(server)) {
      send(socket, text);
      return readAll(socket);
    }
  }

  @Test
  void answersPipelinedRequestsInOrder() throws Exception {
    String first = "GET /a HTTP/1.1\r\n\r\n";
    String second = "GET /stream HTTP/1.1\r\n\r\n";
    String third = "GET /c HTTP/1.1\r\nconnection: close\r\n\r\n";
    String answers = talk(first + second + third);
    assertThat(answers).containsSubsequence("/a", "3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n", "/c");
    assertThat(answers).contains("connection: close");
  }

  @Test
  void readsBodiesOfBothFramingsByteByByte() throws Exception {
    String fixed = "POST /one?x=1&y=a%20b HTTP/1.1\r\nX-Two: 1\r\nx-two: 2\r\n";
    String chunked = "POST /two HTTP/1.1\r\nTransfer-Encoding: chunked\r\nconnection: close\r\n";
    String chunks = "3;ext=1\r\nabc\r\nA\r\n0123456789\r\n0\r\ntrailer: x\r\n\r\n";
    String text = fixed + "Content-Length: 5\r\n\r\nhello" + chunked + "\r\n" + chunks;
    try (Socket socket = connect(server)) {
      for (int i = 0; i < text.length(); i++) {
        send(socket, text.substring(i, i + 1));
      }
      readAll(socket);
    }
    assertThat(requests).hasSize(2);
    HttpRequest first = requests.get(0);
    assertThat(new String(first.body(), StandardCharsets.US_ASCII)).isEqualTo("hello");
    assertThat(first.query()).containsEntry("x", "1").containsEntry("y", "a b");
    assertThat(first.header("x-two")).isEqualTo("1, 2");
    assertThat(new String(requests.get(1).body(), StandardCharsets.US_ASCII))
        .isEqualTo("abc0123456789");
  }

  @Test
  void saysContinueToThoseWhoWait() throws Exception {
    try (Socket socket = connect(server)) {
      send(socket, "POST /x HTTP/1.1\r\nexpect: 100-continue\r\n");
      send(socket, "content-length: 2\r\nconnection: close\r\n\r\n");
      byte[] interim = socket.getInputStream().readNBytes(25);
      assertThat(new String(interim, StandardCharsets.US_ASCII))
          .isEqualTo("HTTP/1.1 100 Continue\r\n\r\n");
      send(socket, "ok");
      assertThat(readAll(socket)).startsWith("HTTP/1.1 200 OK");
    }
  }

  @Test
  void refusesWhatIsNoHttp() throws Exception {
    assertThat(talk("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")).startsWith("HTTP/1.1 400");
    assertThat(talk("nonsense\r\n\r\n")).startsWith("HTTP/1.1 400");
    assertThat(talk("GET / HTTP/1.1\r\nbroken\r\n\r\n")).startsWith("HTTP/1.1 400");
    assertThat(talk("GET /%zz HTTP/1.1\r\n\r\n")).startsWith("HTTP/1.1 400");
    assertThat(talk("POST / HTTP/1.1\r\ncontent-length: -1\r\n\r\n")).startsWith("HTTP/1.1 400");
    assertThat(talk("POST / HTTP/1.1\r\ncontent-length: 9999999\r\n\r\n"))
        .startsWith("HTTP/1.1 413");
    assertThat(talk("POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n"))
        .startsWith("HTTP/1.1 400");
    assertThat(requests).isEmpty();
  }

  @Test
  void handlerThatThrowsIsAServerError() throws Exception {
    assertThat(talk("GET /boom HTTP/1.1\r\nconnection: close\r\n\r\n")).startsWith("HTTP/1.1 500");
  }

  @Test
  void headHasNoBodyAndOldClientsAreClosed() throws Exception {
    String answer = talk("HEAD /abc HTTP/1.0\r\n\r\n");
    assertThat(answer).contains("content-length: 4").endsWith("\r\n\r\n");
  }

  @Test
  void answerLargerThanTheSocketBufferArrivesWhole() throws Exception {
    try (Socket socket = connect(server)) {
      send(socket, "GET /big HTTP/1.1\r\nconnection: close\r\n\r\n");
      byte[] all = socket.getInputStream().readAllBytes();
      assertThat(all.length).isGreaterThan(8 << 20);
    }
  }

  @Test
  void idleConnectionsAreClosedAfterTheKeepAlive() throws Exception {
    try (HttpServer brief = start(Duration.ofMillis(20), this::answer);
        Socket socket = connect(brief)) {
      send(socket, "GET /a HTTP/1.1\r\n\r\n");
      assertThat(readAll(socket)).endsWith("/a");
      await().atMost(Duration.ofMinutes(1)).until(() -> brief.connections() == 0);
    }
  }

  @Test
  void portStaysReservedWhileConnectionsAreRefused() throws Exception {
    try (Socket open = connect(server)) {
      send(open, "GET /a HTTP/1.1\r\n\r\n");
      InputStream in = open.getInputStream();
      assertThat(in.read()).isEqualTo('H');
      server.refuse();
      assertThat(server.connections()).isZero();
      assertThatThrownBy(() -> connect(server)).isInstanceOf(IOException.class);
    }
    server.refuse();
    server.accept();
    server.accept();
    assertThat(talk("GET /b HTTP/1.1\r\nconnection: close\r\n\r\n")).endsWith("/b");
  }

  @Test
  void timersRunInOrder() {
    List<String> order = new CopyOnWriteArrayList<>();
    server.schedule(Duration.ofMillis(30), () -> order.add("last"));
    server.schedule(Duration.ofMillis(1), () -> order.add("first"));
    server.schedule(Duration.ofMillis(1), () -> order.add("second"));
    await().atMost(Duration.ofMinutes(1)).until(() -> order.size() == 3);
    assertThat(order).containsExactly("first", "second", "last");
  }
}

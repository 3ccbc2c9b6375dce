package dev.warmpath.okhttp;

import java.io.IOException;
import java.net.InetAddress;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import mockwebserver3.Dispatcher;
import mockwebserver3.MockResponse;
import mockwebserver3.MockWebServer;
import mockwebserver3.RecordedRequest;
import mockwebserver3.SocketEffect;

/** A worker on loopback that answers as a test says and remembers what it was asked. */
final class MockWorker implements AutoCloseable {
  static final String CHUNK = "{\"choices\":[{\"delta\":{\"content\":\"x\"}}]}";
  static final String WHOLE =
      "{\"id\":\"1\",\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":1}}";

  private final MockWebServer server = new MockWebServer();
  private final BlockingQueue<RecordedRequest> arrived = new LinkedBlockingQueue<>();
  private final List<RecordedRequest> all = new CopyOnWriteArrayList<>();
  private volatile Function<RecordedRequest, MockResponse> answer = request -> ok();

  private MockWorker() {
    server.setServerSocketFactory(new PromptSockets());
    server.setDispatcher(
        new Dispatcher() {
          @Override
          public MockResponse dispatch(RecordedRequest request) {
            all.add(request);
            arrived.add(request);
            return answer.apply(request);
          }
        });
  }

  static MockWorker started() {
    MockWorker worker = new MockWorker();
    worker.start();
    return worker;
  }

  /** Not started: for protocols and TLS to be set first. */
  static MockWorker fresh() {
    return new MockWorker();
  }

  MockWorker start() {
    try {
      server.start(InetAddress.getLoopbackAddress(), 0);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    return this;
  }

  MockWebServer server() {
    return server;
  }

  MockWorker answers(Function<RecordedRequest, MockResponse> answer) {
    this.answer = answer;
    return this;
  }

  String url() {
    return "http://127.0.0.1:" + server.getPort();
  }

  List<RecordedRequest> requests() {
    return all;
  }

  /** Waits for the next request. */
  RecordedRequest next() {
    try {
      return Objects.requireNonNull(arrived.poll(60, TimeUnit.SECONDS), "no request came");
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  static MockResponse ok() {
    return json(200, WHOLE);
  }

  static MockResponse json(int status, String body) {
    return new MockResponse.Builder()
        .code(status)
        .setHeader("Content-Type", "application/json")
        .body(body)
        .build();
  }

  /** A stream of the given bytes, chunked. */
  static MockResponse.Builder stream(String body) {
    return new MockResponse.Builder()
        .setHeader("Content-Type", "text/event-stream; charset=utf-8")
        .chunkedBody(body, 16);
  }

  static MockResponse wholeStream() {
    return stream("data: " + CHUNK + "\n\ndata: " + CHUNK + "\n\ndata: [DONE]\n\n").build();
  }

  /** A whole stream for HTTP/2, which frames bodies itself. */
  static MockResponse wholeStreamInFrames() {
    return new MockResponse.Builder()
        .setHeader("Content-Type", "text/event-stream")
        .body("data: " + CHUNK + "\n\ndata: " + CHUNK + "\n\ndata: [DONE]\n\n")
        .build();
  }

  /** Reads the request, then closes the connection without a byte. */
  static MockResponse closesAfterRequest() {
    return new MockResponse.Builder().onResponseStart(new SocketEffect.CloseSocket()).build();
  }

  @Override
  public void close() {
    server.close();
  }
}

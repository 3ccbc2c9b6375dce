package dev.warmpath.fake;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

/** A plain HTTP client with JSON, as an application would have it. */
final class Client {
  static final ObjectMapper JSON = new ObjectMapper();
  static final String CHAT = "/v1/chat/completions";
  static final String COMPLETIONS = "/v1/completions";

  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final String base;

  Client(FakeEngine engine) {
    this.base = engine.url();
  }

  /** A response whose body was read. */
  record Reply(int status, String body, HttpResponse<String> raw) {
    JsonNode json() {
      try {
        return JSON.readTree(body);
      } catch (IOException e) {
        throw new AssertionError("not JSON: " + body, e);
      }
    }

    String header(String name) {
      return raw.headers().firstValue(name).orElse("");
    }
  }

  private HttpRequest.Builder request(String path, String... headers) {
    HttpRequest.Builder builder =
        HttpRequest.newBuilder(URI.create(base + path)).timeout(Duration.ofSeconds(60));
    for (int i = 0; i < headers.length; i += 2) {
      builder.header(headers[i], headers[i + 1]);
    }
    return builder;
  }

  private HttpRequest posting(String path, String body, String... headers) {
    return request(path, headers)
        .header("content-type", "application/json")
        .POST(HttpRequest.BodyPublishers.ofString(body))
        .build();
  }

  Reply get(String path, String... headers) throws IOException, InterruptedException {
    return send(request(path, headers).build());
  }

  Reply post(String path, String body, String... headers) throws IOException, InterruptedException {
    return send(posting(path, body, headers));
  }

  private Reply send(HttpRequest request) throws IOException, InterruptedException {
    HttpResponse<String> response = http.send(request, HttpResponse.BodyHandlers.ofString());
    return new Reply(response.statusCode(), response.body(), response);
  }

  CompletableFuture<HttpResponse<String>> postAsync(String path, String body) {
    return http.sendAsync(posting(path, body), HttpResponse.BodyHandlers.ofString());
  }

  /** Opens a stream; closing it closes the connection. */
  HttpResponse<InputStream> open(String path, String body)
      throws IOException, InterruptedException {
    return http.send(posting(path, body), HttpResponse.BodyHandlers.ofInputStream());
  }

  /** The payloads of a whole stream. */
  List<String> events(String path, String body, String... headers)
      throws IOException, InterruptedException {
    HttpResponse<Stream<String>> response =
        http.send(posting(path, body, headers), HttpResponse.BodyHandlers.ofLines());
    try (Stream<String> lines = response.body()) {
      return lines
          .filter(line -> line.startsWith("data: "))
          .map(line -> line.substring(6))
          .toList();
    }
  }

  static JsonNode json(String text) {
    try {
      return JSON.readTree(text);
    } catch (IOException e) {
      throw new AssertionError("not JSON: " + text, e);
    }
  }

  /** A chat body with one user message. */
  static String chat(String content, String more) {
    return "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":"
        + quote(content)
        + "}]"
        + more
        + "}";
  }

  /** A completions body. */
  static String completion(String prompt, String more) {
    return "{\"model\":\"m\",\"prompt\":" + quote(prompt) + more + "}";
  }

  static String quote(String text) {
    return JSON.getNodeFactory().textNode(text).toString();
  }
}

package dev.warmpath.examples.rag;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;

/**
 * Gives texts to a knowledge delivery node and has their KV built by an engine, as CacheRoute's
 * node takes both. Thread safe.
 */
public final class NodePublisher {
  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final Duration TIMEOUT = Duration.ofSeconds(60);

  private final HttpClient http =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(Duration.ofSeconds(5))
          .build();
  private final URI node;

  /**
   * A publisher to one node.
   *
   * @param node its base URL
   */
  public NodePublisher(URI node) {
    this.node = node;
  }

  /**
   * Registers a text.
   *
   * @return its id
   * @throws IOException if the node refuses it or doesn't answer
   */
  public String publish(String text) throws IOException, InterruptedException {
    ObjectNode body = MAPPER.createObjectNode().put("content", text);
    return post("/knowledge/register_text", body).path("kid").asText();
  }

  /**
   * Has the KV of a text built.
   *
   * @param id the text's id
   * @param engine base URL of an engine that computes it
   * @param model the served model's name
   * @throws IOException if the node refuses it or doesn't answer
   */
  public void buildKv(String id, URI engine, String model)
      throws IOException, InterruptedException {
    ObjectNode body =
        MAPPER
            .createObjectNode()
            .put("kid", id)
            .put("api_url", engine.resolve("/v1/chat/completions").toString())
            .put("model", model);
    ObjectNode unused = post("/knowledge/build_kv", body);
  }

  private ObjectNode post(String path, ObjectNode body) throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(node.resolve(path))
            .timeout(TIMEOUT)
            .header("content-type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofByteArray(MAPPER.writeValueAsBytes(body)))
            .build();
    HttpResponse<byte[]> answer = http.send(request, HttpResponse.BodyHandlers.ofByteArray());
    if (answer.statusCode() == 200
        && MAPPER.readTree(answer.body()) instanceof ObjectNode document) {
      return document;
    }
    throw new IOException(node + path + " answered " + answer.statusCode());
  }
}

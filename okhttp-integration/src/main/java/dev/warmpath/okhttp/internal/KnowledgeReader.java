package dev.warmpath.okhttp.internal;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.api.FailurePhase;
import dev.warmpath.transport.KnowledgeTransport.KvInjected;
import dev.warmpath.transport.KnowledgeTransport.KvOrder;
import dev.warmpath.transport.KnowledgeTransport.Piece;
import dev.warmpath.transport.TransportException;
import dev.warmpath.transport.TransportException.Kind;
import dev.warmpath.worker.Secret;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import okhttp3.Call;
import okhttp3.MediaType;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import okhttp3.RequestBody;
import okhttp3.Response;
import org.jspecify.annotations.Nullable;

/**
 * The calls to nodes and instances: JSON out, JSON in, one deadline over all of each. Thread safe.
 */
public final class KnowledgeReader {
  private static final MediaType JSON = MediaType.get("application/json");
  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final JsonFactory FACTORY = new JsonFactory();

  /** Of one piece in a snapshot: an id of 64 digits, two numbers, their names. */
  private static final long BYTES_PER_PIECE = 256;

  private static final long SPARE_BYTES = 64 << 10;

  /** Of all texts of one call together. */
  private static final long MAX_TEXT_BYTES = 32L << 20;

  private static final long MAX_ANSWER_BYTES = 1L << 20;

  private final OkHttpClient client;
  private final @Nullable Secret key;
  private final Consumer<Call> waits;
  private final Consumer<Call> waited;

  /**
   * Creates a reader.
   *
   * @param client carries the calls
   * @param key goes with each of them; null for none
   * @param waits told before the calling thread waits for a call, so that an interrupt can end it
   * @param waited told when the wait is over
   */
  public KnowledgeReader(
      OkHttpClient client, @Nullable Secret key, Consumer<Call> waits, Consumer<Call> waited) {
    this.client = client;
    this.key = key;
    this.waits = waits;
    this.waited = waited;
  }

  private interface Body<T> {
    T read(InputStream in) throws IOException, TransportException;
  }

  /** See {@link dev.warmpath.transport.KnowledgeTransport#snapshot}. */
  public List<Piece> snapshot(URI node, int atMost, Duration timeout) throws TransportException {
    ObjectNode body = JsonNodeFactory.instance.objectNode();
    body.putArray("need_fields").add("kid").add("length").add("kv_ready");
    body.put("limit", atMost).put("offset", 0);
    long limit = atMost * BYTES_PER_PIECE + SPARE_BYTES;
    return post(node, "/knowledge/snapshot", body, limit, timeout, in -> pieces(in, atMost));
  }

  private static List<Piece> pieces(InputStream in, int atMost)
      throws IOException, TransportException {
    List<Piece> pieces = new ArrayList<>();
    boolean found = false;
    try (JsonParser parser = FACTORY.createParser(in)) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        throw misunderstood("/knowledge/snapshot", null);
      }
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        boolean items = parser.currentName().equals("items");
        JsonToken value = parser.nextToken();
        if (!items) {
          parser.skipChildren();
          continue;
        }
        if (value != JsonToken.START_ARRAY) {
          throw misunderstood("/knowledge/snapshot", null);
        }
        found = true;
        while (parser.nextToken() == JsonToken.START_OBJECT && pieces.size() < atMost) {
          Piece piece = piece(parser);
          if (piece != null) {
            pieces.add(piece);
          }
        }
        if (parser.currentToken() != JsonToken.END_ARRAY) {
          if (pieces.size() < atMost) {
            throw misunderstood("/knowledge/snapshot", null);
          }
          return pieces;
        }
      }
    }
    if (!found) {
      throw misunderstood("/knowledge/snapshot", null);
    }
    return pieces;
  }

  /** A piece; null where it has no id. */
  private static @Nullable Piece piece(JsonParser parser) throws IOException {
    String id = null;
    int length = 0;
    boolean ready = false;
    while (parser.nextToken() == JsonToken.FIELD_NAME) {
      String name = parser.currentName();
      JsonToken value = parser.nextToken();
      if (name.equals("kid") && value == JsonToken.VALUE_STRING) {
        id = parser.getText();
      } else if (name.equals("length") && value.isNumeric()) {
        length = (int) Math.max(0, Math.min(Integer.MAX_VALUE, parser.getDoubleValue()));
      } else if (name.equals("kv_ready")) {
        ready = value.isNumeric() ? parser.getDoubleValue() != 0 : value == JsonToken.VALUE_TRUE;
      }
      parser.skipChildren();
    }
    return id == null || id.isBlank() ? null : new Piece(id, length, ready);
  }

  /** See {@link dev.warmpath.transport.KnowledgeTransport#texts}. */
  public Map<String, String> texts(URI node, Collection<String> ids, Duration timeout)
      throws TransportException {
    String path = "/knowledge/search/text";
    ObjectNode body = JsonNodeFactory.instance.objectNode();
    ids.forEach(body.putArray("knowledge_ids")::add);
    body.putArray("need_fields").add("content").add("length");
    return post(
        node,
        path,
        body,
        MAX_TEXT_BYTES,
        timeout,
        in -> {
          JsonNode items = MAPPER.readTree(in).path("items");
          if (!items.isArray()) {
            throw misunderstood(path, null);
          }
          Map<String, String> texts = new LinkedHashMap<>();
          for (JsonNode item : items) {
            if (item.path("id").isTextual() && item.path("content").isTextual()) {
              texts.put(item.path("id").textValue(), item.path("content").textValue());
            }
          }
          return texts;
        });
  }

  /** See {@link dev.warmpath.transport.KnowledgeTransport#injectKv}. */
  public KvInjected injectKv(URI instance, KvOrder order, Duration timeout)
      throws TransportException {
    String path = "/v1/kv/inject_ready";
    ObjectNode body = JsonNodeFactory.instance.objectNode();
    body.put("request_id", order.requestId()).put("kdn_addr", order.node());
    body.put("model", order.model());
    order.ids().forEach(body.putArray("knowledge_ids")::add);
    return post(
        instance,
        path,
        body,
        MAX_ANSWER_BYTES,
        timeout,
        in -> {
          JsonNode answer = MAPPER.readTree(in);
          if (!answer.isObject()) {
            throw misunderstood(path, null);
          }
          // Without "ok" nothing is known to be in place, whatever else it says.
          List<String> injected =
              answer.path("ok").asBoolean(false) ? ids(answer.path("injected_kids")) : List.of();
          return new KvInjected(
              injected,
              ids(answer.path("text_only_kids")),
              ids(answer.path("miss_kids")),
              Math.max(0, answer.path("payload_bytes").asLong(0)));
        });
  }

  private static List<String> ids(JsonNode array) {
    List<String> ids = new ArrayList<>();
    for (JsonNode id : array) {
      if (id.isTextual()) {
        ids.add(id.textValue());
      }
    }
    return ids;
  }

  private <T> T post(
      URI base, String path, ObjectNode body, long maxBytes, Duration timeout, Body<T> reads)
      throws TransportException {
    String url = base.toString();
    Request.Builder request =
        new Request.Builder()
            .url((url.endsWith("/") ? url.substring(0, url.length() - 1) : url) + path)
            .post(RequestBody.create(body.toString(), JSON));
    Secret its = key;
    if (its != null) {
      request.header("Authorization", "Bearer " + its.reveal());
    }
    Call call = client.newCall(request.build());
    call.timeout().timeout(Math.max(1, timeout.toNanos()), TimeUnit.NANOSECONDS);
    waits.accept(call);
    try (Response response = call.execute()) {
      if (!response.isSuccessful()) {
        throw new TransportException(
            Kind.PROTOCOL,
            FailurePhase.BODY,
            response.code(),
            path + " answers " + response.code(),
            null);
      }
      return reads.read(new LimitedStream(response.body().byteStream(), maxBytes));
    } catch (JsonProcessingException e) {
      throw misunderstood(path, e);
    } catch (RuntimeException | TransportException e) {
      throw e;
    } catch (Exception e) {
      if (e instanceof InterruptedException) {
        Thread.currentThread().interrupt(); // undeclared, from OkHttp's happy eyeballs
      }
      throw HttpReader.failure(path, e);
    } finally {
      waited.accept(call);
    }
  }

  /** Nothing of the answer goes into the message: it may hold texts. */
  private static TransportException misunderstood(String path, @Nullable Throwable cause) {
    Throwable shown = cause instanceof JsonProcessingException ? null : cause;
    return new TransportException(
        Kind.PROTOCOL, FailurePhase.BODY, 0, path + " answers nothing that is understood", shown);
  }
}

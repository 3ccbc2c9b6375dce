package dev.warmpath.fake.internal.surface;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodySubscribers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Asks side channels of other processes. Thread-safe and non-blocking. */
final class SideChannelClient {
  /** How often an event is told to whoever does not answer. */
  private static final int TELL_TRIES = 3;

  /** One for the process: its threads are daemons and end with the last use. */
  private static final class Shared {
    private static final HttpClient HTTP =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(5))
            .build();
  }

  /**
   * How a join ended.
   *
   * @param status the answer's, or 0 if nobody answered or the answer broke off
   * @param message what a refusal says
   */
  record Ended(int status, String message) {}

  /** Hears an answer that is a line of JSON each time something is to be done. */
  static final class Lines implements Flow.Subscriber<String> {
    private final Consumer<JsonNode> each;
    private volatile Flow.@Nullable Subscription subscription;
    private volatile boolean closed;

    Lines(Consumer<JsonNode> each) {
      this.each = each;
    }

    @Override
    public void onSubscribe(Flow.Subscription given) {
      subscription = given;
      if (closed) {
        given.cancel();
      } else {
        given.request(Long.MAX_VALUE);
      }
    }

    @Override
    public void onNext(String line) {
      try {
        each.accept(Json.MAPPER.readTree(line));
      } catch (JsonProcessingException e) {
        close();
      }
    }

    @Override
    public void onError(Throwable failure) {}

    @Override
    public void onComplete() {}

    /** Closes the connection. */
    void close() {
      closed = true;
      Flow.Subscription given = subscription;
      if (given != null) {
        given.cancel();
      }
    }
  }

  private SideChannelClient() {}

  /** Asks to join; completes when the answer ends. */
  static CompletableFuture<Ended> join(SideChannel.Address address, JsonNode body, Lines lines) {
    return Shared.HTTP
        .sendAsync(
            post(address, HandoffServer.PATH, body),
            head ->
                head.statusCode() == 200
                    ? BodySubscribers.fromLineSubscriber(
                        lines, done -> "", StandardCharsets.UTF_8, "\n")
                    : BodySubscribers.ofString(StandardCharsets.UTF_8))
        .handle(
            (answer, failure) ->
                failure != null ? new Ended(0, "") : new Ended(answer.statusCode(), said(answer)));
  }

  private static String said(HttpResponse<String> answer) {
    try {
      return Json.MAPPER.readTree(answer.body()).path("message").asText();
    } catch (JsonProcessingException e) {
      return "";
    }
  }

  /**
   * Tells of an event, which may be heard more than once: a pooled connection can turn out to be a
   * dead one's after all was sent.
   *
   * @return whether it was heard, by somebody who may not know of the handoff any more
   */
  static CompletableFuture<Boolean> tell(SideChannel.Address address, long number, JsonNode event) {
    return tell(post(address, HandoffServer.PATH + "/" + number, event), TELL_TRIES);
  }

  private static CompletableFuture<Boolean> tell(HttpRequest request, int tries) {
    return Shared.HTTP
        .sendAsync(request, HttpResponse.BodyHandlers.discarding())
        .handle((answer, failure) -> failure == null)
        .thenCompose(
            heard ->
                heard || tries == 1
                    ? CompletableFuture.completedFuture(heard)
                    : tell(request, tries - 1));
  }

  private static HttpRequest post(SideChannel.Address address, String path, JsonNode body) {
    return HttpRequest.newBuilder(URI.create("http://" + address + path))
        .header("content-type", "application/json")
        .POST(HttpRequest.BodyPublishers.ofByteArray(Json.bytes(body)))
        .build();
  }
}

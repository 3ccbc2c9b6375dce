package dev.warmpath.okhttp.internal;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.api.FailurePhase;
import dev.warmpath.transport.TransportException;
import dev.warmpath.transport.TransportException.Kind;
import dev.warmpath.worker.Secret;
import dev.warmpath.worker.Worker;
import java.io.InterruptedIOException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import okhttp3.Call;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import okhttp3.Response;
import okio.BufferedSource;
import org.jspecify.annotations.Nullable;

/** Small GETs to a worker's control endpoints, with its key and a deadline over all. */
final class HttpReader {
  /** A {@code /metrics} page of a large engine is around 1 MB. */
  private static final long MAX_BYTES = 32L << 20;

  private static final ObjectMapper JSON = new ObjectMapper();

  private final OkHttpClient client;

  HttpReader(OkHttpClient client) {
    this.client = client;
  }

  /**
   * An answer.
   *
   * @param status the status
   * @param body the body as text
   */
  record Answer(int status, String body) {
    boolean ok() {
      return status == 200;
    }

    /** The body as JSON, or null when it is none. */
    @Nullable JsonNode json() {
      try {
        JsonNode node = JSON.readTree(body);
        return node == null || node.isMissingNode() ? null : node;
      } catch (JsonProcessingException e) {
        return null;
      }
    }
  }

  /**
   * Gets {@code path}.
   *
   * @param budget the time that is left for this and later calls
   * @throws TransportException when no answer came
   */
  Answer get(Worker worker, String path, Budget budget) throws TransportException {
    Request.Builder request = new Request.Builder().url(worker.id().value() + path);
    Secret key = worker.spec().apiKey();
    if (key != null) {
      request.header("Authorization", "Bearer " + key.reveal());
    }
    return get(request, path, budget);
  }

  /**
   * Gets {@code path} of another server on a worker's host. It is not the one that the worker's key
   * is for, and does not get it.
   *
   * @param host the host as it stands in a URL, which must be configured and not told by a worker
   * @throws TransportException when no answer came
   */
  Answer getBeside(String host, int port, String path, Budget budget) throws TransportException {
    Request.Builder request;
    try {
      request = new Request.Builder().url("http://" + host + ":" + port + path);
    } catch (IllegalArgumentException e) {
      throw new TransportException(
          Kind.CONNECT, FailurePhase.CONNECT, 0, "no URL can be made of its host", e);
    }
    return get(request, path, budget);
  }

  private Answer get(Request.Builder request, String path, Budget budget)
      throws TransportException {
    Duration left = budget.left();
    Call call = client.newCall(request.build());
    call.timeout().timeout(Math.max(1, left.toMillis()), TimeUnit.MILLISECONDS);
    try (Response response = call.execute()) {
      BufferedSource source = response.body().source();
      if (source.request(MAX_BYTES + 1)) {
        throw new TransportException(
            Kind.PROTOCOL,
            FailurePhase.BODY,
            response.code(),
            path + " answers more than " + MAX_BYTES + " bytes",
            null);
      }
      return new Answer(response.code(), source.readUtf8());
    } catch (RuntimeException | TransportException e) {
      throw e;
    } catch (Exception e) {
      if (e instanceof InterruptedException) {
        // undeclared, from OkHttp's happy eyeballs
        Thread.currentThread().interrupt();
      }
      throw failure(path, e);
    }
  }

  static TransportException failure(String path, Exception e) {
    if (Thread.currentThread().isInterrupted()) {
      return new TransportException(
          Kind.CANCELLED, FailurePhase.AWAIT_HEADERS, 0, path + " was interrupted", e);
    }
    if (e instanceof InterruptedIOException) {
      return new TransportException(
          Kind.FIRST_TOKEN_TIMEOUT,
          FailurePhase.AWAIT_HEADERS,
          0,
          path + " did not answer in time",
          e);
    }
    boolean connect =
        e instanceof ConnectException
            || e instanceof UnknownHostException
            || e instanceof NoRouteToHostException
            || e instanceof javax.net.ssl.SSLException;
    return connect
        ? new TransportException(
            Kind.CONNECT, FailurePhase.CONNECT, 0, path + " can't be reached", e)
        : new TransportException(Kind.RESET, FailurePhase.AWAIT_HEADERS, 0, path + " broke off", e);
  }

  /** A deadline shared by the calls of one question. */
  static final class Budget {
    private final long untilNanos;

    Budget(Duration total) {
      this.untilNanos = System.nanoTime() + total.toNanos();
    }

    Duration left() {
      return Duration.ofNanos(Math.max(1, untilNanos - System.nanoTime()));
    }
  }
}

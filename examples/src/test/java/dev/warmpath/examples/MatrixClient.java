package dev.warmpath.examples;

import dev.warmpath.RouterClient;
import dev.warmpath.api.RouteDecision;
import dev.warmpath.api.RouterListener;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.fake.umbp.FakeUmbpMaster;
import dev.warmpath.grpc.GrpcTransport;
import dev.warmpath.okhttp.OkHttpTransport;
import dev.warmpath.okhttp.RoutingInterceptor;
import dev.warmpath.policy.Policies;
import dev.warmpath.prompt.tokenizer.Tokenizer;
import java.util.concurrent.ConcurrentLinkedQueue;
import okhttp3.MediaType;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import okhttp3.RequestBody;
import org.jspecify.annotations.Nullable;

/** A router of one of the matrix's fleets, and an OkHttp client that it routes. */
final class MatrixClient implements AutoCloseable {
  final RouterClient router;
  final OkHttpClient http;
  final MatrixFleet fleet;
  final WatchedTokenizer watched;
  final ConcurrentLinkedQueue<Exception> errors = new ConcurrentLinkedQueue<>();
  private final @Nullable String pin;

  /**
   * Opens a client and waits until it knows its workers.
   *
   * @param pin the worker that requests ask for, or null
   * @param master is asked where blocks are, or null
   */
  MatrixClient(
      String policy,
      MatrixFleet fleet,
      Tokenizer tokenizer,
      @Nullable String pin,
      @Nullable FakeUmbpMaster master,
      RouterListener listener) {
    this.fleet = fleet;
    this.pin = pin;
    this.watched = new WatchedTokenizer(tokenizer);
    RouterClient.Builder builder =
        RouterClient.builder()
            .transport(fleet.overGrpc() ? GrpcTransport.create() : OkHttpTransport.create())
            .policy(Policies.parse(policy))
            .prefillPolicy(Policies.parse(policy))
            .decodePolicy(Policies.parse(policy))
            .listener(listener)
            .seed(17);
    fleet.specs().forEach(builder::worker);
    if (fleet.exact()) {
      builder.model(MatrixFleet.MODEL, SmallModel.with(watched));
    }
    if (master != null) {
      fleet.ask(builder, master);
    }
    this.router = builder.build();
    OkHttpClient.Builder plain = new OkHttpClient.Builder();
    RoutingInterceptor.tune(plain);
    this.http = plain.addInterceptor(RoutingInterceptor.of(router)).build();
    fleet.awaitKnown(router);
  }

  RouterRequest request(String prompt, boolean stream) {
    RouterRequest.Builder request =
        RouterRequest.builder(RouterRequest.CHAT_COMPLETIONS).body(body(prompt, stream));
    if (pin != null) {
      request.pin(pin);
    }
    return request.build();
  }

  /** Sends a prompt to one worker. */
  RouteDecision sendTo(String worker, String prompt) {
    RouterRequest request =
        RouterRequest.builder(RouterRequest.CHAT_COMPLETIONS)
            .body(body(prompt, false))
            .pin(worker)
            .build();
    return router.send(request).decision();
  }

  Request call(String prompt) {
    Request.Builder request =
        new Request.Builder()
            .url("http://" + RoutingInterceptor.DEFAULT_HOST + RouterRequest.CHAT_COMPLETIONS)
            .post(RequestBody.create(body(prompt, false), MediaType.get("application/json")));
    if (pin != null) {
      request.header("x-warmpath-pin", pin);
    }
    return request.build();
  }

  private static String body(String prompt, boolean stream) {
    return "{\"model\":\""
        + MatrixFleet.MODEL
        + "\",\"max_tokens\":4,"
        + (stream ? "\"stream\":true,\"stream_options\":{\"include_usage\":true}," : "")
        + "\"messages\":[{\"role\":\"user\",\"content\":\""
        + prompt
        + "\"}]}";
  }

  @Override
  public void close() {
    http.dispatcher().executorService().shutdown();
    http.connectionPool().evictAll();
    router.close();
    Soon.await().until(() -> MatrixIT.promptThreads().isEmpty());
  }
}

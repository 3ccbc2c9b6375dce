package dev.warmpath.okhttp;

import dev.warmpath.RouterClient;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.health.WorkerView;
import dev.warmpath.policy.Policies;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import okhttp3.MediaType;
import okhttp3.OkHttp;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import okhttp3.RequestBody;
import okhttp3.Response;

/**
 * What an application does with the interceptor and the transport, under whatever OkHttp it is
 * loaded with; tells what it saw.
 */
public final class OkHttp4Scenario implements Function<String, List<String>> {
  private final List<String> seen = new ArrayList<>();

  /** Called reflectively. */
  public OkHttp4Scenario() {}

  @Override
  public List<String> apply(String worker) {
    seen.add("OkHttp " + OkHttp.VERSION);
    try (RouterClient router =
        RouterClient.builder()
            .transport(new QuietTransport(OkHttpTransport.create()))
            .policy(Policies.roundRobin())
            .worker(worker + ";engine=vllm")
            .build()) {
      OkHttpClient.Builder builder = new OkHttpClient.Builder();
      RoutingInterceptor.tune(builder);
      OkHttpClient http = builder.addInterceptor(RoutingInterceptor.of(router)).build();
      try {
        intercepted(http);
      } finally {
        http.dispatcher().executorService().shutdown();
        http.connectionPool().evictAll();
      }
      seen.add("sent " + router.send(RouterRequest.chatCompletions("{}")).status());
      int counted =
          router.stats().inFlight()
              + router.workers().list().stream()
                  .flatMap(view -> view.ranks().stream())
                  .mapToInt(WorkerView.RankView::inFlight)
                  .sum();
      seen.add("in flight " + counted);
      router.close(Duration.ofSeconds(5));
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
    return seen;
  }

  private void intercepted(OkHttpClient http) throws IOException {
    for (String path : List.of("/v1/chat/completions", "/v1/completions", "/v1/chat/completions")) {
      RequestBody body = RequestBody.create("{\"model\":\"m\"}", MediaType.get("application/json"));
      Request request =
          new Request.Builder()
              .url("http://" + RoutingInterceptor.DEFAULT_HOST + path)
              .header("Authorization", "Bearer application-key")
              .post(body)
              .build();
      try (Response response = http.newCall(request).execute()) {
        seen.add(
            response.code()
                + " "
                + response.request().url()
                + " "
                + response.header("x-warmpath-attempts")
                + " "
                + response.body().string().length());
      }
    }
  }
}

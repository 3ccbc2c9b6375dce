package dev.warmpath.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import dev.warmpath.api.RouteDecision;
import dev.warmpath.api.RouterResponse;
import dev.warmpath.api.RouterStream;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import okhttp3.Call;
import okhttp3.Response;

/** How a request of the matrix is sent. */
enum MatrixWay {
  SEND {
    @Override
    RouteDecision ok(MatrixClient client, String prompt) {
      RouterResponse response = client.router.send(client.request(prompt, false));
      assertThat(response.status()).isEqualTo(200);
      assertThat(response.usage()).isNotNull();
      return response.decision();
    }

    @Override
    Runnable begin(MatrixClient client, String prompt) {
      Thread thread =
          new Thread(
              () -> {
                try {
                  client.router.send(client.request(prompt, false));
                } catch (RuntimeException expected) {
                  client.errors.add(expected);
                }
              });
      thread.start();
      return () -> {
        thread.interrupt();
        join(thread);
      };
    }
  },
  SEND_ASYNC {
    @Override
    RouteDecision ok(MatrixClient client, String prompt) throws Exception {
      RouterResponse response =
          client.router.sendAsync(client.request(prompt, false)).get(30, TimeUnit.SECONDS);
      assertThat(response.status()).isEqualTo(200);
      return response.decision();
    }

    @Override
    Runnable begin(MatrixClient client, String prompt) {
      CompletableFuture<RouterResponse> future =
          client.router.sendAsync(client.request(prompt, false));
      return () -> assertThat(future.cancel(true)).isTrue();
    }
  },
  STREAM {
    @Override
    RouteDecision ok(MatrixClient client, String prompt) {
      try (RouterStream stream = client.router.stream(client.request(prompt, true))) {
        int events = 0;
        while (stream.next() != null) {
          events++;
        }
        assertThat(events).isPositive();
        assertThat(stream.usage()).isNotNull();
        return stream.decision();
      }
    }

    @Override
    Runnable begin(MatrixClient client, String prompt) {
      CompletableFuture<RouterStream> future =
          client.router.streamAsync(client.request(prompt, true));
      return () -> assertThat(future.cancel(true)).isTrue();
    }
  },
  /** Of OkHttp, which speaks to HTTP workers only. */
  INTERCEPTOR {
    @Override
    RouteDecision ok(MatrixClient client, String prompt) throws Exception {
      try (Response response = client.http.newCall(client.call(prompt)).execute()) {
        assertThat(response.code()).isEqualTo(200);
        assertThat(response.body().string()).contains("choices");
        assertThat(response.header("x-warmpath-worker")).startsWith("http://127.0.0.1:");
        return response.request().tag(RouteDecision.class);
      }
    }

    @Override
    Runnable begin(MatrixClient client, String prompt) {
      Call call = client.http.newCall(client.call(prompt));
      Thread thread =
          new Thread(
              () -> {
                try (Response response = call.execute()) {
                  fail("the call was to be cancelled, not answered " + response.code());
                } catch (Exception expected) {
                  client.errors.add(expected);
                }
              });
      thread.start();
      return () -> {
        call.cancel();
        join(thread);
      };
    }
  };

  /** How a request of the matrix ends. */
  enum Outcome {
    OK,
    CANCEL,
    FAULT
  }

  /** Whether requests to a fleet can be sent this way. */
  boolean reaches(MatrixFleet fleet) {
    return this != INTERCEPTOR || !fleet.overGrpc();
  }

  /** Whether the prompt is read by another thread than the caller's. */
  boolean apart(Outcome outcome) {
    return switch (this) {
      case SEND -> false;
      case STREAM -> outcome == Outcome.CANCEL;
      case SEND_ASYNC, INTERCEPTOR -> true;
    };
  }

  /** Sends and takes the whole answer. */
  abstract RouteDecision ok(MatrixClient client, String prompt) throws Exception;

  /** Begins to send; the result cancels. */
  abstract Runnable begin(MatrixClient client, String prompt);

  private static void join(Thread thread) {
    try {
      thread.join(30_000);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
    assertThat(thread.isAlive()).isFalse();
  }
}

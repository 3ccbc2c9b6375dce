package dev.warmpath.okhttp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import dev.warmpath.RouterClient;
import dev.warmpath.api.PrefillDecodeException;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.api.RouterStream;
import dev.warmpath.pd.PdSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import mockwebserver3.MockResponse;
import mockwebserver3.RecordedRequest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What counts as the end of a leg on the wire: bytes of a prefill and of a decode worker that a
 * session reads through the transport. Every test ends with no session, place or connection left.
 */
class PairEndsIT {
  private static final String BODY =
      "{\"model\":\"m\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}";
  private static final String TOKEN = "{\"choices\":[{\"delta\":{\"content\":\"x\"}}]}";
  private static final String EVENT = "data: " + TOKEN + "\n\n";
  private static final String DONE = "data: [DONE]\n\n";

  private final MockWorker prefill = MockWorker.started();
  private final MockWorker decode = MockWorker.started();
  private final OkHttpTransport transport = OkHttpTransport.create();
  private final RouterClient router =
      RouterClient.builder()
          .transport(transport)
          .prefillDecode(PdSettings.DEFAULT.withMaxAttempts(1))
          .worker(prefill.url() + ";role=prefill;engine=sglang;model=m")
          .worker(decode.url() + ";role=decode;engine=sglang;model=m")
          .build();

  private static MockResponse stream(String body, int chunk) {
    return new MockResponse.Builder()
        .setHeader("Content-Type", "text/event-stream")
        .chunkedBody(body, chunk)
        .build();
  }

  private static boolean generates(RecordedRequest request) {
    return request.getTarget().equals(RouterRequest.CHAT_COMPLETIONS);
  }

  private void answers(String ofPrefill, String ofDecode, int chunk) {
    prefill.answers(r -> generates(r) ? stream(ofPrefill, chunk) : MockWorker.json(200, "{}"));
    decode.answers(r -> generates(r) ? stream(ofDecode, chunk) : MockWorker.json(200, "{}"));
  }

  private RouterStream begin() {
    return router.stream(RouterRequest.chatCompletions(BODY));
  }

  private static List<String> drain(RouterStream stream) {
    try (stream) {
      List<String> events = new ArrayList<>();
      stream.forEach(event -> events.add(event.data()));
      return events;
    }
  }

  @AfterEach
  void nothingIsLeft() {
    await()
        .atMost(Duration.ofMinutes(1))
        .untilAsserted(
            () -> {
              assertThat(router.stats().pd().liveSessions()).isZero();
              assertThat(router.stats().pd().liveRooms()).isZero();
              assertThat(router.stats().inFlight()).isZero();
            });
    router.close();
    transport.close();
    prefill.close();
    decode.close();
  }

  @Test
  void i16_decodes_stream_that_ends_without_its_terminal_is_a_failure() {
    answers(EVENT + DONE, EVENT + EVENT, 1_024);
    try (RouterStream stream = begin()) {
      assertThat(stream.next().data()).isEqualTo(TOKEN);
      PrefillDecodeException broken =
          catchThrowableOfType(
              PrefillDecodeException.class,
              () -> {
                while (stream.next() != null) {
                  // reads what had come
                }
              });
      assertThat(broken.phase()).isEqualTo(PrefillDecodeException.Phase.DECODE_STREAM);
      assertThat(broken.blamed()).isEqualTo("decode");
    }
  }

  @Test
  void i16_the_text_of_a_terminal_inside_an_answer_is_none() {
    String quoted = "{\"choices\":[{\"delta\":{\"content\":\"data: [DONE]\\n\\ndata: [DONE]\"}}]}";
    answers(EVENT + DONE, "data: " + quoted + "\n\n" + EVENT + DONE, 1_024);
    assertThat(drain(begin())).containsExactly(quoted, TOKEN);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3, 7})
  void i16_a_terminal_that_is_split_over_packets_is_one(int bytes) {
    answers(EVENT + DONE, EVENT + EVENT + DONE, bytes);
    assertThat(drain(begin())).containsExactly(TOKEN, TOKEN);
    await()
        .atMost(Duration.ofMinutes(1))
        .untilAsserted(
            () ->
                assertThat(router.stats().pd().sessions())
                    .containsEntry("concurrent/completed", 1L));
  }

  @Test
  void i15_an_error_object_in_prefills_stream_under_status_200_is_seen() {
    String error = "{\"error\":{\"message\":\"KVTransferError(bootstrap_room=1): gone\"}}";
    answers(EVENT + "data: " + error + "\n\n" + DONE, EVENT, 1_024);
    decode.answers(
        request ->
            generates(request)
                ? new MockResponse.Builder()
                    .headersDelay(30, java.util.concurrent.TimeUnit.SECONDS)
                    .build()
                : MockWorker.json(200, "{}"));
    PrefillDecodeException failed = catchThrowableOfType(PrefillDecodeException.class, this::begin);
    assertThat(failed.prefillOutcome()).isEqualTo("protocol_error");
    assertThat(failed.decodeOutcome()).as("its victim").isEqualTo("cancelled");
  }

  @Test
  void i12_an_error_in_decodes_stream_that_tells_of_prefill_is_prefills() {
    String error =
        "{\"error\":{\"message\":\"Lost connection with prefill instance\",\"code\":500}}";
    answers(EVENT + DONE, "data: " + error + "\n\n" + DONE, 1_024);
    PrefillDecodeException failed = catchThrowableOfType(PrefillDecodeException.class, this::begin);
    assertThat(failed.decodeOutcome()).isEqualTo("protocol_error");
    assertThat(failed.blamed()).isEqualTo("prefill");
  }

  @Test
  void i22_a_session_that_succeeds_reads_prefills_answer_to_its_end_and_aborts_nothing() {
    answers(EVENT.repeat(200) + DONE, EVENT + DONE, 64);
    for (int i = 1; i <= 3; i++) {
      assertThat(drain(begin())).containsExactly(TOKEN);
      long done = i;
      await()
          .atMost(Duration.ofMinutes(1))
          .untilAsserted(
              () -> assertThat(router.stats().pd().legs()).containsEntry("prefill/ok", done));
    }
    assertThat(router.stats().pd().legs()).containsOnlyKeys("prefill/ok", "decode/ok");
    assertThat(router.stats().pd().aborts()).isEmpty();
  }
}

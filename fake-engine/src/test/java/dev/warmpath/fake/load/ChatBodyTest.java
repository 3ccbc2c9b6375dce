package dev.warmpath.fake.load;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.fake.text.FakeTokenizer;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ChatBodyTest {
  private static final LoadSettings SETTINGS =
      new LoadSettings("m", 1, 1, true, 99, 50, false, Duration.ofSeconds(1), 1);

  private static JsonNode next(ChatBody chat) throws IOException {
    return new ObjectMapper().readTree(chat.next(SETTINGS));
  }

  private static int tokens(JsonNode message) {
    return FakeTokenizer.encode(message.path("content").asText()).length;
  }

  @Test
  void aDocumentMayBeLeftOutOfThePrompt() throws IOException {
    BlockIds ids = new BlockIds();
    TraceSession session =
        new SessionBuilder("s", "", 0, ids)
            .system(ids.take(64))
            .document(ids.take(192))
            .turn(100, 10, 0)
            .build();
    JsonNode whole = next(new ChatBody(session)).path("messages");
    JsonNode apart =
        new ObjectMapper()
            .readTree(new ChatBody(session).next(SETTINGS.withDocumentsApart()))
            .path("messages");

    assertThat(apart.get(0)).isEqualTo(whole.get(0));
    assertThat(tokens(apart.get(1))).isEqualTo(100);
    assertThat(whole.at("/1/content").asText())
        .isEqualTo(session.document() + apart.at("/1/content").asText());
  }

  @Test
  void textIsAsLongAsTheTraceAndTheAnswersStandInIt() throws IOException {
    BlockIds ids = new BlockIds();
    ChatBody chat =
        new ChatBody(
            new SessionBuilder("s", "", 0, ids)
                .system(ids.take(128))
                .turn(100, 10, 0)
                .turn(30, 80, 5)
                .build());
    JsonNode first = next(chat);
    assertThat(first.at("/messages")).hasSize(2);
    assertThat(first.at("/messages/0/role").asText()).isEqualTo("system");
    assertThat(tokens(first.at("/messages/0"))).isEqualTo(128);
    assertThat(tokens(first.at("/messages/1"))).isEqualTo(100);
    assertThat(first.at("/max_tokens").asInt()).isEqualTo(10);
    chat.answered("so it is");
    JsonNode second = next(chat);
    assertThat(second.at("/messages")).hasSize(4);
    assertThat(second.at("/messages/0")).isEqualTo(first.at("/messages/0"));
    assertThat(second.at("/messages/1")).isEqualTo(first.at("/messages/1"));
    assertThat(second.at("/messages/2/content").asText()).isEqualTo("so it is");
    assertThat(tokens(second.at("/messages/3"))).isEqualTo(30);
    assertThat(second.at("/max_tokens").asInt()).isEqualTo(50);
  }

  @Test
  void equalBlocksAreEqualText() throws IOException {
    List<TraceSession> rows = Workloads.trace(MooncakeTrace.sample(), Map.of(), 1);
    String first = next(new ChatBody(rows.get(0))).at("/messages/0/content").asText();
    String second = next(new ChatBody(rows.get(1))).at("/messages/0/content").asText();
    int block = 4 * TraceRequest.MOONCAKE_BLOCK_TOKENS;
    assertThat(second).startsWith(first.substring(0, block));
    assertThat(first.substring(block, block + 64))
        .isNotEqualTo(second.substring(block, block + 64));
  }

  @Test
  void aTurnThatGoesOnWithNothingIsAChatOfItsOwn() throws IOException {
    TraceRequest one = new TraceRequest(0, "s", 0, 8, 2, new long[] {1, 2}, 4, "");
    TraceRequest other = new TraceRequest(9, "s", 1, 16, 2, new long[] {5, 6, 7, 8}, 4, "");
    ChatBody chat = new ChatBody(new TraceSession("s", 4, List.of(one, other)));
    assertThat(next(chat).at("/messages")).hasSize(2);
    chat.answered("x");
    JsonNode body = next(chat);
    assertThat(body.at("/messages")).hasSize(1);
    assertThat(tokens(body.at("/messages/0"))).isEqualTo(16);
  }
}

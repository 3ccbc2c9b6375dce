package dev.warmpath.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.RouterClient;
import dev.warmpath.api.RouteDecision;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.api.RouterResponse;
import dev.warmpath.api.Usage;
import dev.warmpath.fake.FakeFleet;
import dev.warmpath.fake.scheduler.LatencyModel;
import dev.warmpath.fake.text.PromptEncoder;
import dev.warmpath.okhttp.OkHttpTransport;
import dev.warmpath.policy.Policies;
import dev.warmpath.prompt.ModelFiles;
import dev.warmpath.worker.EngineKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * What the client knows of a prompt is what the engine makes of it: chats with tools go through a
 * router to workers whose prompts Jinja2 renders and Hugging Face's tokenizers tokenize. Needs
 * {@code python3} with Jinja2, and the model files that core's {@code fetch-tokenizers.sh} puts
 * into the folder that {@code WARMPATH_TOKENIZERS} (or the system property {@code
 * warmpath.tokenizers}) names.
 */
@Tag("conformance")
class ExactPromptsIT {
  private static final String MODEL = "qwen3";
  private static final int WORKERS = 3;
  private static final int CHATS = Integer.getInteger("warmpath.conformance.chats", 300);

  /** The client's index compares blocks of this size, whatever the engine's is. */
  private static final int CLIENT_BLOCK_TOKENS = 16;

  /** Chats under way at a time. */
  private static final int OPEN = 16;

  private static Path model;
  private static ReferenceEncoder reference;

  @BeforeAll
  static void startReference() throws IOException, InterruptedException {
    String folder = System.getProperty("warmpath.tokenizers", System.getenv("WARMPATH_TOKENIZERS"));
    assumeTrue(
        folder != null && Files.isRegularFile(Path.of(folder, MODEL, "tokenizer.json")),
        "WARMPATH_TOKENIZERS names no folder with the tokenizer of " + MODEL);
    assumeTrue(ReferenceEncoder.available(), "there is no python3 with jinja2");
    model = Path.of(folder, MODEL);
    reference = ReferenceEncoder.start(model);
  }

  @AfterAll
  static void stopReference() throws IOException {
    if (reference != null) {
      reference.close();
    }
  }

  /** What the requests of a run had in common with their predictions. */
  private static final class Tally {
    final int blockTokens;
    int requests;
    int exact;
    int foretold;
    long promptTokens;
    long cachedTokens;
    final List<String> miscounted = new ArrayList<>();
    final List<String> mispredicted = new ArrayList<>();

    Tally(int blockTokens) {
      this.blockTokens = Math.max(blockTokens, CLIENT_BLOCK_TOKENS);
    }

    void add(RouteDecision decision, Usage usage) {
      requests++;
      promptTokens += usage.promptTokens();
      cachedTokens += usage.cachedTokens();
      if (!decision.prompt().exactness().equals("exact")) {
        return;
      }
      exact++;
      int predicted = decision.chosen().matchedTokens();
      String difference =
          "request %d: %d tokens, %d of them cached, where it predicted %d and %d"
              .formatted(
                  requests,
                  usage.promptTokens(),
                  usage.cachedTokens(),
                  decision.prompt().tokens(),
                  predicted);
      if (decision.prompt().tokens() != usage.promptTokens()) {
        miscounted.add(difference);
      } else if (Math.abs(predicted - usage.cachedTokens()) > blockTokens) {
        mispredicted.add(difference);
      } else {
        foretold++;
      }
    }

    @Override
    public String toString() {
      return "%d requests, %d exact, %d foretold to within a block, %d of %d tokens cached; %s"
          .formatted(requests, exact, foretold, cachedTokens, promptTokens, mispredicted);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "VLLM, 16, cache_aware",
    "VLLM, 16, linear_cost",
    "SGLANG, 64, cache_aware",
    "SGLANG, 1, linear_cost"
  })
  void predictsWhatTheEngineReports(
      EngineKind kind, int blockTokens, String policy, TestReporter reporter) {
    Tally tally = new Tally(blockTokens);
    try (FakeFleet fleet =
            FakeFleet.start(
                Integer.toString(WORKERS),
                builder ->
                    builder
                        .kind(kind)
                        .model(MODEL)
                        .blockSize(blockTokens)
                        .blocks((1 << 22) / blockTokens)
                        .timing(LatencyModel.instant())
                        .promptEncoder(reference.of(kind)));
        RouterClient router = router(fleet, policy)) {
      run(router, reference.of(kind), tally);
    }
    reporter.publishEntry(kind + " " + blockTokens + " " + policy, tally.toString());
    assertThat(tally.requests).isGreaterThan(3 * CHATS);
    assertThat(tally.miscounted).isEmpty();
    assertThat(tally.exact / (double) tally.requests).as(tally.toString()).isGreaterThan(0.99);
    assertThat(tally.foretold / (double) tally.requests).as(tally.toString()).isGreaterThan(0.99);
    assertThat(tally.cachedTokens).as(tally.toString()).isGreaterThan(tally.promptTokens / 2);
  }

  /** The command line tokenizes a chat as it stands in a file. */
  @Test
  void theCommandLineTokenizesTheSameChats(@TempDir Path folder) throws Exception {
    PromptEncoder encoder = reference.of(EngineKind.UNKNOWN);
    for (int seed = 0; seed < 12; seed++) {
      ChatWithTools chat = new ChatWithTools(seed, MODEL);
      String body = chat.nextTurn();
      while (chat.goesOn()) {
        chat.answered("so be it");
        body = chat.nextTurn();
      }
      Path file = Files.writeString(folder.resolve("chat.json"), body);
      Run run =
          Run.of(
              "tokenize", "--tokenizer", model.toString(), "--messages", file.toString(), "--json");
      assertThat(run.exitCode()).as(run.err()).isZero();
      int[] ids = encoder.encodeChat((ObjectNode) new ObjectMapper().readTree(body));
      JsonNode document = run.json();
      assertThat(document.path("ids")).hasSize(ids.length);
      for (int i = 0; i < ids.length; i++) {
        assertThat(document.path("ids").get(i).asInt()).as("id %d", i).isEqualTo(ids[i]);
      }
      assertThat(encoder.encode(document.path("text").asText(), false)).isEqualTo(ids);
    }
  }

  private static RouterClient router(FakeFleet fleet, String policy) {
    RouterClient.Builder builder =
        RouterClient.builder()
            .transport(OkHttpTransport.create())
            .policy(Policies.parse(policy))
            .model(MODEL, ModelFiles.of(model))
            .seed(5);
    fleet.urls().forEach(builder::worker);
    RouterClient router = builder.build();
    assertThat(router.awaitReady(Duration.ofSeconds(30))).isTrue();
    Views.awaitLooked(router, Duration.ofSeconds(30));
    return router;
  }

  /** Sends turns of several open chats in random order, one after another. */
  private static void run(RouterClient router, PromptEncoder encoder, Tally tally) {
    Random random = new Random(3);
    List<ChatWithTools> open = new ArrayList<>();
    int begun = 0;
    while (begun < CHATS || !open.isEmpty()) {
      while (open.size() < OPEN && begun < CHATS) {
        open.add(new ChatWithTools(begun++, MODEL));
      }
      int at = random.nextInt(open.size());
      ChatWithTools chat = open.get(at);
      RouterResponse response = router.send(RouterRequest.chatCompletions(chat.nextTurn()));
      assertThat(response.status()).as(response.text()).isEqualTo(200);
      String said = Run.text(response.text(), "choices", 0, "message", "content");
      // so that what the engine has computed is what the next turn's prompt has in its place
      assertThat(encoder.encode(said, false)).hasSize(response.usage().completionTokens());
      tally.add(response.decision(), response.usage());
      chat.answered(said);
      if (!chat.goesOn()) {
        open.remove(at);
      }
    }
  }
}

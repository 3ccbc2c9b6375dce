package dev.warmpath.examples.rag;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.RouterClient;
import dev.warmpath.api.KnowledgeInfo;
import dev.warmpath.api.KnowledgeInjection;
import dev.warmpath.api.KnowledgeNeeds;
import dev.warmpath.api.RouteDecision;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.api.RouterStream;
import dev.warmpath.api.StreamEvent;
import dev.warmpath.api.Usage;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Answers questions from what the client's retriever finds. All that makes it a RAG service is
 * {@link KnowledgeNeeds#retrieved()}: the client looks for the knowledge, decides which node and
 * which worker, and puts it into the prompt, as text or as KV. Thread safe where the client is.
 */
public final class RagService {
  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final String SYSTEM = "Answer from what you are given, and say so if you can't.";

  private final RouterClient router;
  private final String model;
  private final int maxTokens;

  /**
   * A service over a client that has a retriever; the client stays its owner's.
   *
   * @param model the served model's name
   * @param maxTokens the longest answer
   */
  public RagService(RouterClient router, String model, int maxTokens) {
    this.router = router;
    this.model = model;
    this.maxTokens = maxTokens;
  }

  /**
   * An answer.
   *
   * @param text what was said
   * @param firstTokenMillis from the question to the answer's first token, retrieval included
   * @param usage what the engine counted; null where it didn't say
   * @param knowledge what was found and how it was injected; null where nothing was
   * @param worker who answered; null where that isn't known
   */
  public record Answer(
      String text,
      double firstTokenMillis,
      @Nullable Usage usage,
      @Nullable KnowledgeInfo knowledge,
      @Nullable String worker) {
    /** Sizes only: never the text. */
    @Override
    public String toString() {
      return "Answer[" + text.length() + " characters, " + usage + "]";
    }
  }

  /**
   * Answers a question.
   *
   * @param way how knowledge comes to the worker
   * @throws dev.warmpath.api.RouterException when there is no answer
   * @throws IOException when the worker's stream is no JSON
   */
  public Answer ask(String question, KnowledgeInjection way) throws IOException {
    long from = System.nanoTime();
    RouterRequest request =
        RouterRequest.builder(RouterRequest.CHAT_COMPLETIONS)
            .body(body(question))
            .knowledge(KnowledgeNeeds.retrieved().injectedAs(way))
            .build();
    StringBuilder text = new StringBuilder();
    double first = Double.NaN;
    try (RouterStream stream = router.stream(request)) {
      for (StreamEvent event = stream.next(); event != null; event = stream.next()) {
        String said = said(event);
        if (!said.isEmpty() && Double.isNaN(first)) {
          first = (System.nanoTime() - from) / 1e6;
        }
        text.append(said);
      }
      RouteDecision decision = stream.decision();
      RouteDecision.CandidateView chosen = decision.chosen();
      return new Answer(
          text.toString(),
          first,
          stream.usage(),
          decision.knowledge(),
          chosen == null ? null : chosen.worker());
    }
  }

  private byte[] body(String question) {
    ObjectNode body = MAPPER.createObjectNode();
    body.put("model", model).put("max_tokens", maxTokens).put("stream", true);
    body.putObject("stream_options").put("include_usage", true);
    var messages = body.putArray("messages");
    messages.addObject().put("role", "system").put("content", SYSTEM);
    messages.addObject().put("role", "user").put("content", Objects.requireNonNull(question));
    return body.toString().getBytes(StandardCharsets.UTF_8);
  }

  private static String said(StreamEvent event) throws IOException {
    if (!event.data().startsWith("{")) {
      return "";
    }
    JsonNode content = MAPPER.readTree(event.data()).at("/choices/0/delta/content");
    return content.isTextual() ? content.asText() : "";
  }
}

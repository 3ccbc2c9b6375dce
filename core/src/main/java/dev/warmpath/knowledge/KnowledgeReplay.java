package dev.warmpath.knowledge;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.List;

/**
 * A recorded state of nodes and targets with the decisions before it, to be decided again: offline,
 * with other settings, as often as one likes.
 *
 * <p>The JSON has {@code kdns}, {@code proxies}, {@code knowledge_list} and {@code
 * kdn_knowledge_index} as CacheRoute v0.1.9 names them, {@code env} (options by the suffix of
 * CacheRoute's environment variables) and {@code prior}, an array of earlier requests with {@code
 * proxies} and {@code kids}, and {@code kdns} and {@code index} where they differ. Immutable.
 */
public final class KnowledgeReplay {

  private static final ObjectMapper MAPPER = new ObjectMapper();

  private final JsonNode environment;
  private final List<Request> prior;
  private final Request last;

  private record Request(
      KnowledgeCatalogue catalogue, List<KnowledgeTarget> targets, List<String> knowledge) {}

  /**
   * What a replay gives.
   *
   * @param decision of the last request
   * @param strategy which made it, with what it counted and remembers
   */
  public record Outcome(KnowledgeDecision decision, KnowledgeStrategy strategy) {}

  private KnowledgeReplay(JsonNode environment, List<Request> prior, Request last) {
    this.environment = environment;
    this.prior = List.copyOf(prior);
    this.last = last;
  }

  /**
   * Reads a state.
   *
   * @throws IllegalArgumentException if it isn't one; the message names what is wrong
   */
  public static KnowledgeReplay parse(String json) {
    JsonNode root;
    try {
      root = MAPPER.readTree(json);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(
          "the state is not JSON, see line " + e.getLocation().getLineNr(), e);
    }
    if (root == null || !root.isObject()) {
      throw new IllegalArgumentException("the state must be a JSON object");
    }
    JsonNode index = root.path("kdn_knowledge_index");
    List<Request> prior = new ArrayList<>();
    for (JsonNode earlier : root.path("prior")) {
      prior.add(
          request(
              earlier.has("kdns") ? earlier.path("kdns") : root.path("kdns"),
              earlier.has("index") ? earlier.path("index") : index,
              earlier.path("proxies"),
              KnowledgeJson.ids("kids", earlier.path("kids"))));
    }
    Request last =
        request(
            root.path("kdns"),
            index,
            root.path("proxies"),
            KnowledgeJson.ids("knowledge_list", root.path("knowledge_list")));
    return new KnowledgeReplay(root.path("env"), prior, last);
  }

  private static Request request(
      JsonNode nodes, JsonNode index, JsonNode targets, List<String> knowledge) {
    return new Request(
        KnowledgeCatalogue.of(KnowledgeJson.nodes(nodes, index)),
        KnowledgeJson.targets(targets),
        knowledge);
  }

  /**
   * The settings with what the state's {@code env} changes.
   *
   * @throws IllegalArgumentException if an option is unknown or no number
   */
  public KnowledgeSettings settings(KnowledgeSettings base) {
    return KnowledgeEnvironment.apply(environment, base);
  }

  /** Who would be asked in the last request. */
  public List<KnowledgeTarget> targets() {
    return last.targets;
  }

  /**
   * Decides the earlier requests and then the last one, with a strategy that remembers nothing yet.
   */
  public Outcome run(KnowledgeSettings settings) {
    KnowledgeStrategy strategy = new KnowledgeStrategy(settings);
    for (Request earlier : prior) {
      strategy.decide(earlier.catalogue, earlier.targets, earlier.knowledge);
    }
    KnowledgeDecision decision = strategy.decide(last.catalogue, last.targets, last.knowledge);
    return new Outcome(decision, strategy);
  }
}

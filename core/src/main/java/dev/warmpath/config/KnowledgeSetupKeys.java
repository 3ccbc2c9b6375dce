package dev.warmpath.config;

import static dev.warmpath.config.ConfigTypes.BYTES;
import static dev.warmpath.config.ConfigTypes.DECIMAL;
import static dev.warmpath.config.ConfigTypes.DURATION;
import static dev.warmpath.config.ConfigTypes.TEXT;
import static dev.warmpath.config.ConfigTypes.count;
import static dev.warmpath.config.ConfigTypes.list;
import static dev.warmpath.config.ConfigTypes.named;
import static dev.warmpath.config.ConfigTypes.oneOf;
import static dev.warmpath.config.ConfigTypes.texts;

import dev.warmpath.api.KnowledgeInjection;
import dev.warmpath.knowledge.InjectionPosition;
import dev.warmpath.knowledge.InjectionSettings;
import dev.warmpath.knowledge.KnowledgeLink;
import dev.warmpath.knowledge.KnowledgeRouting;
import dev.warmpath.knowledge.KvCost;
import dev.warmpath.knowledge.RegistrySettings;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/** The keys of who knowledge nodes are, and of how knowledge comes into prompts. */
final class KnowledgeSetupKeys {
  private static final int MANY = Integer.MAX_VALUE;

  private final ConfigKey<Map<String, URI>> nodes;
  private final ConfigKey<List<Link>> links;
  private final ConfigKey<Map<String, Integer>> capacities;

  private final ConfigKey<KnowledgeInjection> way;
  private final ConfigKey<InjectionPosition> position;
  private final ConfigKey<String> heading;
  private final ConfigKey<Duration> textTimeout;
  private final ConfigKey<Duration> kvTimeout;
  private final ConfigKey<Duration> kvMemory;
  private final ConfigKey<Integer> injectPort;
  private final ConfigKey<Integer> maxPieces;
  private final ConfigKey<Integer> maxCharacters;
  private final ConfigKey<Long> textCache;

  private final ConfigKey<Double> charactersPerToken;
  private final ConfigKey<Integer> chunkTokens;
  private final ConfigKey<Double> bytesPerToken;
  private final ConfigKey<Double> linkMbps;
  private final ConfigKey<Double> linkEfficiency;
  private final ConfigKey<Double> loadMillisPerToken;
  private final ConfigKey<Double> loadMillis;
  private final ConfigKey<Double> queuePenalty;
  private final ConfigKey<Double> marginMillis;
  private final ConfigKey<Double> prefillSpeed;

  private final ConfigKey<Duration> ttl;
  private final ConfigKey<Duration> refresh;
  private final ConfigKey<Duration> pollTimeout;
  private final ConfigKey<Duration> rest;
  private final ConfigKey<Integer> maxNodes;
  private final ConfigKey<Integer> maxTargets;
  private final ConfigKey<Integer> maxPiecesPerNode;

  /** Adds the keys. */
  KnowledgeSetupKeys(ConfigTable table) {
    nodes =
        table.fixed(
            WhyFixed.KNOWLEDGE,
            "knowledge.nodes",
            named(texts("URL", "", KnowledgeSetupKeys::url, "a URL")),
            Map.of(),
            "The base URLs of nodes that don't register themselves, by their ids.");
    links =
        table.fixed(
            WhyFixed.KNOWLEDGE,
            "knowledge.links",
            list(Link.TYPE),
            List.of(),
            "The links between targets and nodes; what a target that registers says goes before.");
    capacities =
        table.fixed(
            WhyFixed.KNOWLEDGE,
            "knowledge.capacities",
            named(count(1, MANY)),
            Map.of(),
            "How many requests a target may work on at once, where it doesn't say so itself.");

    InjectionSettings in = InjectionSettings.DEFAULT;
    String name = "knowledge.injection.";
    way =
        table.fixed(
            WhyFixed.KNOWLEDGE,
            name + "way",
            oneOf(KnowledgeInjection.values()),
            in.way(),
            "How knowledge comes to workers, unless a request says otherwise.");
    position =
        table.fixed(
            WhyFixed.KNOWLEDGE,
            name + "position",
            oneOf(InjectionPosition.values()),
            in.position(),
            "Where text is put that no KV is injected for; behind the system message where text is"
                + " all that is asked for, else before it, by default.");
    heading =
        table.fixed(
            WhyFixed.KNOWLEDGE,
            name + "heading",
            TEXT,
            in.heading(),
            "What is said above text that isn't at the front; empty for nothing.");
    textTimeout =
        table.fixed(
            WhyFixed.KNOWLEDGE,
            name + "text_timeout",
            DURATION,
            in.textTimeout(),
            "For fetching texts, in all; no more than a quarter of the deadline.");
    kvTimeout =
        table.fixed(
            WhyFixed.KNOWLEDGE,
            name + "kv_timeout",
            DURATION,
            in.kvTimeout(),
            "For KV to be in place, likewise.");
    kvMemory =
        table.fixed(
            WhyFixed.KNOWLEDGE,
            name + "kv_memory",
            DURATION,
            in.kvMemory(),
            "For how long KV that was put in place counts as being there; 0 goes by predictions"
                + " alone.");
    injectPort =
        table.fixed(
            WhyFixed.KNOWLEDGE,
            name + "inject_port",
            count(1, 65_535),
            null,
            "The port of the control plane beside each worker, where KV is asked for.");
    maxPieces =
        table.fixed(
            WhyFixed.KNOWLEDGE,
            name + "max_pieces",
            count(1, MANY),
            in.maxPieces(),
            "Pieces of one request at most.");
    maxCharacters =
        table.fixed(
            WhyFixed.KNOWLEDGE,
            name + "max_characters",
            count(1, MANY),
            in.maxCharacters(),
            "Characters that are put into a prompt at most.");
    textCache =
        table.fixed(
            WhyFixed.KNOWLEDGE,
            name + "text_cache_bytes",
            BYTES,
            in.textCacheBytes(),
            "What texts that are kept may take on the heap.");

    KvCost cost = in.cost();
    name = "knowledge.injection.cost.";
    charactersPerToken =
        table.fixed(
            WhyFixed.KNOWLEDGE,
            name + "characters_per_token",
            DECIMAL,
            cost.charactersPerToken(),
            "By how many characters a token is estimated.");
    chunkTokens =
        table.fixed(
            WhyFixed.KNOWLEDGE,
            name + "chunk_tokens",
            count(1, MANY),
            cost.chunkTokens(),
            "KV is found again in whole chunks of so many tokens only.");
    bytesPerToken =
        table.fixed(
            WhyFixed.KNOWLEDGE,
            name + "bytes_per_token",
            DECIMAL,
            cost.bytesPerToken(),
            "KV that is transferred for a token.");
    linkMbps =
        table.fixed(
            WhyFixed.KNOWLEDGE,
            name + "link_mbps",
            DECIMAL,
            cost.linkMbps(),
            "Bandwidth of a link that isn't told.");
    linkEfficiency =
        table.fixed(
            WhyFixed.KNOWLEDGE,
            name + "link_efficiency",
            DECIMAL,
            cost.linkEfficiency(),
            "The part of a link's bandwidth that a transfer gets.");
    loadMillisPerToken =
        table.fixed(
            WhyFixed.KNOWLEDGE,
            name + "load_millis_per_token",
            DECIMAL,
            cost.loadMillisPerToken(),
            "Milliseconds for the engine to load a token's KV.");
    loadMillis =
        table.fixed(
            WhyFixed.KNOWLEDGE,
            name + "load_millis",
            DECIMAL,
            cost.loadMillis(),
            "Milliseconds that each load adds.");
    queuePenalty =
        table.fixed(
            WhyFixed.KNOWLEDGE,
            name + "queue_penalty",
            DECIMAL,
            cost.queuePenalty(),
            "How much of a node's queue counts on top of itself, since it may grow.");
    marginMillis =
        table.fixed(
            WhyFixed.KNOWLEDGE,
            name + "margin_millis",
            DECIMAL,
            cost.marginMillis(),
            "Milliseconds by which KV has to be quicker to be worth it.");
    prefillSpeed =
        table.fixed(
            WhyFixed.KNOWLEDGE,
            name + "prefill_tokens_per_second",
            DECIMAL,
            cost.prefillTokensPerSecond(),
            "How fast prompts are computed where that wasn't measured yet.");

    RegistrySettings kept = RegistrySettings.DEFAULT;
    name = "knowledge.registry.";
    ttl =
        table.fixed(
            WhyFixed.KNOWLEDGE,
            name + "ttl",
            DURATION,
            kept.ttl(),
            "For how long a node or target that registered is alive after it was last heard of.");
    refresh =
        table.fixed(
            WhyFixed.KNOWLEDGE,
            name + "refresh",
            DURATION,
            kept.refresh(),
            "How often nodes are asked what they have; at least 5 s.");
    pollTimeout =
        table.fixed(
            WhyFixed.KNOWLEDGE,
            name + "poll_timeout",
            DURATION,
            kept.pollTimeout(),
            "For one such question.");
    rest =
        table.fixed(
            WhyFixed.KNOWLEDGE,
            name + "rest",
            DURATION,
            kept.rest(),
            "How long a node is left alone after a request's call failed there.");
    maxNodes =
        table.fixed(
            WhyFixed.KNOWLEDGE, name + "max_nodes", count(1, MANY), kept.maxNodes(), "Nodes kept.");
    maxTargets =
        table.fixed(
            WhyFixed.KNOWLEDGE,
            name + "max_targets",
            count(1, MANY),
            kept.maxTargets(),
            "Targets kept.");
    maxPiecesPerNode =
        table.fixed(
            WhyFixed.KNOWLEDGE,
            name + "max_pieces_per_node",
            count(1, MANY),
            kept.maxPiecesPerNode(),
            "Pieces of one node that are kept.");
  }

  private static URI url(String text) {
    URI url = URI.create(text);
    if (url.getScheme() == null || url.getHost() == null) {
      throw new IllegalArgumentException("'" + text + "' must be like http://10.0.0.7:9101");
    }
    return url;
  }

  /** The injection that was written. */
  InjectionSettings injection(ConfigValues values) {
    Integer port = values.find(injectPort);
    return new InjectionSettings(
        values.get(way),
        values.find(position),
        values.get(heading),
        values.get(textTimeout),
        values.get(kvTimeout),
        values.get(kvMemory),
        port == null ? OptionalInt.empty() : OptionalInt.of(port),
        values.get(maxPieces),
        values.get(maxCharacters),
        values.get(textCache),
        new KvCost(
            values.get(charactersPerToken),
            values.get(chunkTokens),
            values.get(bytesPerToken),
            values.get(linkMbps),
            values.get(linkEfficiency),
            values.get(loadMillisPerToken),
            values.get(loadMillis),
            values.get(queuePenalty),
            values.get(marginMillis),
            values.get(prefillSpeed)));
  }

  /** The bounds of the registry that were written. */
  RegistrySettings registry(ConfigValues values) {
    int named = values.get(nodes).size();
    if (named > values.get(maxNodes)) {
      throw new IllegalArgumentException(
          "max_nodes is "
              + values.get(maxNodes)
              + " and knowledge.nodes has "
              + named
              + ": raise it, or leave some out");
    }
    return new RegistrySettings(
        values.get(ttl),
        values.get(refresh),
        values.get(pollTimeout),
        values.get(rest),
        values.get(maxNodes),
        values.get(maxTargets),
        values.get(maxPiecesPerNode));
  }

  /** Tells a builder of the nodes, links and capacities that were written. */
  void tell(ConfigValues values, KnowledgeRouting.Builder builder) {
    values.get(nodes).forEach(builder::node);
    values.get(links).forEach(link -> builder.link(link.target(), link.node(), link.its()));
    values.get(capacities).forEach(builder::capacity);
  }

  /** A link as the file has it; compares by value. */
  record Link(String target, String node, KnowledgeLink its) {
    private static final ConfigTable TABLE = new ConfigTable();
    private static final ConfigKey<String> TARGET =
        TABLE.live(
            "target",
            TEXT,
            null,
            "A worker's label `knowledge-target`, the id under which its target registers, or its"
                + " address.");
    private static final ConfigKey<String> NODE =
        TABLE.live("node", TEXT, null, "The node's id, or `kdn://host:port`.");
    private static final ConfigKey<Double> BANDWIDTH =
        TABLE.live("bandwidth_mbps", DECIMAL, null, "Megabits a second; 0 for out of reach.");
    private static final ConfigKey<Double> LATENCY =
        TABLE.live("latency_millis", DECIMAL, null, "Milliseconds of a round trip.");
    private static final ConfigKey<Integer> BANDWIDTH_TIER =
        TABLE.live(
            "bandwidth_tier", count(0, MANY), null, "An operator's grade; higher is better.");
    private static final ConfigKey<Integer> LATENCY_TIER =
        TABLE.live("latency_tier", count(0, MANY), null, "An operator's grade; 0 is the best.");

    static final ConfigType<Link> TYPE =
        ConfigTypes.object(
            "link",
            TABLE,
            null,
            (values, place) ->
                new Link(
                    values.get(TARGET),
                    values.get(NODE),
                    new KnowledgeLink(
                        decimal(values.find(BANDWIDTH)),
                        decimal(values.find(LATENCY)),
                        whole(values.find(BANDWIDTH_TIER)),
                        whole(values.find(LATENCY_TIER)))),
            Link::toString);

    private static OptionalDouble decimal(@Nullable Double value) {
      return value == null ? OptionalDouble.empty() : OptionalDouble.of(value);
    }

    private static OptionalInt whole(@Nullable Integer value) {
      return value == null ? OptionalInt.empty() : OptionalInt.of(value);
    }
  }
}

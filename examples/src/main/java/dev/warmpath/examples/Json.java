package dev.warmpath.examples;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.api.AttemptRecord;
import dev.warmpath.api.LookupInfo;
import dev.warmpath.api.PdInfo;
import dev.warmpath.api.RouteDecision;
import dev.warmpath.api.RouteDecision.CandidateView;
import dev.warmpath.api.Usage;
import dev.warmpath.fake.load.LatencySummary;
import dev.warmpath.fake.load.LoadResult;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** The JSON that commands print: snake_case names, plain numbers, null for what is not known. */
final class Json {
  private static final ObjectMapper MAPPER = new ObjectMapper();

  private Json() {}

  static ObjectNode object() {
    return MAPPER.createObjectNode();
  }

  /** An object of text that the library wrote. */
  static ObjectNode parse(String json) {
    try {
      return (ObjectNode) MAPPER.readTree(json);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }

  /** One document, indented, without a line end. */
  static String document(ObjectNode node) {
    try {
      return wellFormed(MAPPER.writerWithDefaultPrettyPrinter().writeValueAsString(node));
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Escapes lone surrogates, for which UTF-8 has no form. They stand within texts only. */
  private static String wellFormed(String json) {
    if (StandardCharsets.UTF_8.newEncoder().canEncode(json)) {
      return json;
    }
    StringBuilder out = new StringBuilder(json.length() + 16);
    json.codePoints()
        .forEach(
            c -> {
              if (c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE) {
                out.append(String.format("\\u%04x", c));
              } else {
                out.appendCodePoint(c);
              }
            });
    return out.toString();
  }

  /** One document on one line, with its line end. */
  static String line(ObjectNode node) {
    return node + System.lineSeparator();
  }

  /** Puts a number, or null where it is not known. */
  static void put(ObjectNode node, String name, double value) {
    if (Double.isNaN(value) || Double.isInfinite(value)) {
      node.putNull(name);
    } else if (value == Math.rint(value) && Math.abs(value) < 1e15) {
      node.put(name, (long) value);
    } else {
      node.put(name, value);
    }
  }

  static ObjectNode decision(RouteDecision decision) {
    ObjectNode out = object();
    out.put("policy", decision.policy());
    out.put("topology_version", decision.topologyVersion());
    ObjectNode prompt = out.putObject("prompt");
    prompt.put("bytes", decision.prompt().bytes());
    prompt.put("tokens", decision.prompt().tokens());
    prompt.put("blocks", decision.prompt().blocks());
    prompt.put("exactness", decision.prompt().exactness());
    ArrayNode candidates = out.putArray("candidates");
    for (CandidateView candidate : decision.candidates()) {
      candidates.add(candidate(candidate));
    }
    CandidateView chosen = decision.chosen();
    PdInfo pd = decision.pd();
    if (pd != null) {
      ObjectNode both = out.putObject("chosen");
      both.set("prefill", place(pd.prefill(), pd.prefillRank()));
      both.set("decode", place(pd.decode(), pd.decodeRank()));
      out.set("pd", pair(pd));
    } else if (chosen == null) {
      out.putNull("chosen");
    } else {
      out.set("chosen", candidate(chosen));
    }
    LookupInfo lookup = decision.lookup();
    if (lookup != null) {
      out.set("lookup", lookup(lookup));
    }
    ArrayNode steps = out.putArray("steps");
    decision.steps().forEach(steps::add);
    ArrayNode attempts = out.putArray("attempts");
    for (AttemptRecord attempt : decision.attempts()) {
      ObjectNode one = attempts.addObject();
      one.put("worker", attempt.worker());
      one.put("reason", attempt.reason());
      one.put("phase", attempt.phase() == null ? null : attempt.phase().name());
      one.put("status", attempt.status());
      one.put("error", attempt.error());
      one.put("elapsed_ms", attempt.elapsed().toNanos() / 1e6);
    }
    return out;
  }

  private static @Nullable ObjectNode place(@Nullable String worker, @Nullable Integer rank) {
    if (worker == null) {
      return null;
    }
    ObjectNode one = object();
    one.put("worker", worker);
    one.put("rank", rank);
    return one;
  }

  private static ObjectNode lookup(LookupInfo lookup) {
    ObjectNode one = object();
    one.put("locator", lookup.locator());
    one.put("outcome", lookup.outcome());
    one.put("detail", lookup.detail());
    one.put("asked_blocks", lookup.askedBlocks());
    one.put("ignored_nodes", lookup.ignoredNodes());
    put(one, "ms", lookup.millis());
    ArrayNode matches = one.putArray("matches");
    for (LookupInfo.Match match : lookup.matches()) {
      ObjectNode at = matches.addObject();
      at.put("worker", match.worker());
      at.put("rank", match.rank());
      at.put("blocks", match.blocks());
      at.put("tokens", match.tokens());
      match.tiers().forEach(at.putObject("tiers")::put);
    }
    return one;
  }

  private static ObjectNode pair(PdInfo pd) {
    ObjectNode one = object();
    one.put("protocol", pd.protocol());
    one.put("attempts", pd.attempts());
    one.put("direct", pd.direct());
    one.put("uncached_tokens", pd.uncachedTokens());
    put(one, "prefill_ms", pd.prefillMillis());
    put(one, "hand_off_ms", pd.handOffMillis());
    put(one, "first_payload_ms", pd.firstPayloadMillis());
    put(one, "decode_ms", pd.decodeMillis());
    return one;
  }

  private static ObjectNode candidate(CandidateView candidate) {
    ObjectNode one = object();
    one.put("worker", candidate.worker());
    one.put("rank", candidate.rank());
    one.put("role", candidate.role());
    one.put("step", candidate.step());
    put(one, "score", candidate.score());
    ObjectNode terms = one.putObject("terms");
    candidate.terms().forEach((name, value) -> put(terms, name, value));
    one.put("matched_tokens", candidate.matchedTokens());
    one.put("state", candidate.state());
    return one;
  }

  static ObjectNode usage(@Nullable Usage usage) {
    ObjectNode out = object();
    out.put("prompt_tokens", usage == null ? null : usage.promptTokens());
    out.put("cached_tokens", usage == null ? null : usage.cachedTokens());
    out.put("completion_tokens", usage == null ? null : usage.completionTokens());
    return out;
  }

  static ObjectNode result(LoadResult result) {
    ObjectNode out = object();
    out.put("policy", result.policy());
    out.put("requests", result.requests());
    out.put("failed", result.failed());
    put(out, "requests_per_s", result.requestsPerSecond());
    out.set("ttft_ms", latencies(result.ttft()));
    out.set("itl_ms", latencies(result.interToken()));
    out.set("e2e_ms", latencies(result.endToEnd()));
    out.put("cached_tokens", result.cachedTokens());
    out.put("prompt_tokens", result.promptTokens());
    out.put("completion_tokens", result.completionTokens());
    put(out, "hit_rate", result.hitRate());
    put(out, "load_cov", result.loadCov());
    put(out, "seconds", result.seconds());
    ObjectNode workers = out.putObject("requests_by_worker");
    result.perWorker().forEach(workers::put);
    if (!result.perPrefillWorker().isEmpty()) {
      put(out, "prefill_load_cov", result.prefillLoadCov());
      ObjectNode prefill = out.putObject("prefills_by_worker");
      result.perPrefillWorker().forEach(prefill::put);
    }
    ObjectNode errors = out.putObject("errors");
    result.errors().forEach(errors::put);
    return out;
  }

  private static ObjectNode latencies(LatencySummary summary) {
    ObjectNode out = object();
    put(out, "mean", summary.mean());
    put(out, "p50", summary.p50());
    put(out, "p90", summary.p90());
    put(out, "p99", summary.p99());
    return out;
  }
}

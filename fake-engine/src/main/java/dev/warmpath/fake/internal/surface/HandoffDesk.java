package dev.warmpath.fake.internal.surface;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.fake.handoff.TransferProtocol;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The handoffs that begin on one worker: those that both sides meet in under a name that the router
 * minted, and KV that is offered under a name of the worker's own. Thread-safe.
 */
final class HandoffDesk {
  private record Offer(LiveHandoff handoff, JsonNode params) {}

  private final HandoffTerms terms;
  private final String engineId;
  private final int ranks;
  private final ConcurrentHashMap<String, LiveHandoff> meetings = new ConcurrentHashMap<>();
  private final ConcurrentHashMap<String, Offer> offers = new ConcurrentHashMap<>();

  HandoffDesk(HandoffTerms terms, String engineId, int ranks) {
    this.terms = terms;
    this.engineId = engineId;
    this.ranks = ranks;
  }

  /** The id of a rank's engine among those that hand KV over. */
  String engineId(int rank) {
    return terms.protocol() == TransferProtocol.MOONCAKE && ranks > 1
        ? engineId + "_dp" + rank
        : engineId;
  }

  /** The handoff under a name: the first side to come begins it. */
  LiveHandoff meet(String key, String subject, int promptTokens) {
    return meetings.computeIfAbsent(
        key, name -> new LiveHandoff(terms, promptTokens, subject, () -> meetings.remove(name)));
  }

  /** A handoff of KV that will be offered under a name. */
  LiveHandoff hold(String name, String subject, int promptTokens) {
    return new LiveHandoff(terms, promptTokens, subject, () -> offers.remove(name));
  }

  /** Offers KV that is held. */
  void offer(String name, LiveHandoff handoff, ObjectNode params) {
    offers.put(name, new Offer(handoff, Json.reread(params)));
  }

  /**
   * Finds the handoff that a decode worker asks for; KV that is offered is given once.
   *
   * @throws HandoffRefused if there is none, or it is not what decode was told
   */
  LiveHandoff join(HandoffJoin join) throws HandoffRefused {
    String wanted = join.engineId();
    if (wanted != null && !wanted.equals(engineId) && !isRank(wanted)) {
      throw new HandoffRefused(
          500,
          terms.toDecode(
              "handshake", join.subject(), "engine " + wanted + " is not here, but " + engineId));
    }
    JsonNode claim = join.claim();
    if (claim == null) {
      return meet(join.key(), join.subject(), join.promptTokens());
    }
    Offer offer = offers.get(join.key());
    if (offer == null) {
      throw new HandoffRefused(
          500, terms.toDecode("transfer", join.subject(), "no blocks are held"));
    }
    String altered = altered(offer.params(), claim);
    if (altered != null) {
      throw new HandoffRefused(
          400, "Got invalid KVTransferParams: " + altered + " is not as prefill answered");
    }
    if (!offers.remove(join.key(), offer)) {
      throw new HandoffRefused(
          500, terms.toDecode("transfer", join.subject(), "the blocks were fetched"));
    }
    return offer.handoff();
  }

  private boolean isRank(String wanted) {
    for (int rank = 0; rank < ranks; rank++) {
      if (engineId(rank).equals(wanted)) {
        return true;
      }
    }
    return false;
  }

  /** The first field that was lost or changed on the way, or null. */
  private static @Nullable String altered(JsonNode params, JsonNode claim) {
    for (Map.Entry<String, JsonNode> field : params.properties()) {
      if (!field.getValue().equals(claim.path(field.getKey()))) {
        return field.getKey();
      }
    }
    return null;
  }

  /** Rooms that are open, and offers. */
  int open() {
    return meetings.size() + offers.size();
  }
}

package dev.warmpath.fake.internal.surface;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.fake.handoff.HandoffOrder;
import dev.warmpath.fake.scheduler.EngineRequest;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * vLLM's NixlConnector: prefill answers with where its blocks are and holds them under a lease;
 * decode fetches them.
 */
final class NixlBlocks implements Admission {
  /** A field that only this imitation has, to see that a router relays what it does not know. */
  private static final String SEAL = "fake_seal";

  private final EngineSurface surface;
  private final HandoffBoard.@Nullable Offer claimed;
  private volatile @Nullable LiveHandoff handoff;
  private volatile @Nullable HandoffLeg leg;

  private NixlBlocks(EngineSurface surface, HandoffBoard.@Nullable Offer claimed) {
    this.surface = surface;
    this.claimed = claimed;
  }

  /**
   * Reads what a request wants handed over.
   *
   * @return null if nothing is
   * @throws ApiError if the blocks it asks for are not to be had
   */
  static @Nullable NixlBlocks of(EngineSurface surface, JsonNode body) {
    JsonNode params = body.path("kv_transfer_params");
    if (params.path("do_remote_decode").asBoolean(false)) {
      return new NixlBlocks(surface, null);
    }
    if (!params.path("do_remote_prefill").asBoolean(false)) {
      return null;
    }
    String name = params.path("remote_request_id").asText("");
    HandoffBoard.Offer offer = HandoffBoard.PROCESS.offered(name);
    if (offer == null) {
      throw surface.error(500, "KV load failed: no blocks are held for '" + name + "'");
    }
    if (!offer.params().equals(params)) {
      throw surface.error(400, "Got invalid KVTransferParams: they are not those of the prefill");
    }
    if (!HandoffBoard.PROCESS.take(name, offer)) {
      throw surface.error(500, "KV load failed: the blocks of '" + name + "' were fetched");
    }
    return new NixlBlocks(surface, offer);
  }

  @Override
  public void submit(Generation generation, EngineRequest request, Generation.Item item) {
    HandoffLeg side = new HandoffLeg(surface, request, generation, item);
    leg = side;
    if (claimed != null) {
      handoff = claimed.handoff();
      claimed.handoff().destination(side);
      return;
    }
    String name = item.id() + "-" + surface.life.randomHex();
    LiveHandoff held =
        new LiveHandoff(
            HandoffOrder.SOURCE_FIRST,
            item.promptTokens,
            "request_id=" + name,
            () -> HandoffBoard.PROCESS.withdraw(name));
    handoff = held;
    held.source(side, () -> offer(name, held, generation, item));
  }

  private void offer(String name, LiveHandoff held, Generation generation, Generation.Item item) {
    ObjectNode params = params(name, item.promptTokens);
    HandoffBoard.PROCESS.offer(name, new HandoffBoard.Offer(held, params));
    generation.handOff(params);
  }

  private ObjectNode params(String name, int promptTokens) {
    ObjectNode params = Json.object().put("do_remote_prefill", true).put("do_remote_decode", false);
    var blocks = params.putArray("remote_block_ids").addArray();
    int size = surface.settings.core().blockSize();
    for (int block = 0; block < (promptTokens + size - 1) / size; block++) {
      blocks.add(block + 1);
    }
    return params
        .put("remote_engine_id", surface.life.engineId())
        .put("remote_request_id", name)
        .put("remote_host", surface.settings.host())
        .put("remote_port", 5600)
        .put("tp_size", 1)
        .put("remote_num_tokens", promptTokens)
        .put(SEAL, surface.life.randomHex());
  }

  @Override
  public void cancel(long sequenceId) {
    LiveHandoff own = handoff;
    if (own != null) {
      own.cancel(Objects.requireNonNull(leg));
    }
  }
}

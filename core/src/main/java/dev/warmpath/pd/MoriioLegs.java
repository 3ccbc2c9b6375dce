package dev.warmpath.pd;

import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * vLLM's MoRIIOConnector (AMD mori-io). In its write mode both legs go at once and prefill writes
 * layer by layer; in its read mode decode reads what prefill's answer names, and sending both at
 * once crashes workers. Each side reads the other's addresses out of the request id.
 */
final class MoriioLegs extends VllmLegs {
  private static final String HANDSHAKE_PORT = "6301";
  private static final String NOTIFY_PORT = "61005";

  MoriioLegs(boolean read) {
    super(read ? "moriio-read" : "moriio", read ? PdShape.SEQUENTIAL : PdShape.CONCURRENT);
  }

  @Override
  public boolean boundToDecode() {
    return true;
  }

  @Override
  public boolean decodesAlone() {
    return true;
  }

  @Override
  public String requestId(PdPair pair, String rid) {
    return pair.direct()
        ? rid
        : "___prefill_addr_"
            + zmq(prefillOf(pair))
            + "___decode_addr_"
            + zmq(pair.decodeTraits())
            + "_"
            + hex(rid);
  }

  /** The 32 hex digits that end a structured id. */
  static String hex(String rid) {
    return rid.replace("-", "");
  }

  private static String zmq(PdTraits worker) {
    return "host:"
        + worker.address()
        + ",handshake:"
        + worker.label("handshake-port", HANDSHAKE_PORT)
        + ",notify:"
        + worker.label("notify-port", NOTIFY_PORT);
  }

  @Override
  String prefillParams(PdPair pair, AttemptIds ids) {
    PdTraits decode = pair.decodeTraits();
    return peer(side(false).raw("remote_engine_id", "null").raw("remote_block_ids", "null"), decode)
        .text("transfer_id", ids.transferId())
        .object();
  }

  private static JsonFields.Added peer(JsonFields.Added params, PdTraits peer) {
    return params
        .number("remote_dp_size", peer.ranks())
        .number("remote_tp_size", NixlPush.orOne(peer.number("tp")))
        .text("remote_host", peer.address())
        .raw("remote_handshake_port", peer.label("handshake-port", HANDSHAKE_PORT))
        .raw("remote_notify_port", peer.label("notify-port", NOTIFY_PORT));
  }

  @Override
  byte @Nullable [] decodeParams(PdPair pair, AttemptIds ids, byte @Nullable [] handOff) {
    PdTraits prefill = prefillOf(pair);
    if (shape() == PdShape.CONCURRENT) {
      JsonFields.Added params =
          peer(side(true).raw("remote_engine_id", "null").raw("remote_block_ids", "null"), prefill)
              .text("transfer_id", ids.transferId());
      if (pair.prefillRank() >= 0) {
        params.number("remote_dp_rank", pair.prefillRank());
      }
      return params.object().getBytes(StandardCharsets.UTF_8);
    }
    if (handOff == null) {
      return null;
    }
    // What prefill named stays as it stands; only what it left out is added.
    JsonFields given = Objects.requireNonNull(JsonFields.find(handOff));
    JsonFields.Added missing = new JsonFields.Added();
    addMissing(given, missing, "do_remote_decode", "false");
    addMissing(given, missing, "do_remote_prefill", "true");
    addMissing(given, missing, "transfer_id", JsonFields.quoted(ids.transferId()));
    if (pair.prefillRank() >= 0) {
      addMissing(given, missing, "remote_dp_rank", Integer.toString(pair.prefillRank()));
    }
    return given.edit(Set.of(), missing);
  }

  private static void addMissing(
      JsonFields given, JsonFields.Added missing, String name, String json) {
    if (!given.has(name)) {
      missing.raw(name, json);
    }
  }
}

package dev.warmpath.fake.internal.surface;

import dev.warmpath.fake.handoff.HandoffOrder;
import dev.warmpath.fake.handoff.TransferProtocol;

/**
 * What connectors differ in beyond the names of their fields: who comes first, when prefill
 * answers, what an abort leaves behind, and what failures are called.
 */
record HandoffTerms(TransferProtocol protocol) {

  HandoffOrder order() {
    return protocol.order();
  }

  /** Whether prefill answers when it holds the KV, and not when the KV has moved. */
  boolean answersWhenHeld() {
    return protocol != TransferProtocol.SGLANG;
  }

  /** Whether decode is left to its own timeout when prefill is aborted before it is done. */
  boolean strandsDecode() {
    return protocol != TransferProtocol.SGLANG;
  }

  /**
   * Whether a prefill that is aborted takes the path of one that is done, and holds its KV for
   * whoever comes. ATOM's scheduler defers the blocks of every sequence that ends on a producer.
   */
  boolean holdsAborted() {
    return protocol == TransferProtocol.ATOM;
  }

  /** How often decode tries to reach prefill, a second apart: SGLang's asks for its layout. */
  int joinTries() {
    return protocol == TransferProtocol.SGLANG ? 15 : 1;
  }

  /** What prefill's client hears. */
  String toPrefill(String stage, String subject, String reason) {
    return protocol == TransferProtocol.SGLANG
        ? "Prefill " + stage + " failed: " + sglang(subject, reason)
        : "KV transfer failed (" + subject + "): " + reason;
  }

  /** What decode's client hears. */
  String toDecode(String stage, String subject, String reason) {
    return protocol == TransferProtocol.SGLANG
        ? "Decode " + stage + " failed: " + sglang(subject, reason)
        : "KV load failed (" + subject + "): " + reason;
  }

  /** What decode's client hears when prefill dies. */
  String prefillLost(String subject) {
    String lost = "Lost connection with prefill instance";
    return protocol == TransferProtocol.SGLANG
        ? sglang(subject, lost)
        : toDecode("transfer", subject, lost);
  }

  /** What decode's client hears when nobody is at prefill's address. */
  String unreachable(String subject, String address) {
    return protocol == TransferProtocol.SGLANG
        ? sglang(subject, "Could not fetch prefill parallel info from http://" + address)
        : toDecode("handshake", subject, "no prefill engine answers at " + address);
  }

  private static String sglang(String subject, String reason) {
    return "KVTransferError(" + subject + "): " + reason;
  }
}

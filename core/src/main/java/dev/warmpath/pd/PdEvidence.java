package dev.warmpath.pd;

/**
 * What the words of an engine's error tell about who failed whom. Sources: SGLang's KVTransferError
 * reasons and vLLM's connector errors.
 */
enum PdEvidence {
  /** Nothing beyond the status. */
  NONE,
  /** Prefill waited in vain for decode's KV indices. */
  DECODE_ABSENT,
  /** Decode waited in vain for prefill, or lost it. */
  PREFILL_ABSENT,
  /** Ids or rooms were wrong, which is this client's or the configuration's fault. */
  CLIENT_BUG,
  /** Decode found another request's metadata. */
  CORRUPTION,
  /** The KV did not get across. */
  TRANSFER;

  /** Reads an error's text, which is not kept. */
  static PdEvidence of(String text) {
    if (text.contains("follow_bootstrap_room conflict")
        || text.contains("without bootstrap room id")
        || text.contains("Duplicate request ID")) {
      return CLIENT_BUG;
    }
    if (text.contains("Metadata corruption") || text.contains("bootstrap_room mismatch")) {
      return CORRUPTION;
    }
    if (text.contains("Lost connection with prefill instance")
        || text.contains("Could not fetch prefill parallel info")
        || text.contains("Could not fetch bootstrap info")
        || text.contains("KVPoll.WaitingForInput")) {
      return PREFILL_ABSENT;
    }
    if (text.contains("KVPoll.Bootstrapping") || text.contains("Prefill bootstrap failed")) {
      return DECODE_ABSENT;
    }
    if (text.contains("KVTransferError")
        || text.contains("transfer failed")
        || text.contains("KV load fail")
        || text.contains("kv_load_failure")) {
      return TRANSFER;
    }
    return NONE;
  }
}

package dev.warmpath.fake.handoff;

import dev.warmpath.worker.EngineKind;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** How the workers of an engine agree on moving KV: the connector they are configured with. */
public enum TransferProtocol {
  /** SGLang's bootstrap rooms: both sides at once. */
  SGLANG(EngineKind.SGLANG, "sglang", HandoffOrder.DESTINATION_FIRST),
  /** vLLM's NixlConnector: decode fetches what prefill's answer names. */
  NIXL(EngineKind.VLLM, "nixl", HandoffOrder.SOURCE_FIRST),
  /** vLLM's NixlPushConnector: both at once, prefill pushes. */
  NIXL_PUSH(EngineKind.VLLM, "nixl-push", HandoffOrder.SOURCE_FIRST),
  /** vLLM's MooncakeConnector: both at once, decode asks prefill's bootstrap server. */
  MOONCAKE(EngineKind.VLLM, "mooncake", HandoffOrder.SOURCE_FIRST),
  /** vLLM's MoRIIOConnector in write mode: both at once, prefill writes. */
  MORIIO(EngineKind.VLLM, "moriio", HandoffOrder.SOURCE_FIRST),
  /** vLLM's MoRIIOConnector in read mode: decode reads what prefill's answer names. */
  MORIIO_READ(EngineKind.VLLM, "moriio-read", HandoffOrder.SOURCE_FIRST),
  /** vLLM's P2pNcclConnector: the request id says who sends to whom. */
  P2P_NCCL(EngineKind.VLLM, "p2pnccl", HandoffOrder.SOURCE_FIRST),
  /** ATOM's hand-over: decode asks for what prefill's answer names. */
  ATOM(EngineKind.ATOM, "atom", HandoffOrder.SOURCE_FIRST);

  private final EngineKind engine;
  private final String label;
  private final HandoffOrder order;

  TransferProtocol(EngineKind engine, String label, HandoffOrder order) {
    this.engine = engine;
    this.label = label;
    this.order = order;
  }

  /**
   * Returns the engine that speaks it.
   *
   * @return its kind
   */
  public EngineKind engine() {
    return engine;
  }

  /**
   * Returns the name that a client's configuration has for it ({@code ;pd=}).
   *
   * @return in lower case
   */
  public String label() {
    return label;
  }

  /**
   * Returns which side computes or reserves first.
   *
   * @return the order, whichever side's request comes first
   */
  public HandoffOrder order() {
    return order;
  }

  /**
   * Returns what an engine speaks unless it is configured otherwise.
   *
   * @param engine its kind
   * @return the usual protocol
   * @throws IllegalArgumentException for an unknown kind
   */
  public static TransferProtocol usual(EngineKind engine) {
    return switch (engine) {
      case SGLANG -> SGLANG;
      case VLLM -> NIXL;
      case ATOM -> ATOM;
      case UNKNOWN -> throw new IllegalArgumentException("an unknown engine hands nothing over");
    };
  }

  /**
   * Reads a name.
   *
   * @param label as {@link #label()} has it, in any case
   * @return the protocol
   * @throws IllegalArgumentException if there is none of that name, with all names in the message
   */
  public static TransferProtocol parse(String label) {
    for (TransferProtocol protocol : values()) {
      if (protocol.label.equals(label.toLowerCase(Locale.ROOT))) {
        return protocol;
      }
    }
    throw new IllegalArgumentException(
        "no transfer protocol '"
            + label
            + "': there is "
            + Arrays.stream(values())
                .map(TransferProtocol::label)
                .collect(Collectors.joining(", ")));
  }
}

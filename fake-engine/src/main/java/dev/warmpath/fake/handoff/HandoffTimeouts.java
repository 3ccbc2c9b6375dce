package dev.warmpath.fake.handoff;

import java.time.Duration;
import java.util.Objects;

/**
 * How long a prefill or decode worker waits for the other one.
 *
 * @param bootstrap SGLang's prefill, for room on a decode worker ({@code
 *     SGLANG_DISAGGREGATION_BOOTSTRAP_TIMEOUT})
 * @param waiting decode, for the KV ({@code SGLANG_DISAGGREGATION_WAITING_TIMEOUT}, MoRIIO's {@code
 *     transfer_timeout} and the like)
 * @param lease prefill that has answered, for somebody to take its KV ({@code kv_lease_duration},
 *     {@code VLLM_MOONCAKE_ABORT_REQUEST_TIMEOUT}, MoRIIO's {@code defer_timeout} and the like)
 */
public record HandoffTimeouts(Duration bootstrap, Duration waiting, Duration lease) {
  /** Longer than anybody waits. */
  public static final Duration NEVER = Duration.ofDays(36_500);

  /** Checks that each is positive. */
  public HandoffTimeouts {
    positive(bootstrap, "bootstrap");
    positive(waiting, "waiting");
    positive(lease, "lease");
  }

  /**
   * Returns the engines' own.
   *
   * @param protocol the connector
   * @return its defaults; {@link #NEVER} where it has no such timeout
   */
  public static HandoffTimeouts of(TransferProtocol protocol) {
    return switch (protocol) {
      case SGLANG -> ofSeconds(300, 300, 300);
      case NIXL -> ofSeconds(300, 300, 30);
      case NIXL_PUSH, MOONCAKE -> ofSeconds(300, 480, 480);
      case MORIIO -> ofSeconds(300, 30, 60);
      case MORIIO_READ -> ofSeconds(300, 30, 3_600);
      case P2P_NCCL, ATOM -> new HandoffTimeouts(NEVER, NEVER, NEVER);
    };
  }

  private static HandoffTimeouts ofSeconds(long bootstrap, long waiting, long lease) {
    return new HandoffTimeouts(
        Duration.ofSeconds(bootstrap), Duration.ofSeconds(waiting), Duration.ofSeconds(lease));
  }

  private static void positive(Duration value, String name) {
    Objects.requireNonNull(value, name);
    if (value.isZero() || value.isNegative()) {
      throw new IllegalArgumentException(name + " must be more than zero, was " + value);
    }
  }
}

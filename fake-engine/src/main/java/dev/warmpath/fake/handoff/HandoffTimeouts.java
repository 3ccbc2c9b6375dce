package dev.warmpath.fake.handoff;

import java.time.Duration;
import java.util.Objects;

/**
 * How long a prefill or decode worker waits for the other one.
 *
 * @param bootstrap SGLang's prefill, for room on a decode worker ({@code
 *     SGLANG_DISAGGREGATION_BOOTSTRAP_TIMEOUT})
 * @param waiting SGLang's decode, for the KV ({@code SGLANG_DISAGGREGATION_WAITING_TIMEOUT})
 * @param lease vLLM's prefill, for somebody to fetch its blocks ({@code kv_lease_duration})
 */
public record HandoffTimeouts(Duration bootstrap, Duration waiting, Duration lease) {
  /** The engines' own. */
  public static final HandoffTimeouts DEFAULT =
      new HandoffTimeouts(Duration.ofSeconds(300), Duration.ofSeconds(300), Duration.ofSeconds(30));

  /** Checks that each is positive. */
  public HandoffTimeouts {
    positive(bootstrap, "bootstrap");
    positive(waiting, "waiting");
    positive(lease, "lease");
  }

  private static void positive(Duration value, String name) {
    Objects.requireNonNull(value, name);
    if (value.isZero() || value.isNegative()) {
      throw new IllegalArgumentException(name + " must be more than zero, was " + value);
    }
  }
}

package dev.warmpath.api;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A request that was split between a prefill and a decode worker failed. Nothing was sent again if
 * part of the answer had been delivered.
 */
public final class PrefillDecodeException extends RouterException {
  private static final long serialVersionUID = 1L;

  /** How far the request had come. */
  public enum Phase {
    /** No pair could be chosen. */
    SELECT,
    /** Prefill computed; decode had not been sent. */
    PREFILL,
    /** Both had been sent and were to meet. */
    RENDEZVOUS,
    /** Prefill was done; decode was to be told. */
    HANDOFF,
    /** Decode had been told and had not answered. */
    DECODE_START,
    /** Decode was answering. */
    DECODE_STREAM
  }

  private final Phase phase;
  private final String blamed;
  private final String prefillOutcome;
  private final String decodeOutcome;
  private final int status;
  private final boolean retryable;
  private final boolean partialOutput;
  private final transient List<AttemptRecord> attempts;

  /**
   * Creates the error.
   *
   * @param phase how far it had come
   * @param blamed whom the evidence points at: {@code prefill}, {@code decode}, {@code pair},
   *     {@code caller}, {@code client} or {@code none}
   * @param prefillOutcome how the last attempt's prefill ended, such as {@code ok}, {@code
   *     http_error}, {@code cancelled}
   * @param decodeOutcome how its decode ended
   * @param status the status a worker answered with, or 0
   * @param retryable whether sending it again may help
   * @param partialOutput whether part of the answer was delivered
   * @param message what happened, without payload
   * @param attempts the attempts made, first to last
   */
  public PrefillDecodeException(
      Phase phase,
      String blamed,
      String prefillOutcome,
      String decodeOutcome,
      int status,
      boolean retryable,
      boolean partialOutput,
      String message,
      List<AttemptRecord> attempts,
      @Nullable Throwable cause) {
    super(
        message
            + " (phase "
            + phase
            + ", prefill "
            + prefillOutcome
            + ", decode "
            + decodeOutcome
            + ", blamed "
            + blamed
            + ", "
            + attempts.size()
            + " attempt(s))",
        cause);
    this.phase = phase;
    this.blamed = blamed;
    this.prefillOutcome = prefillOutcome;
    this.decodeOutcome = decodeOutcome;
    this.status = status;
    this.retryable = retryable;
    this.partialOutput = partialOutput;
    this.attempts = List.copyOf(attempts);
  }

  /** How far the request had come. */
  public Phase phase() {
    return phase;
  }

  /**
   * Whom the evidence points at: {@code prefill}, {@code decode}, {@code pair}, {@code caller},
   * {@code client} or {@code none}.
   */
  public String blamed() {
    return blamed;
  }

  /** How the last attempt's prefill ended. */
  public String prefillOutcome() {
    return prefillOutcome;
  }

  /** How the last attempt's decode ended. */
  public String decodeOutcome() {
    return decodeOutcome;
  }

  /** The status a worker answered with, or 0. */
  public int status() {
    return status;
  }

  /** Whether sending the request again may help. */
  public boolean retryable() {
    return retryable;
  }

  /** Whether part of the answer was delivered. */
  public boolean partialOutput() {
    return partialOutput;
  }

  /** The attempts made, first to last. */
  public List<AttemptRecord> attempts() {
    return attempts == null ? List.of() : attempts;
  }
}

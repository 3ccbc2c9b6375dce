package dev.warmpath.api;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * One attempt of a request at one worker, as errors and decisions list it.
 *
 * @param worker the worker, with {@code #rank} where one was named
 * @param reason why the policy chose it
 * @param phase how far it came when it failed, or null when it succeeded or still runs
 * @param status the response's status, or 0 where none arrived
 * @param error what went wrong in a few words without any payload, or null
 * @param elapsed how long it took
 */
public record AttemptRecord(
    String worker,
    String reason,
    @Nullable FailurePhase phase,
    int status,
    @Nullable String error,
    Duration elapsed) {}

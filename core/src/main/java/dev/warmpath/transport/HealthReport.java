package dev.warmpath.transport;

/**
 * One answer of a worker's health endpoint.
 *
 * @param healthy whether it says it can serve
 * @param detail a few words for people, such as {@code 503 starting}
 */
public record HealthReport(boolean healthy, String detail) {}

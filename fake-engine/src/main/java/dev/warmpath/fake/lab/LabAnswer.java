package dev.warmpath.fake.lab;

import dev.warmpath.api.Usage;

/**
 * An answer, as its user saw it. Times are virtual milliseconds since users came.
 *
 * @param session the session's id
 * @param turn its turn, from 0
 * @param client the client that it came to, from 0
 * @param sentMs when the request was sent
 * @param firstMs when its first token came
 * @param endMs when its last token came
 * @param worker the address of who computed the prompt
 * @param usage what was counted
 */
public record LabAnswer(
    String session,
    int turn,
    int client,
    double sentMs,
    double firstMs,
    double endMs,
    String worker,
    Usage usage) {}

package dev.warmpath.pd;

import java.util.Map;

/**
 * What prefill/decode sessions came to, since the client began.
 *
 * @param sessions sessions by {@code mode/outcome}, such as {@code concurrent/completed}
 * @param failures failed sessions by the phase they failed in
 * @param attempts pairs that were tried
 * @param legs legs by {@code role/outcome}, such as {@code prefill/ok}
 * @param aborts abort calls by {@code role/result}: {@code sent}, {@code failed}, {@code limited}
 * @param releases touches that let workers free KV which nobody fetched
 * @param releasesDropped those that were left out because too many waited
 * @param recomputes decodes that computed the prompt because prefill handed nothing over
 * @param direct requests that decode took alone
 * @param prefillSeconds time in prefill, summed, over {@code prefillCount} prefills
 * @param prefillCount prefills that ended well
 * @param handOffSeconds time from prefill's end to decode's first payload, summed, over {@code
 *     firstPayloadCount}
 * @param firstPayloadSeconds time to decode's first payload, summed, likewise
 * @param firstPayloadCount first payloads that were handed on
 * @param liveSessions sessions that last
 * @param liveRooms rooms of attempts that last
 * @param restingRooms rooms in quarantine
 */
public record PdStats(
    Map<String, Long> sessions,
    Map<String, Long> failures,
    long attempts,
    Map<String, Long> legs,
    Map<String, Long> aborts,
    long releases,
    long releasesDropped,
    long recomputes,
    long direct,
    double prefillSeconds,
    long prefillCount,
    double handOffSeconds,
    double firstPayloadSeconds,
    long firstPayloadCount,
    int liveSessions,
    int liveRooms,
    int restingRooms) {}

package dev.warmpath.pd;

import dev.warmpath.observe.MetricSample;
import java.util.List;
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
 * @param prefillSeconds histograms of prefills that ended well, by prefill worker: from choosing
 *     the pair to prefill's end
 * @param handOffSeconds histograms by decode worker: from prefill's end to decode's first payload,
 *     where prefill ended first
 * @param firstPayloadSeconds histograms by decode worker: from choosing the pair to decode's first
 *     payload
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
    List<MetricSample> prefillSeconds,
    List<MetricSample> handOffSeconds,
    List<MetricSample> firstPayloadSeconds,
    int liveSessions,
    int liveRooms,
    int restingRooms) {}

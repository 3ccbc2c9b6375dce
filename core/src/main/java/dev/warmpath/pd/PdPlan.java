package dev.warmpath.pd;

import java.time.Duration;

/**
 * What the session has to know of the pair that was chosen for an attempt.
 *
 * @param shape the order of its legs
 * @param direct whether decode computes the whole request alone, without prefill
 * @param boundToDecode whether ids name the decode worker, so that no other can take its place
 * @param recomputes whether decode may compute the prompt itself where prefill hands nothing over
 * @param releases whether KV that nobody will fetch has to be released by a touch of decode
 * @param finishesPrefill whether a cancelled prefill is better let to its end and released, because
 *     the engine keeps the KV of an aborted one
 * @param aborts whether the engine has an abort call
 * @param grace how long a first payload of decode is held back for prefill's end
 * @param firstPayload how long decode may take to its first payload once prefill is done
 */
record PdPlan(
    PdShape shape,
    boolean direct,
    boolean boundToDecode,
    boolean recomputes,
    boolean releases,
    boolean finishesPrefill,
    boolean aborts,
    Duration grace,
    Duration firstPayload) {}

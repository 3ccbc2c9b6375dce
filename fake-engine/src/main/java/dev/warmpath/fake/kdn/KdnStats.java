package dev.warmpath.fake.kdn;

/**
 * What a fake node has done so far.
 *
 * @param requests requests that came, answered or not
 * @param snapshots snapshots of its knowledge that it gave
 * @param texts pieces whose text it gave
 * @param textBytes UTF-8 bytes of those
 * @param transfers pieces whose KV it delivered
 * @param kvBytes bytes of those
 * @param pendingTransfers transfers that wait for its link
 * @param activeTransfers transfers under way
 * @param queueMillis smoothed wait for the link
 * @param registrations how often a control plane accepted it
 * @param heartbeats how many heartbeats a control plane accepted
 */
public record KdnStats(
    long requests,
    long snapshots,
    long texts,
    long textBytes,
    long transfers,
    long kvBytes,
    int pendingTransfers,
    int activeTransfers,
    double queueMillis,
    long registrations,
    long heartbeats) {}

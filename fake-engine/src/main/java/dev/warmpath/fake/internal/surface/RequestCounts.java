package dev.warmpath.fake.internal.surface;

/**
 * How inference requests ended.
 *
 * @param received requests that reached an inference endpoint
 * @param served requests answered completely
 * @param failed requests that a fault hit
 * @param aborted requests given up: the client went away, or an abort or a pause ended them
 * @param rejected requests answered with an error of the engine's own
 * @param leaked requests left running by {@link dev.warmpath.fake.fault.Fault.Kind#ZOMBIE}
 */
public record RequestCounts(
    long received, long served, long failed, long aborted, long rejected, long leaked) {}

package dev.warmpath.fake.load;

/**
 * One number that a workload takes.
 *
 * @param key what it is set by
 * @param standard its value unless set
 * @param meaning what it is, with its unit
 */
public record WorkloadParameter(String key, double standard, String meaning) {}

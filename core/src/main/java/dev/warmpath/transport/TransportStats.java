package dev.warmpath.transport;

/**
 * The connections of a transport.
 *
 * @param open those that stand, idle ones included
 * @param idle those that carry nothing
 * @param made how many were made for requests since the transport was
 * @param connectSeconds what making these took in all: name look-up, connecting, TLS
 */
public record TransportStats(long open, long idle, long made, double connectSeconds) {}

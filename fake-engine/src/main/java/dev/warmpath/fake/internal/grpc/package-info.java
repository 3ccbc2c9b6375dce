/**
 * The gRPC services of the imitated engines, in front of the same scheduler, text, faults and
 * counters as their HTTP servers. Everything in a call runs on the server's one thread until the
 * rank's thread takes over.
 */
@NullMarked
package dev.warmpath.fake.internal.grpc;

import org.jspecify.annotations.NullMarked;

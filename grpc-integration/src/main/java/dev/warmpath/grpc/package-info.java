/**
 * gRPC workers: the {@link dev.warmpath.grpc.GrpcTransport transport} that lets one router client
 * mix {@code http://} and {@code grpc://} workers, and how channels to gRPC servers are made.
 */
@NullMarked
package dev.warmpath.grpc;

import org.jspecify.annotations.NullMarked;

package dev.warmpath.grpc.internal;

import io.grpc.Metadata;
import io.grpc.MethodDescriptor;

/**
 * A request as a service takes it, ready to be sent.
 *
 * @param method what is called
 * @param message the one message that is sent
 * @param headers the call's own metadata
 * @param answer makes OpenAI's answer of what comes back
 * @param <Q> the request message
 * @param <R> the response message
 */
public record WireCall<Q, R>(
    MethodDescriptor<Q, R> method, Q message, Metadata headers, Answer<R> answer) {}

/**
 * Between OpenAI's JSON and the engines' gRPC messages: requests read and written field by field,
 * answers put together from tokens, and what each service says of itself.
 */
@NullMarked
package dev.warmpath.grpc.internal;

import org.jspecify.annotations.NullMarked;

package dev.warmpath.pd;

import dev.warmpath.api.Headers;
import org.jspecify.annotations.Nullable;

/**
 * A leg's request as its worker takes it.
 *
 * @param headers the headers to send
 * @param body the body to send
 * @param stream whether a stream of events is expected
 * @param rid the id by which it can be aborted, or null
 */
record LegRequest(Headers headers, byte[] body, boolean stream, @Nullable String rid) {}

/**
 * Reaches workers over HTTP with OkHttp: the transport, server-sent events, probes, and the
 * interceptor that routes the calls of an existing client.
 */
@NullMarked
package dev.warmpath.okhttp;

import org.jspecify.annotations.NullMarked;

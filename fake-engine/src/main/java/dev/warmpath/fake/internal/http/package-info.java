/**
 * A small HTTP/1.1 server that can misbehave on purpose.
 *
 * <p>One selector thread per server reads, and any thread writes. While a request is being answered
 * its connection is still read, so that a client which goes away is noticed at once. A handler can
 * reset a connection, cut it, write garbage or never answer.
 */
@NullMarked
package dev.warmpath.fake.internal.http;

import org.jspecify.annotations.NullMarked;

/**
 * Engines' KV events on their way to the block index: which ranks are listened to, by which way,
 * and what their messages say.
 *
 * <p>{@link dev.warmpath.index.kv.KvEvents} follows the workers and gives each rank a stream; a
 * {@link dev.warmpath.index.kv.KvSubscriber} fills it. The one for ZeroMQ is here, and loads JeroMQ
 * only when a worker has an endpoint for it.
 */
@NullMarked
package dev.warmpath.index.kv;

import org.jspecify.annotations.NullMarked;

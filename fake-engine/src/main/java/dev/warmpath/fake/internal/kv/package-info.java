/** Publishes a fake engine's cache changes over ZeroMQ, in the engine's hashes and encoding. */
@NullMarked
package dev.warmpath.fake.internal.kv;

import org.jspecify.annotations.NullMarked;

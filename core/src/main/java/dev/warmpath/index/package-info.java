/**
 * Where prefixes live: what the client knows of which worker rank holds which prompt prefix.
 *
 * <p>{@link dev.warmpath.index.ByteRadixTree} learns it from the requests that this client sends.
 */
@NullMarked
package dev.warmpath.index;

import org.jspecify.annotations.NullMarked;

/**
 * Where prefixes live: what the client knows of which worker rank holds which prompt prefix.
 *
 * <p>{@link dev.warmpath.index.ByteRadixTree} learns it from the requests that this client sends,
 * {@link dev.warmpath.index.BlockIndex} from these by block hashes and from what engines tell of
 * their caches. A {@link dev.warmpath.index.BlockLocator} asks somebody else, before each decision:
 * {@link dev.warmpath.index.BlockLocations} is what it told.
 */
@NullMarked
package dev.warmpath.index;

import org.jspecify.annotations.NullMarked;

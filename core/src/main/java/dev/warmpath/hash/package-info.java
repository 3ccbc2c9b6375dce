/**
 * Block-hash chains of the inference engines, bit for bit, as incremental state.
 *
 * <p>An engine names each full block of a prompt's KV cache by a hash that covers the block's
 * tokens and everything before them. A client that computes the same hashes knows, without asking,
 * what a worker may reuse. {@link dev.warmpath.hash.HashSchemes} opens the schemes, {@link
 * dev.warmpath.hash.BlockChain} hashes tokens as they come, {@link dev.warmpath.hash.ChainState}
 * remembers a place from which another chain goes on, and {@link dev.warmpath.hash.HashNamespace}
 * keeps hashes of different origin apart.
 */
@NullMarked
package dev.warmpath.hash;

import org.jspecify.annotations.NullMarked;

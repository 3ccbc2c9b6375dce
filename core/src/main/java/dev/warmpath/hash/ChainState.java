package dev.warmpath.hash;

import org.jspecify.annotations.Nullable;

/**
 * A place in a prompt from which block hashing can go on: the hashes so far, the chained digest,
 * and the tokens after the last full block. Taking one and forking one cost no more than copying a
 * block's tokens, however long the prompt is.
 *
 * <p>Immutable and safe to share between threads once published safely, as through a concurrent
 * map.
 */
public final class ChainState {

  final BlockHashes hashes;
  final byte @Nullable [] link;
  final long firstToken;
  final int[] tail;
  final long @Nullable [] wideTail;
  final @Nullable PendingExtras extras;

  ChainState(
      BlockHashes hashes,
      byte @Nullable [] link,
      long firstToken,
      int[] tail,
      long @Nullable [] wideTail,
      @Nullable PendingExtras extras) {
    this.hashes = hashes;
    this.link = link;
    this.firstToken = firstToken;
    this.tail = tail;
    this.wideTail = wideTail;
    this.extras = extras;
  }

  /** Opens a chain that goes on from here. The state stays as it is. */
  public BlockChain fork() {
    return new BlockChain(this);
  }

  /** The hashes of the full blocks up to here. */
  public BlockHashes hashes() {
    return hashes;
  }

  /** The scheme of the chain. */
  public HashScheme scheme() {
    return hashes.scheme();
  }

  /** Position in the prompt: tokens appended, those before a resumed chain included. */
  public long tokens() {
    int pending = wideTail == null ? tail.length : wideTail.length;
    return firstToken + (long) hashes.size() * scheme().blockTokens() + pending;
  }

  /**
   * Memory that the state keeps reachable, in bytes. States of one conversation share most of
   * theirs, so a sum over them is an upper bound.
   */
  public long retainedBytes() {
    long bytes = 96L + hashes.retainedBytes() + (long) tail.length * Integer.BYTES;
    if (link != null) {
      bytes += link.length;
    }
    return wideTail == null ? bytes : bytes + (long) wideTail.length * Long.BYTES;
  }

  @Override
  public String toString() {
    return "token " + tokens() + ", " + hashes;
  }
}

package dev.warmpath.hash;

/**
 * The chain of {@link HashSchemes#content} one block at a time, for whoever keeps the hash of a
 * block rather than a chain: nothing but the hash of a block is needed to go on behind it. Not
 * thread safe.
 */
public final class ContentHasher {
  private final int blockTokens;
  private final byte[] buffer;

  /**
   * Creates a hasher.
   *
   * @param blockTokens tokens of a block
   */
  public ContentHasher(int blockTokens) {
    this.blockTokens = blockTokens;
    this.buffer = new byte[Long.BYTES + blockTokens * Integer.BYTES];
  }

  /**
   * What the first block of a prompt goes on from.
   *
   * @param params model, adapter, salt and extra key of the prompt, and the tokens of a block
   */
  public static long root(HashParams params) {
    return HashSchemes.content(params).namespace().fingerprint();
  }

  /**
   * Hashes a block.
   *
   * @param parent the hash of the block before, or the {@link #root}
   * @param tokens holds the block's tokens
   * @param from where they begin
   * @return the block's hash
   */
  public long next(long parent, int[] tokens, int from) {
    byte[] bytes = buffer;
    Bytes.putLongLe(bytes, 0, parent);
    for (int i = 0; i < blockTokens; i++) {
      Bytes.putIntLe(bytes, Long.BYTES + (i << 2), tokens[from + i]);
    }
    return XxHash.xxh3().hashBytesToLong(bytes);
  }
}

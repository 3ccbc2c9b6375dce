package dev.warmpath.hash;

import org.jspecify.annotations.Nullable;

/**
 * One engine's way of hashing KV blocks, with everything settled that its hashes depend on: the
 * engine's configuration and the keys of one request. Opens chains. Immutable and safe for threads.
 *
 * <p>Made by {@link HashSchemes}.
 */
public abstract class HashScheme {

  static final long UNSIGNED_INT_MAX = 0xFFFFFFFFL;

  private final HashNamespace namespace;
  private final int lookAhead;

  HashScheme(HashNamespace namespace, int lookAhead) {
    if (namespace.blockTokens() < 1) {
      throw new IllegalArgumentException(
          "the block size must be at least 1, not " + namespace.blockTokens());
    }
    this.namespace = namespace;
    this.lookAhead = lookAhead;
  }

  /** The scheme's name, as in {@link HashSchemes#names()}. */
  public final String name() {
    return namespace.scheme();
  }

  /** Where this scheme's hashes may be compared. */
  public final HashNamespace namespace() {
    return namespace;
  }

  /** Tokens of the prompt that one block advances by. */
  public final int blockTokens() {
    return namespace.blockTokens();
  }

  /**
   * Tokens that a block's hash reads beyond its own: 1 where the engine hashes overlapping pairs
   * for speculative decoding, else 0. A block is complete when its tokens and these are known.
   */
  public final int lookAhead() {
    return lookAhead;
  }

  /** Which part of a digest the engine reports, and how. */
  public abstract ReportedForm reportedForm();

  /** Bytes of a block's digest, or 0 where the scheme has none but its reported value. */
  public abstract int digestBytes();

  /** The largest token id that the scheme hashes; a larger one is an error. */
  public abstract long maxTokenId();

  /** Whether blocks have a second, position-independent hash ({@link BlockHashes#local}). */
  public boolean hasLocalHashes() {
    return false;
  }

  /** Opens a chain at the prompt's first token that keeps what the engine reports. */
  public final BlockChain newChain() {
    return newChain(reportedForm() == ReportedForm.HEX ? Retention.DIGESTS : Retention.REPORTED);
  }

  /** Opens a chain at the prompt's first token. */
  public final BlockChain newChain(Retention retention) {
    return new BlockChain(this, retention, null, 0);
  }

  /**
   * Opens a chain that goes on after a known block.
   *
   * @param parentDigest what the block's successor chains on: the full digest for SGLang and vLLM,
   *     the eight bytes of the hash, most significant first, for the others. Reported values of
   *     SGLang and vLLM are too short to chain on.
   * @param firstToken position in the prompt of the first token to come
   */
  public final BlockChain resume(byte[] parentDigest, long firstToken, Retention retention) {
    if (parentDigest.length != linkBytes()) {
      throw new IllegalArgumentException(
          "a parent digest of "
              + name()
              + " has "
              + linkBytes()
              + " bytes, not "
              + parentDigest.length);
    }
    if (firstToken < 0) {
      throw new IllegalArgumentException("first token " + firstToken);
    }
    return new BlockChain(this, retention, parentDigest.clone(), firstToken);
  }

  /** Bytes that one block hands to the next. */
  abstract int linkBytes();

  /** Reads a parent digest as parameters write it. */
  byte[] parseLink(String text) {
    return Bytes.fromHex("a parent digest", text, linkBytes());
  }

  /** A hasher that goes on from a link, or from the scheme's root where there is none. */
  abstract BlockHasher newHasher(byte @Nullable [] link);

  /**
   * Whether multimodal items that overlap each other are taken one at a time, a long one hiding
   * those within it until it ends (vLLM), or all that touch a block are.
   */
  boolean oneOpenItem() {
    return false;
  }

  /** Whether {@link BlockChain#finish} hashes the tokens left over as a short block. */
  boolean hashesPartialTail() {
    return false;
  }

  @Override
  public final String toString() {
    return namespace.toString();
  }
}

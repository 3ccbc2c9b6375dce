package dev.warmpath.hash;

import org.jspecify.annotations.Nullable;

/**
 * ATOM: XXH64 with seed 0 over the parent's hash, where there is a parent, and the tokens as 64-bit
 * little-endian words (ROCm/ATOM, {@code model_engine/block_manager.py}). Neither salt nor adapter
 * nor images are hashed. Under decode context parallelism one hash covers a block of every rank.
 */
final class AtomScheme extends NumberScheme {

  static final String NAME = "atom";

  AtomScheme(ParamValues params) {
    super(
        new HashNamespace(
            NAME,
            params.contextParallelBlockTokens(16),
            0,
            Fingerprint.of(params.loraName, params.cacheSalt, params.extraKey),
            0),
        0);
  }

  @Override
  public int digestBytes() {
    return Long.BYTES;
  }

  @Override
  public long maxTokenId() {
    return Long.MAX_VALUE;
  }

  @Override
  BlockHasher newHasher(byte @Nullable [] link) {
    return new Hasher(blockTokens(), link);
  }

  private static final class Hasher extends BlockHasher {

    /** The parent's hash, then the tokens. */
    private final byte[] buffer;

    private boolean hasParent;
    private long hash;

    Hasher(int blockTokens, byte @Nullable [] link) {
      buffer = new byte[Math.multiplyExact(1 + blockTokens, Long.BYTES)];
      if (link != null) {
        hash = Bytes.getLongBe(link, 0);
        hasParent = true;
      }
    }

    @Override
    void next(int[] tokens, int from, int count, long firstToken, @Nullable BlockExtras extras) {
      byte[] bytes = buffer;
      for (int i = 0; i < count; i++) {
        Bytes.putLongLe(bytes, (1 + i) << 3, Integer.toUnsignedLong(tokens[from + i]));
      }
      digest();
    }

    @Override
    void nextWide(
        long[] tokens, int from, int count, long firstToken, @Nullable BlockExtras extras) {
      for (int i = 0; i < count; i++) {
        Bytes.putLongLe(buffer, (1 + i) << 3, tokens[from + i]);
      }
      digest();
    }

    private void digest() {
      // Any 64-bit value is a real parent, 0 and all ones too, so absence needs a flag of its own.
      int from = hasParent ? 0 : Long.BYTES;
      Bytes.putLongLe(buffer, 0, hash);
      hash = XxHash.xxh64(buffer, from, buffer.length - from);
      hasParent = true;
    }

    @Override
    long reported() {
      return hash;
    }

    @Override
    byte @Nullable [] link() {
      return hasParent ? Bytes.ofLong(hash) : null;
    }
  }
}

package dev.warmpath.index;

import dev.warmpath.hash.BlockHashes;
import dev.warmpath.hash.HashParams;
import dev.warmpath.hash.HashScheme;
import dev.warmpath.hash.HashSchemes;

/** Chains of blocks for tests: a block for each letter of a text. */
final class Chains {
  static final HashScheme MODEL = scheme("m", null);

  private Chains() {}

  static HashScheme scheme(String model, String salt) {
    HashParams.Builder params = HashParams.builder().blockSize(1).model(model);
    if (salt != null) {
      params.cacheSalt(salt);
    }
    return HashSchemes.content(params.build());
  }

  static BlockHashes of(String text) {
    return of(MODEL, text);
  }

  static BlockHashes of(HashScheme scheme, String text) {
    return scheme.newChain().append(text.chars().toArray()).hashes();
  }

  static long[] bits(BlockHashes hashes) {
    long[] bits = new long[hashes.size()];
    hashes.copyBits(0, bits.length, bits, 0);
    return bits;
  }
}

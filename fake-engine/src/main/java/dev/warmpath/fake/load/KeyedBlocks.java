package dev.warmpath.fake.load;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Names blocks of tokens by number, equal numbers for equal blocks behind equal beginnings. Blocks
 * are told apart by a chained HMAC-SHA256 under a key that is drawn here and kept nowhere, so that
 * not even this object's memory lets guessed texts be tried without it.
 */
final class KeyedBlocks {
  private record Digest(long high, long low) {}

  private final Mac mac;
  private final int blockTokens;
  private final DenseIds<Digest> ids;

  KeyedBlocks(int blockTokens, int mostBlocks) {
    this.blockTokens = blockTokens;
    this.ids = new DenseIds<>(mostBlocks);
    byte[] key = new byte[32];
    new SecureRandom().nextBytes(key);
    try {
      mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(key, "HmacSHA256"));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every JDK has HmacSHA256", e);
    }
  }

  /** One id for each block, the last one maybe partial. */
  long[] of(int[] tokens) {
    long[] blocks = new long[(tokens.length + blockTokens - 1) / blockTokens];
    byte[] parent = {};
    ByteBuffer buffer = ByteBuffer.allocate(4 * blockTokens).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < blocks.length; i++) {
      int end = Math.min(tokens.length, (i + 1) * blockTokens);
      buffer.clear();
      for (int at = i * blockTokens; at < end; at++) {
        buffer.putInt(tokens[at]);
      }
      buffer.flip();
      mac.update(parent);
      mac.update(buffer);
      parent = mac.doFinal();
      ByteBuffer digest = ByteBuffer.wrap(parent);
      blocks[i] = ids.id(new Digest(digest.getLong(), digest.getLong()));
    }
    return blocks;
  }

  long unique() {
    return ids.given();
  }

  long forgotten() {
    return ids.forgotten();
  }
}

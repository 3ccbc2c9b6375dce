package dev.warmpath.hash;

import com.dynatrace.hash4j.hashing.Hasher64;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The routers of NVIDIA Dynamo and SMG: a local XXH3-64 of every block's tokens and image hashes,
 * and a sequence hash that rolls over the local ones (ai-dynamo/dynamo, {@code
 * lib/kv-router/src/protocols.rs}). Adapter and salt shift the local seed.
 */
final class DynamoScheme extends NumberScheme {

  static final String NAME = "dynamo";

  private static final long SEED = 1337;
  private static final Hasher64 SEQUENCE = XxHash.xxh3(SEED);
  private static final Hasher64 SALT = XxHash.xxh3(1);
  private static final int IDENTIFIER_DIGITS = 64;

  private final Hasher64 localHash;

  DynamoScheme(ParamValues params) {
    super(
        new HashNamespace(
            NAME,
            params.requiredBlockTokens(NAME),
            Fingerprint.of(
                params.eagle ? "eagle" : null,
                params.xxh3Seed == null ? null : Long.toHexString(params.xxh3Seed)),
            Fingerprint.of(params.extraKey),
            Fingerprint.of(params.loraName, params.cacheSalt)),
        params.eagle ? 1 : 0);
    this.localHash = XxHash.xxh3(seed(params));
  }

  private static long seed(ParamValues params) {
    if (params.xxh3Seed != null) {
      return params.xxh3Seed;
    }
    long seed = SEED;
    if (params.loraName != null) {
      seed += hash(XxHash.xxh3(), params.loraName);
    }
    if (params.cacheSalt != null) {
      seed += hash(SALT, params.cacheSalt);
    }
    return seed;
  }

  private static long hash(Hasher64 hasher, String text) {
    return hasher.hashBytesToLong(Bytes.utf8(text));
  }

  /** The number an image's identifier stands for: its first 16 digits where it is a digest. */
  static long imageHash(String identifier) {
    if (identifier.length() == IDENTIFIER_DIGITS
        && identifier.chars().allMatch(c -> Character.digit(c, 16) >= 0 && c < 128)) {
      return Long.parseUnsignedLong(identifier.substring(0, 16), 16);
    }
    return hash(XxHash.xxh3(), identifier);
  }

  /** An identifier that stands for a number. */
  static String identifier(long imageHash) {
    String digits = Long.toHexString(imageHash);
    return "0".repeat(16 - digits.length()) + digits + "0".repeat(IDENTIFIER_DIGITS - 16);
  }

  @Override
  public boolean hasLocalHashes() {
    return true;
  }

  @Override
  BlockHasher newHasher(byte @Nullable [] link) {
    return new Hasher(link);
  }

  private final class Hasher extends BlockHasher {

    private byte[] buffer = new byte[(blockTokens() + lookAhead()) * Integer.BYTES];
    private boolean hasParent;
    private long local;
    private long sequence;

    Hasher(byte @Nullable [] link) {
      if (link != null) {
        sequence = Bytes.getLongBe(link, 0);
        hasParent = true;
      }
    }

    @Override
    void next(int[] tokens, int from, int count, long firstToken, @Nullable BlockExtras extras) {
      int words = count + lookAhead();
      byte[] bytes = buffer;
      for (int i = 0; i < words; i++) {
        Bytes.putIntLe(bytes, i << 2, tokens[from + i]);
      }
      int length = words << 2;
      if (extras != null) {
        length = appendImages(length, extras);
      }
      local = localHash.hashBytesToLong(buffer, 0, length);
      sequence = hasParent ? SEQUENCE.hashLongLongToLong(sequence, local) : local;
      hasParent = true;
    }

    private int appendImages(int length, BlockExtras extras) {
      long[] hashes =
          extras.items().stream().mapToLong(item -> imageHash(item.identifier())).toArray();
      sortUnsigned(hashes);
      int end = length + hashes.length * Long.BYTES;
      if (buffer.length < end) {
        buffer = Arrays.copyOf(buffer, end);
      }
      for (int i = 0; i < hashes.length; i++) {
        Bytes.putLongLe(buffer, length + i * Long.BYTES, hashes[i]);
      }
      return end;
    }

    private static void sortUnsigned(long[] values) {
      for (int i = 0; i < values.length; i++) {
        values[i] ^= Long.MIN_VALUE;
      }
      Arrays.sort(values);
      for (int i = 0; i < values.length; i++) {
        values[i] ^= Long.MIN_VALUE;
      }
    }

    @Override
    long reported() {
      return sequence;
    }

    @Override
    long local() {
      return local;
    }

    @Override
    byte @Nullable [] link() {
      return hasParent ? Bytes.ofLong(sequence) : null;
    }
  }
}

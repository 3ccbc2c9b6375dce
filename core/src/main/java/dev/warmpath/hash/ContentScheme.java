package dev.warmpath.hash;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The client's own block hash, for what it learns without any engine's help: XXH3-64 over the
 * previous block's hash and the tokens as 32-bit little-endian words. The chain's root covers
 * model, adapter, salt and extra key, so prefixes of different tenants never meet.
 */
final class ContentScheme extends NumberScheme {

  static final String NAME = "content";

  private final long root;

  ContentScheme(ParamValues params) {
    super(namespace(params), 0);
    this.root = namespace().fingerprint();
  }

  private static HashNamespace namespace(ParamValues params) {
    return new HashNamespace(
        NAME,
        params.requiredBlockTokens(NAME),
        Fingerprint.of(params.model),
        0,
        Fingerprint.of(params.loraName, params.cacheSalt, params.extraKey));
  }

  @Override
  BlockHasher newHasher(byte @Nullable [] link) {
    return new Hasher(link == null ? root : Bytes.getLongBe(link, 0));
  }

  private final class Hasher extends BlockHasher {

    private byte[] buffer = new byte[Long.BYTES + blockTokens() * Integer.BYTES];
    private long hash;

    Hasher(long parent) {
      hash = parent;
    }

    @Override
    void next(int[] tokens, int from, int count, long firstToken, @Nullable BlockExtras extras) {
      byte[] bytes = buffer;
      Bytes.putLongLe(bytes, 0, hash);
      for (int i = 0; i < count; i++) {
        Bytes.putIntLe(bytes, Long.BYTES + (i << 2), tokens[from + i]);
      }
      int length = Long.BYTES + (count << 2);
      if (extras != null) {
        length = appendItems(length, firstToken, extras);
      }
      hash = XxHash.xxh3().hashBytesToLong(buffer, 0, length);
    }

    private int appendItems(int length, long firstToken, BlockExtras extras) {
      int end = length + extras.items().size() * 2 * Long.BYTES;
      if (buffer.length < end) {
        buffer = Arrays.copyOf(buffer, end);
      }
      int at = length;
      for (MultimodalItem item : extras.items()) {
        byte[] identifier = Bytes.utf8(item.identifier());
        Bytes.putLongLe(buffer, at, XxHash.xxh3().hashBytesToLong(identifier));
        Bytes.putLongLe(buffer, at + Long.BYTES, item.offset() - firstToken);
        at += 2 * Long.BYTES;
      }
      return end;
    }

    @Override
    long reported() {
      return hash;
    }

    @Override
    byte[] link() {
      return Bytes.ofLong(hash);
    }
  }
}

package dev.warmpath.hash;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import org.jspecify.annotations.Nullable;

/**
 * SGLang: SHA-256 over the previous page's digest and the page's tokens as 32-bit little-endian
 * words, without anything before the first page (SGLang, {@code mem_cache/radix_cache.py}, {@code
 * hicache_storage.py}).
 *
 * <p>The KV event and the HiCache storage key differ in what a salt or an extra key puts before the
 * first page and in what is reported. With EAGLE the units are overlapping pairs of tokens.
 */
final class SglangScheme extends HashScheme {

  private static final byte[] SALT_TAG = tag("sglang-cache-salt-v1\0");
  private static final byte[] NAMESPACE_TAG = tag("sglang-cache-namespace-v1");
  private static final byte[] LORA_TAG = tag("sglang-kv-event-lora-v1\0");

  /** The three ways of using the page digests. */
  enum Kind {
    /** Hashes of KV events. */
    EVENT("sglang-event"),
    /** Keys of HiCache's storage backends, before their suffixes. */
    HICACHE("sglang-hicache"),
    /** The fake engine's chain over the first eight digest bytes. */
    FAKE("fake-sglang");

    final String schemeName;

    Kind(String schemeName) {
      this.schemeName = schemeName;
    }
  }

  private final Kind kind;
  private final boolean eagle;
  private final boolean wideTokens;
  private final boolean partialTail;
  private final byte @Nullable [] root;
  private final byte @Nullable [] loraMix;

  SglangScheme(Kind kind, ParamValues params) {
    super(namespace(kind, params), params.eagle ? 1 : 0);
    this.kind = kind;
    this.eagle = params.eagle;
    this.wideTokens = params.wideTokens;
    this.partialTail = params.partialTail;
    this.root = root(kind, params);
    String mixed = params.loraNameMix;
    this.loraMix = mixed == null || kind != Kind.EVENT ? null : sha256(LORA_TAG, Bytes.utf8(mixed));
  }

  private static HashNamespace namespace(Kind kind, ParamValues params) {
    boolean storage = kind == Kind.HICACHE && params.namespaced;
    boolean events = kind != Kind.HICACHE && params.namespaced;
    long engine =
        Fingerprint.of(
            params.eagle ? "eagle" : null,
            params.wideTokens ? "wide" : null,
            params.namespaced ? null : "token-only");
    // SGLang's radix tree keeps adapters apart by the extra key, its event hashes do not.
    long unhashed =
        Fingerprint.of(
            params.loraName,
            storage ? null : params.extraKey,
            storage || events ? null : params.cacheSalt);
    long hashed =
        Fingerprint.of(
            storage || events ? params.cacheSalt : null,
            storage ? params.extraKey : null,
            events ? params.loraNameMix : null);
    return new HashNamespace(kind.schemeName, params.blockTokens(1), engine, unhashed, hashed);
  }

  private static byte @Nullable [] root(Kind kind, ParamValues params) {
    String salt = params.cacheSalt;
    if (!params.namespaced) {
      return null;
    }
    if (kind != Kind.HICACHE) {
      return salt == null ? null : sha256(SALT_TAG, Bytes.utf8(salt));
    }
    if (params.extraKey == null && salt == null) {
      return null;
    }
    return sha256(NAMESPACE_TAG, namespacePart(params.extraKey), namespacePart(salt));
  }

  /** Presence, length and text, so that an absent part and joined parts stay apart. */
  private static byte[] namespacePart(@Nullable String text) {
    if (text == null) {
      return new byte[] {0};
    }
    byte[] utf8 = Bytes.utf8(text);
    byte[] part = new byte[1 + Long.BYTES + utf8.length];
    part[0] = 1;
    Bytes.putLongLe(part, 1, utf8.length);
    System.arraycopy(utf8, 0, part, 1 + Long.BYTES, utf8.length);
    return part;
  }

  private static byte[] tag(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  private static byte[] sha256(byte[]... parts) {
    MessageDigest digest = Sha256.newDigest();
    for (byte[] part : parts) {
      digest.update(part);
    }
    return digest.digest();
  }

  @Override
  public ReportedForm reportedForm() {
    return kind == Kind.HICACHE ? ReportedForm.HEX : ReportedForm.FIRST_64_SIGNED;
  }

  @Override
  public int digestBytes() {
    return Sha256.BYTES;
  }

  @Override
  public long maxTokenId() {
    return wideTokens ? Long.MAX_VALUE : UNSIGNED_INT_MAX;
  }

  @Override
  int linkBytes() {
    return kind == Kind.FAKE ? Long.BYTES : Sha256.BYTES;
  }

  @Override
  boolean hashesPartialTail() {
    return partialTail;
  }

  @Override
  BlockHasher newHasher(byte @Nullable [] link) {
    return new PageHasher(link == null ? root : link);
  }

  private final class PageHasher extends BlockHasher {

    private final MessageDigest sha = Sha256.newDigest();

    /** The previous digest, and behind its chained part the page's words. */
    private byte[] buffer;

    private int linked;

    PageHasher(byte @Nullable [] link) {
      int words = blockTokens() * (eagle ? 2 : 1);
      buffer = new byte[Sha256.BYTES + words * Integer.BYTES];
      if (link != null) {
        linked = Math.min(link.length, linkBytes());
        System.arraycopy(link, 0, buffer, 0, linked);
      }
    }

    @Override
    void next(int[] tokens, int from, int count, long firstToken, @Nullable BlockExtras extras) {
      byte[] bytes = buffer;
      int at = linked;
      if (eagle) {
        for (int i = from; i < from + count; i++, at += 2 * Integer.BYTES) {
          Bytes.putIntLe(bytes, at, tokens[i]);
          Bytes.putIntLe(bytes, at + Integer.BYTES, tokens[i + 1]);
        }
      } else {
        for (int i = from; i < from + count; i++, at += Integer.BYTES) {
          Bytes.putIntLe(bytes, at, tokens[i]);
        }
      }
      digest(at);
    }

    /** The unconfirmed form for ids beyond 32 bits: a marker byte, then 64-bit words. */
    @Override
    void nextWide(
        long[] tokens, int from, int count, long firstToken, @Nullable BlockExtras extras) {
      int words = count * (eagle ? 2 : 1);
      int length = linked + 1 + words * Long.BYTES;
      if (buffer.length < length) {
        byte[] larger = new byte[length];
        System.arraycopy(buffer, 0, larger, 0, linked);
        buffer = larger;
      }
      int at = linked;
      buffer[at++] = (byte) 0xFF;
      for (int i = from; i < from + count; i++) {
        Bytes.putLongLe(buffer, at, tokens[i]);
        at += Long.BYTES;
        if (eagle) {
          Bytes.putLongLe(buffer, at, tokens[i + 1]);
          at += Long.BYTES;
        }
      }
      digest(at);
    }

    private void digest(int length) {
      sha.update(buffer, 0, length);
      Sha256.finish(sha, buffer, 0);
      linked = linkBytes();
    }

    @Override
    long reported() {
      long first = digestWord(0);
      if (loraMix == null) {
        return first;
      }
      sha.update(loraMix);
      sha.update(Bytes.ofLong(first));
      return Bytes.getLongBe(sha.digest(), 0);
    }

    @Override
    long digestWord(int index) {
      return Bytes.getLongBe(buffer, index * Long.BYTES);
    }

    @Override
    byte @Nullable [] link() {
      if (linked == 0) {
        return null;
      }
      byte[] link = new byte[linked];
      System.arraycopy(buffer, 0, link, 0, linked);
      return link;
    }
  }
}

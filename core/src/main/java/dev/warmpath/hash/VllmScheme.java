package dev.warmpath.hash;

import com.dynatrace.hash4j.hashing.HashValue128;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * vLLM's V1 prefix cache: a digest over the serialized tuple of parent digest, token ids and extra
 * keys (vLLM, {@code v1/core/kv_cache_utils.py}, {@code utils/hashing.py}). The first block's
 * parent is NONE_HASH, the digest of the serialized seed text.
 *
 * <p>Extra keys are, in this order, the adapter's name on every block, the multimodal items that
 * touch the block, the cache salt on the block at token 0, and the digest of prompt embeddings.
 */
final class VllmScheme extends HashScheme {

  /** What seeds NONE_HASH where PYTHONHASHSEED is unset and the digest is SHA-256. */
  private static final String DEFAULT_SEED = "vllm-none-hash";

  private static final String ROOT = "NONE_HASH";

  /** The values of vLLM's {@code --prefix-caching-hash-algo}. */
  enum Algorithm {
    /** Pickle and SHA-256, the engine's default. */
    SHA256("vllm-sha256", Sha256.BYTES, false),
    /** Canonical CBOR and SHA-256. */
    SHA256_CBOR("vllm-sha256-cbor", Sha256.BYTES, true),
    /** Pickle and XXH3-128. */
    XXHASH("vllm-xxhash", 16, false),
    /** Canonical CBOR and XXH3-128. */
    XXHASH_CBOR("vllm-xxhash-cbor", 16, true);

    final String schemeName;
    final int digestBytes;
    final boolean cbor;

    Algorithm(String schemeName, int digestBytes, boolean cbor) {
      this.schemeName = schemeName;
      this.digestBytes = digestBytes;
      this.cbor = cbor;
    }
  }

  private final Algorithm algorithm;
  private final boolean legacy;
  private final MultimodalKeyStyle style;
  private final byte[] root;
  private final @Nullable String loraName;
  private final @Nullable String cacheSalt;

  /** The encoded extra keys of a block that has no others than the adapter. */
  private final byte[] plainKeys;

  VllmScheme(Algorithm algorithm, ParamValues params) {
    this(algorithm, params, root(algorithm, params));
  }

  private VllmScheme(Algorithm algorithm, ParamValues params, byte[] root) {
    super(
        new HashNamespace(
            algorithm.schemeName,
            params.blockTokens(16),
            Fingerprint.of(
                HexFormat.of().formatHex(root),
                style(params).name(),
                params.legacy ? "legacy" : null),
            Fingerprint.of(params.extraKey),
            Fingerprint.of(params.loraName, params.cacheSalt)),
        0);
    this.algorithm = algorithm;
    this.legacy = params.legacy;
    this.style = style(params);
    this.root = root;
    this.loraName = params.loraName;
    this.cacheSalt = params.cacheSalt;
    this.plainKeys =
        newEncoder().extraKeys(loraName == null ? List.of() : List.of(new ExtraKey.Text(loraName)));
  }

  private static MultimodalKeyStyle style(ParamValues params) {
    return params.multimodalKeyStyle == null ? MultimodalKeyStyle.PAIR : params.multimodalKeyStyle;
  }

  private static byte[] root(Algorithm algorithm, ParamValues params) {
    if (params.legacy && algorithm != Algorithm.SHA256_CBOR) {
      throw new IllegalArgumentException(
          "only vllm-sha256-cbor has a legacy form, not " + algorithm.schemeName);
    }
    String given = params.noneHash;
    if (given == null) {
      String seed = params.seed == null ? defaultSeed(algorithm) : params.seed;
      return noneHash(algorithm, params.legacy, seed);
    }
    byte[] root = params.legacy ? Bytes.ofLong(Bytes.unsigned(ROOT, given)) : hex(algorithm, given);
    if (params.seed != null
        && !Arrays.equals(root, noneHash(algorithm, params.legacy, params.seed))) {
      throw new IllegalArgumentException(ROOT + " does not belong to the seed");
    }
    return root;
  }

  private static String defaultSeed(Algorithm algorithm) {
    if (algorithm.digestBytes != Sha256.BYTES) {
      throw new IllegalArgumentException(
          algorithm.schemeName
              + " needs the engine's PYTHONHASHSEED as seed: without one the engine's is random");
    }
    return DEFAULT_SEED;
  }

  /** Before vLLM hashed its random root, that was 32 random bytes whatever the algorithm. */
  private static byte[] hex(Algorithm algorithm, String noneHash) {
    byte[] root = Bytes.fromHex(ROOT, noneHash, -1);
    if (root.length != algorithm.digestBytes && root.length != Sha256.BYTES) {
      throw new IllegalArgumentException(
          ROOT + " must be " + algorithm.digestBytes + " bytes, not " + root.length);
    }
    return root;
  }

  private static byte[] noneHash(Algorithm algorithm, boolean legacy, String seed) {
    BlockEncoder encoder = newEncoder(algorithm, legacy);
    encoder.encodeText(seed);
    Digester digester = Digester.of(algorithm, legacy);
    digester.update(encoder.buffer, encoder.length);
    return digester.link();
  }

  private BlockEncoder newEncoder() {
    return newEncoder(algorithm, legacy);
  }

  private static BlockEncoder newEncoder(Algorithm algorithm, boolean legacy) {
    return algorithm.cbor ? new CborEncoder(legacy) : new PickleEncoder();
  }

  @Override
  public ReportedForm reportedForm() {
    return ReportedForm.LAST_64_UNSIGNED;
  }

  @Override
  public int digestBytes() {
    return legacy ? 0 : algorithm.digestBytes;
  }

  @Override
  public long maxTokenId() {
    return Long.MAX_VALUE;
  }

  @Override
  int linkBytes() {
    return legacy ? Long.BYTES : algorithm.digestBytes;
  }

  @Override
  boolean oneOpenItem() {
    return true;
  }

  @Override
  BlockHasher newHasher(byte @Nullable [] link) {
    return new Hasher(link == null ? root : link);
  }

  /** The digest function, with the digest of the last message. */
  private abstract static class Digester {

    static Digester of(Algorithm algorithm, boolean legacy) {
      return algorithm.digestBytes == Sha256.BYTES ? new Sha(legacy) : new Xxh3();
    }

    /** The digest in its first {@link #bytes} bytes. */
    final byte[] digest = new byte[Sha256.BYTES];

    final int bytes;

    Digester(int bytes) {
      this.bytes = bytes;
    }

    abstract void update(byte[] message, int length);

    final byte[] link() {
      byte[] link = new byte[bytes];
      System.arraycopy(digest, 0, link, 0, bytes);
      return link;
    }
  }

  private static final class Sha extends Digester {

    private final MessageDigest sha = Sha256.newDigest();
    private final boolean legacy;

    Sha(boolean legacy) {
      super(legacy ? Long.BYTES : Sha256.BYTES);
      this.legacy = legacy;
    }

    @Override
    void update(byte[] message, int length) {
      sha.update(message, 0, length);
      Sha256.finish(sha, digest, 0);
      if (legacy) {
        Bytes.putLongBe(digest, 0, Bytes.getLongBe(digest, Sha256.BYTES - Long.BYTES));
      }
    }
  }

  private static final class Xxh3 extends Digester {

    Xxh3() {
      super(16);
    }

    @Override
    void update(byte[] message, int length) {
      HashValue128 value = XxHash.xxh3Wide().hashBytesTo128Bits(message, 0, length);
      Bytes.putLongBe(digest, 0, value.getMostSignificantBits());
      Bytes.putLongBe(digest, Long.BYTES, value.getLeastSignificantBits());
    }
  }

  private final class Hasher extends BlockHasher {

    private final BlockEncoder encoder = newEncoder();
    private final Digester digester = Digester.of(algorithm, legacy);
    private int parentLength;

    Hasher(byte[] parent) {
      System.arraycopy(parent, 0, digester.digest, 0, parent.length);
      parentLength = parent.length;
    }

    @Override
    void next(int[] tokens, int from, int count, long firstToken, @Nullable BlockExtras extras) {
      byte[] keys = extraKeys(firstToken, extras);
      encoder.encode(digester.digest, parentLength, tokens, from, count, keys);
      digest();
    }

    @Override
    void nextWide(
        long[] tokens, int from, int count, long firstToken, @Nullable BlockExtras extras) {
      byte[] keys = extraKeys(firstToken, extras);
      encoder.encodeWide(digester.digest, parentLength, tokens, from, count, keys);
      digest();
    }

    private void digest() {
      digester.update(encoder.buffer, encoder.length);
      parentLength = digester.bytes;
    }

    private byte[] extraKeys(long firstToken, @Nullable BlockExtras extras) {
      if (extras == null && (firstToken > 0 || cacheSalt == null)) {
        return plainKeys;
      }
      List<ExtraKey> keys = keys(firstToken, extras);
      if (!algorithm.cbor) {
        requireDistinct(keys);
      }
      return encoder.extraKeys(keys);
    }

    private List<ExtraKey> keys(long firstToken, @Nullable BlockExtras extras) {
      if (extras != null && extras.keys() != null) {
        return extras.keys().keys();
      }
      List<ExtraKey> keys = new ArrayList<>();
      if (loraName != null) {
        keys.add(new ExtraKey.Text(loraName));
      }
      if (extras != null) {
        for (MultimodalItem item : extras.items()) {
          keys.add(
              style == MultimodalKeyStyle.BARE
                  ? new ExtraKey.Text(item.identifier())
                  : new ExtraKey.Placed(item.identifier(), item.offset() - firstToken));
        }
      }
      if (cacheSalt != null && firstToken == 0) {
        keys.add(new ExtraKey.Text(cacheSalt));
      }
      if (extras != null && extras.embeds() != null) {
        keys.add(new ExtraKey.Raw(extras.embeds().sha256Hex()));
      }
      return keys;
    }

    /** Pickle writes an object's second occurrence as a reference, and equal texts may be one. */
    private void requireDistinct(List<ExtraKey> keys) {
      Set<String> texts = new HashSet<>();
      for (ExtraKey key : keys) {
        String text =
            key instanceof ExtraKey.Text bare
                ? bare.text()
                : key instanceof ExtraKey.Placed placed ? placed.identifier() : null;
        if (text != null && !texts.add(text)) {
          throw new UnreproducibleHashException(
              "a block has the same text twice among its extra keys, and "
                  + name()
                  + " depends on whether the engine holds one object or two");
        }
      }
    }

    @Override
    long reported() {
      return Bytes.getLongBe(digester.digest, digester.bytes - Long.BYTES);
    }

    @Override
    long digestWord(int index) {
      return Bytes.getLongBe(digester.digest, index * Long.BYTES);
    }

    @Override
    byte[] link() {
      byte[] link = new byte[parentLength];
      System.arraycopy(digester.digest, 0, link, 0, parentLength);
      return link;
    }
  }
}

package dev.warmpath.hash;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The block keys of llm-d's router and inference simulator, which are not vLLM's hashes: FNV-64a
 * over canonical CBOR, or XXH64 over raw words (llm-d/llm-d-router, {@code
 * pkg/kvcache/kvblock/token_processor.go}). The root covers a seed and the name of the model or
 * adapter; items' identifiers follow the tokens, on block 0 the salt after them.
 */
final class LlmdScheme extends NumberScheme {

  static final String NAME = "llmd";

  private static final String CBOR_FNV = "cbor-fnv";
  private static final String XXH64 = "xxh64";

  private static final long FNV_OFFSET = 0xCBF29CE484222325L;
  private static final long FNV_PRIME = 0x100000001B3L;

  private final boolean xxh64;
  private final @Nullable String cacheSalt;
  private final long root;

  LlmdScheme(ParamValues params) {
    super(
        new HashNamespace(
            NAME,
            params.blockTokens(16),
            Fingerprint.of(algorithm(params), seed(params), params.legacy ? "legacy" : null),
            Fingerprint.of(params.extraKey),
            Fingerprint.of(params.model, params.loraName, params.cacheSalt)),
        0);
    this.xxh64 = algorithm(params).equals(XXH64);
    this.cacheSalt = params.cacheSalt;
    this.root = xxh64 ? rootXxh64(params) : rootFnv(params);
  }

  private static String algorithm(ParamValues params) {
    String algorithm = params.algorithm == null ? CBOR_FNV : params.algorithm;
    if (!algorithm.equals(CBOR_FNV) && !algorithm.equals(XXH64)) {
      throw new IllegalArgumentException(
          "alg of llmd is " + CBOR_FNV + " or " + XXH64 + ", not " + algorithm);
    }
    return algorithm;
  }

  private static String seed(ParamValues params) {
    return params.seed == null ? "" : params.seed;
  }

  /** The adapter's name where the request uses one, as the router sees it as the model. */
  private static String model(ParamValues params) {
    String model = params.loraName == null ? params.model : params.loraName;
    if (model == null) {
      throw new IllegalArgumentException("llmd needs the name of the model");
    }
    return model;
  }

  private static long rootFnv(ParamValues params) {
    byte[] seed = Bytes.utf8(seed(params));
    long root = fnv64a(seed, seed.length);
    if (params.legacy) {
      return root;
    }
    CborEncoder cbor = new CborEncoder(true);
    cbor.putArray(3);
    cbor.putUnsigned(root);
    cbor.putNone();
    cbor.putText(model(params));
    return fnv64a(cbor.buffer, cbor.length);
  }

  private static long rootXxh64(ParamValues params) {
    byte[] seed = Bytes.utf8(seed(params));
    long root = XxHash.xxh64(seed, 0, seed.length);
    if (params.legacy) {
      return root;
    }
    byte[] model = Bytes.utf8(model(params));
    byte[] step = new byte[2 * Long.BYTES + model.length];
    Bytes.putLongLe(step, 0, root);
    Bytes.putLongLe(step, Long.BYTES, model.length);
    System.arraycopy(model, 0, step, 2 * Long.BYTES, model.length);
    return XxHash.xxh64(step, 0, step.length);
  }

  static long fnv64a(byte[] input, int length) {
    long hash = FNV_OFFSET;
    for (int i = 0; i < length; i++) {
      hash = (hash ^ (input[i] & 0xFF)) * FNV_PRIME;
    }
    return hash;
  }

  @Override
  BlockHasher newHasher(byte @Nullable [] link) {
    long parent = link == null ? root : Bytes.getLongBe(link, 0);
    return xxh64 ? new Xxh64Hasher(parent) : new FnvHasher(parent);
  }

  private abstract class Hasher extends BlockHasher {

    long hash;

    Hasher(long parent) {
      hash = parent;
    }

    /** The extra texts of a block. */
    List<String> texts(long firstToken, @Nullable BlockExtras extras) {
      boolean salted = cacheSalt != null && firstToken == 0;
      if (extras == null && !salted) {
        return List.of();
      }
      List<String> texts = new ArrayList<>();
      if (extras != null) {
        extras.items().forEach(item -> texts.add(item.identifier()));
      }
      if (salted) {
        texts.add(cacheSalt);
      }
      return texts;
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

  private final class FnvHasher extends Hasher {

    private static final byte[] NO_EXTRAS = new CborEncoder(true).extraKeys(List.of());

    private final CborEncoder cbor = new CborEncoder(true);
    private final byte[] parent = new byte[Long.BYTES];

    FnvHasher(long parent) {
      super(parent);
    }

    @Override
    void next(int[] tokens, int from, int count, long firstToken, @Nullable BlockExtras extras) {
      byte[] encoded = encode(texts(firstToken, extras));
      Bytes.putLongBe(parent, 0, hash);
      cbor.encode(parent, parent.length, tokens, from, count, encoded);
      hash = fnv64a(cbor.buffer, cbor.length);
    }

    private byte[] encode(List<String> texts) {
      if (texts.isEmpty()) {
        return NO_EXTRAS;
      }
      cbor.length = 0;
      cbor.putArray(texts.size());
      for (String text : texts) {
        cbor.putMap(1);
        cbor.putText("Hash");
        cbor.putText(text);
      }
      return Arrays.copyOf(cbor.buffer, cbor.length);
    }
  }

  private final class Xxh64Hasher extends Hasher {

    private byte[] buffer = new byte[Long.BYTES + blockTokens() * Integer.BYTES];

    Xxh64Hasher(long parent) {
      super(parent);
    }

    @Override
    void next(int[] tokens, int from, int count, long firstToken, @Nullable BlockExtras extras) {
      byte[] bytes = buffer;
      Bytes.putLongLe(bytes, 0, hash);
      for (int i = 0; i < count; i++) {
        Bytes.putIntLe(bytes, Long.BYTES + (i << 2), tokens[from + i]);
      }
      int length = Long.BYTES + (count << 2);
      for (String text : texts(firstToken, extras)) {
        length = append(length, Bytes.utf8(text));
      }
      hash = XxHash.xxh64(buffer, 0, length);
    }

    private int append(int length, byte[] text) {
      int end = length + Long.BYTES + text.length;
      if (buffer.length < end) {
        buffer = Arrays.copyOf(buffer, end);
      }
      Bytes.putLongLe(buffer, length, text.length);
      System.arraycopy(text, 0, buffer, length + Long.BYTES, text.length);
      return end;
    }
  }
}

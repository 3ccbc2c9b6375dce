package dev.warmpath.hash;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Everything that block hashes may depend on besides the tokens: how the engine was configured, the
 * keys of one request, where a chain is resumed, and what single blocks cover. Schemes read what
 * their engines hash and ignore the rest.
 *
 * <p>Built in code, or read from JSON by {@link #parse}; each option names its JSON keys. Empty
 * texts count as absent, except for the seed. Immutable.
 */
public final class HashParams {

  final ParamValues values;

  private HashParams(ParamValues values) {
    this.values = values;
  }

  /** A builder with nothing set. */
  public static Builder builder() {
    return new Builder(new ParamValues());
  }

  /**
   * Reads parameters from a JSON object.
   *
   * @param json the object's text
   * @throws IllegalArgumentException if it is not a JSON object or a value has the wrong form
   */
  public static HashParams parse(String json) {
    return HashParamsJson.read(json);
  }

  /**
   * An engine's parameters with the request's keys of these: adapter, cache salt and extra key.
   *
   * @param engine how the engine was configured
   */
  public HashParams withEngine(HashParams engine) {
    ParamValues merged = engine.values.copy();
    merged.loraName = values.loraName;
    merged.cacheSalt = values.cacheSalt;
    merged.extraKey = values.extraKey;
    return new HashParams(merged);
  }

  /** A builder that starts from these parameters. */
  public Builder toBuilder() {
    return new Builder(values.copy());
  }

  /** Keys of the JSON object that no scheme reads, for a warning. */
  public List<String> unknownKeys() {
    return values.unknownKeys;
  }

  /** Collects parameters. Not thread safe. */
  public static final class Builder {

    private final ParamValues values;

    private Builder(ParamValues values) {
      this.values = values;
    }

    private static @Nullable String emptyToNull(@Nullable String text) {
      return text == null || text.isEmpty() ? null : text;
    }

    /**
     * Tokens in a block or page, {@code block_size} or {@code page_size}. Defaults to 1 for SGLang
     * and 16 for vLLM, ATOM and llm-d. For vLLM under context parallelism the effective size, which
     * its events say.
     */
    public Builder blockSize(int tokens) {
      values.blockSize = tokens;
      return this;
    }

    /**
     * ATOM: ranks of the decode context, {@code dcp_world_size}; one hash covers a block of each.
     */
    public Builder contextParallel(int ranks) {
      values.contextParallel = ranks;
      return this;
    }

    /**
     * ATOM: tokens that one hash covers, {@code hash_block_tokens}, where the ranks are unknown.
     */
    public Builder hashBlockTokens(int tokens) {
      values.hashBlockTokens = tokens;
      return this;
    }

    /**
     * The seed text, {@code seed}: PYTHONHASHSEED of a vLLM engine, the hash seed of llm-d. vLLM's
     * SHA-256 schemes have a default of their own; its XXH schemes have none.
     */
    public Builder seed(@Nullable String text) {
      values.seed = text;
      return this;
    }

    /** vLLM: NONE_HASH as hexadecimal text, {@code none_hash_hex}, where the seed is unknown. */
    public Builder noneHash(@Nullable String hex) {
      values.noneHash = hex;
      return this;
    }

    /** Dynamo: the seed of local hashes, {@code xxh3_seed_u64}, else derived from the keys. */
    public Builder xxh3Seed(long value) {
      values.xxh3Seed = value;
      return this;
    }

    /** The model's name, {@code model}, where the scheme hashes it (llm-d). */
    public Builder model(@Nullable String name) {
      values.model = emptyToNull(name);
      return this;
    }

    /** llm-d: {@code alg}, either {@code cbor-fnv} (the default) or {@code xxh64}. */
    public Builder algorithm(@Nullable String name) {
      values.algorithm = name;
      return this;
    }

    /** vLLM: the form of multimodal keys, {@code mm_extra_key_style}; pairs by default. */
    public Builder multimodalKeyStyle(@Nullable MultimodalKeyStyle style) {
      values.multimodalKeyStyle = style;
      return this;
    }

    /**
     * SGLang and Dynamo with EAGLE, {@code is_eagle} or {@code eagle}: blocks overlap by a token.
     */
    public Builder eagle(boolean enabled) {
      values.eagle = enabled;
      return this;
    }

    /**
     * SGLang: whether salt and extra key are hashed, {@code namespaced}; they are by default. Older
     * builds hashed tokens only.
     */
    public Builder namespaced(boolean enabled) {
      values.namespaced = enabled;
      return this;
    }

    /**
     * {@code legacy}: vLLM 0.10's {@code sha256_cbor_64bit}, or llm-d's chain without the model's
     * name.
     */
    public Builder legacy(boolean enabled) {
      values.legacy = enabled;
      return this;
    }

    /**
     * SGLang, {@code include_partial_tail}: hash the tokens after the last full page as a short
     * page when a chain is finished. No engine publishes such a page.
     */
    public Builder partialTail(boolean enabled) {
      values.partialTail = enabled;
      return this;
    }

    /**
     * SGLang, {@code wide_tokens}: hash ids beyond 32 bits in the form of an unconfirmed revision
     * instead of refusing them.
     */
    public Builder wideTokens(boolean enabled) {
      values.wideTokens = enabled;
      return this;
    }

    /** SGLang, {@code lora_name_mix}: adapter mixed into reported values, an unreleased form. */
    public Builder loraNameMix(@Nullable String name) {
      values.loraNameMix = emptyToNull(name);
      return this;
    }

    /** The request's LoRA adapter, {@code lora_name} or {@code lora}. */
    public Builder loraName(@Nullable String name) {
      values.loraName = emptyToNull(name);
      return this;
    }

    /** The request's cache salt, {@code cache_salt} or {@code ns}. */
    public Builder cacheSalt(@Nullable String salt) {
      values.cacheSalt = emptyToNull(salt);
      return this;
    }

    /** The request's extra key, {@code extra_key}; in SGLang it holds the adapter's id as well. */
    public Builder extraKey(@Nullable String key) {
      values.extraKey = emptyToNull(key);
      return this;
    }

    /**
     * What the first block chains on when it is not the prompt's first: hexadecimal for SGLang
     * ({@code prior_hex}) and vLLM ({@code parent_hex}), else an unsigned decimal number ({@code
     * parent_u64}, {@code parent_sequence_hash_u64}).
     */
    public Builder parent(@Nullable String digest) {
      values.parent = digest;
      return this;
    }

    /** Position of the first token in the prompt after a parent, {@code first_token_index}. */
    public Builder firstTokenIndex(long position) {
      values.firstTokenIndex = position;
      return this;
    }

    /**
     * What blocks cover besides tokens and keys: {@code mm} and {@code
     * prompt_embeds_sha256_hex_per_block}. Replaces what was set before.
     */
    public Builder extras(List<? extends BlockExtra> list) {
      values.extras = List.copyOf(list);
      return this;
    }

    /**
     * Keys of single blocks, by their index in the chain: image hashes as decimal numbers for
     * Dynamo ({@code mm_hashes_u64_by_block}), texts for llm-d ({@code extra_strings_by_block}).
     * Replaces what was set before.
     */
    public Builder blockKeys(Map<Integer, List<String>> keys) {
      Map<Integer, List<String>> copy = new TreeMap<>(Comparator.naturalOrder());
      keys.forEach((block, list) -> copy.put(block, List.copyOf(list)));
      values.blockKeys = copy;
      return this;
    }

    Builder unknownKeys(List<String> keys) {
      values.unknownKeys = keys;
      return this;
    }

    /** The parameters. */
    public HashParams build() {
      return new HashParams(values.copy());
    }
  }
}

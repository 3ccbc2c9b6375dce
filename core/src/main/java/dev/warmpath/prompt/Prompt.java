package dev.warmpath.prompt;

import dev.warmpath.hash.BlockHashes;
import dev.warmpath.hash.ChainState;
import dev.warmpath.hash.HashParams;
import dev.warmpath.hash.HashScheme;
import dev.warmpath.transport.PromptTokens;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What routing needs of a request's body. Immutable to its callers and safe for any number of
 * threads; what costs something is worked out when it is first asked for. Never logged.
 *
 * <p>Where the model's files are known, a prompt has the tokens that its engine will compute, and
 * the chain of the client's own block hashes over them. In any case it has its text as bytes in the
 * order in which engines lay it out (tools, then messages), so that two requests share a prefix of
 * these bytes where their prompts share a prefix.
 */
public final class Prompt {
  /** Bytes per token assumed where no tokenizer is at hand. */
  public static final int BYTES_PER_TOKEN = 4;

  /** Tokens of a block of the client's own hashes, which are the same whatever the engines' are. */
  public static final int CLIENT_BLOCK_TOKENS = 16;

  private final @Nullable String model;
  private final boolean stream;
  private final String namespace;
  private final Supplier<byte[]> bytesSource;
  private final int byteLength;
  private final int tokens;
  private final Exactness exactness;
  private final @Nullable String inexactReason;
  private final @Nullable String requestId;
  private final boolean single;
  private final PromptKeys keys;
  private final SegmentCache.@Nullable Encoded ids;
  private final @Nullable TokenSegments segments;
  private final @Nullable ChainState end;
  private final @Nullable ModelPrompts source;
  private final @Nullable PromptTokens given;
  private final @Nullable RequestBody toolsBody;

  private volatile byte @Nullable [] bytes;
  private volatile @Nullable BlockHashes engineBlocks;
  private volatile @Nullable ContentKeys contentKeys;

  private Prompt(Builder builder) {
    this.model = builder.model;
    this.stream = builder.stream;
    this.namespace = builder.namespace;
    this.bytesSource = builder.bytes;
    this.requestId = builder.requestId;
    this.single = builder.single;
    this.keys = builder.keys;
    this.ids = builder.ids;
    this.segments = ids == null ? null : ids.segments();
    this.end = builder.end;
    this.source = builder.source;
    this.given = builder.given;
    this.toolsBody = builder.toolsBody;
    this.inexactReason = builder.inexactReason;
    if (segments != null) {
      this.byteLength = builder.textLength;
      this.tokens = segments.size();
      this.exactness = inexactReason == null ? Exactness.EXACT : Exactness.ESTIMATED;
    } else if (end != null) {
      this.tokens = (int) Math.min(Integer.MAX_VALUE, end.tokens());
      this.byteLength = (int) Math.min(Integer.MAX_VALUE, end.tokens() * BYTES_PER_TOKEN);
      this.exactness = Exactness.ESTIMATED;
    } else {
      byte[] text = bytesSource.get();
      this.bytes = text;
      this.byteLength = text.length;
      this.tokens =
          builder.tokens >= 0
              ? builder.tokens
              : (text.length + BYTES_PER_TOKEN - 1) / BYTES_PER_TOKEN;
      this.exactness = builder.opaque || text.length == 0 ? Exactness.OPAQUE : Exactness.ESTIMATED;
    }
  }

  /**
   * A prompt whose tokens the application has counted and chained itself. Engines' own hashes are
   * not known of it, so it is an estimate.
   *
   * @param model the model that the request names, or null
   * @param stream whether its body asks for a stream
   * @param chain the end of a chain of {@link dev.warmpath.hash.HashSchemes#content} over all of
   *     its tokens, in blocks of {@link #CLIENT_BLOCK_TOKENS}
   * @throws IllegalArgumentException when the chain's blocks are of another size
   */
  public static Prompt ofTokens(@Nullable String model, boolean stream, ChainState chain) {
    return ofTokens(model, stream, chain, null);
  }

  /**
   * The same with the tokens themselves, for workers that take nothing else, such as most gRPC
   * services.
   *
   * @param given the prompt's tokens as the engine is to have them, and the way back to text; null
   *     where only the chain is known
   * @throws IllegalArgumentException when the chain's blocks are of another size, or it is not of
   *     as many tokens
   */
  public static Prompt ofTokens(
      @Nullable String model, boolean stream, ChainState chain, @Nullable PromptTokens given) {
    if (given != null && given.size() != chain.tokens()) {
      throw new IllegalArgumentException(
          "a chain over " + chain.tokens() + " tokens is not that of " + given.size());
    }
    if (chain.scheme().blockTokens() != CLIENT_BLOCK_TOKENS) {
      throw new IllegalArgumentException(
          "blocks of "
              + chain.scheme().blockTokens()
              + " tokens: chain them by "
              + CLIENT_BLOCK_TOKENS);
    }
    return new Builder()
        .model(model).stream(stream)
            .namespace(new PromptKeys(model, null, null, null).namespace())
            .single(true)
            .chained(chain)
            .given(given)
            .build();
  }

  /** The model or LoRA adapter the request names, or null. */
  public @Nullable String model() {
    return model;
  }

  /** Whether the body asks for a stream. */
  public boolean stream() {
    return stream;
  }

  /**
   * Separates what must never be compared: model (or LoRA adapter), cache salt and extra key.
   * Prompts of different namespaces share nothing.
   */
  public String namespace() {
    return namespace;
  }

  /** The prompt's text; empty where it is opaque. Not to be changed. */
  public byte[] bytes() {
    byte[] known = bytes;
    if (known == null) {
      known = bytesSource.get();
      bytes = known;
    }
    return known;
  }

  /** Length of its text: as rendered where its tokens are known, else of {@link #bytes}. */
  public int byteLength() {
    return byteLength;
  }

  /** Its tokens, estimated unless {@link #exactness()} is exact. */
  public int tokens() {
    return tokens;
  }

  /** How faithful it is. */
  public Exactness exactness() {
    return exactness;
  }

  /**
   * Why it is not exact although its model's files are known, in words without any of its text;
   * null where it is exact, or where nothing is known of the model.
   */
  public @Nullable String inexactReason() {
    return inexactReason;
  }

  /** The request id that the body itself carries ({@code rid}), or null. */
  public @Nullable String requestId() {
    return requestId;
  }

  /**
   * Whether the body is one generation: known to be neither a batch of prompts nor {@code n > 1}.
   */
  public boolean single() {
    return single;
  }

  /**
   * Its token ids, a new array; null where its model's files are not known or it can't be rendered.
   * The engine's own only where {@link #exactness()} says so.
   */
  public int @Nullable [] tokenIds() {
    return segments == null ? null : segments.toArray();
  }

  /**
   * Its tokens for transports, with the way back to text; null as {@link #tokenIds} is, unless an
   * application gave them. What is sent as ids is what the engine computes, be the prompt exact or
   * not.
   */
  public @Nullable PromptTokens transportTokens() {
    return segments == null || source == null
        ? given
        : new ModelTokens(segments, source.tokenizer());
  }

  /**
   * The client's own chained hashes of its full blocks, of one size for all workers; null where it
   * has no tokens. They tell which prompts share a prefix, and are never compared with an engine's.
   */
  public @Nullable BlockHashes blocks() {
    return end == null ? null : end.hashes();
  }

  /** The keys by which clients agree on what prompts share, worked out on first request. */
  public ContentKeys contentKeys() {
    ContentKeys known = contentKeys;
    if (known == null) {
      known = ContentKeys.of(this);
      contentKeys = known;
    }
    return known;
  }

  /** LoRA adapter, cache salt and extra key, which engines' hashes may cover. */
  public HashParams hashKeys() {
    return keys.params();
  }

  /**
   * The engine's own hashes of its full blocks, computed on first request: those of blocks that
   * earlier prompts began with as well are remembered. The latest namespace's are kept.
   *
   * @param scheme the engine's, made with this prompt's {@link #hashKeys}
   * @throws IllegalStateException unless the prompt is exact: hashes of estimated tokens would be
   *     taken for an engine's and match nothing, or worse
   */
  public BlockHashes engineBlocks(HashScheme scheme) {
    SegmentCache.Encoded tokenized = ids;
    ModelPrompts model = source;
    if (exactness != Exactness.EXACT || tokenized == null || model == null) {
      throw new IllegalStateException(
          "only an exact prompt has engine hashes; this one is " + exactness.label());
    }
    BlockHashes known = engineBlocks;
    if (known != null && known.namespace().equals(scheme.namespace())) {
      return known;
    }
    BlockHashes made = model.engineBlocks(scheme, tokenized);
    engineBlocks = made;
    return made;
  }

  /**
   * The blocks that a worker holds after it has answered: the prompt's and those that the answer
   * filled, but for its last token, which no later one has read.
   *
   * @param answer the text that was generated, nothing parsed out of it
   * @return null where the prompt has no tokens
   */
  public @Nullable BlockHashes blocksWith(String answer) {
    ChainState state = end;
    ModelPrompts model = source;
    if (state == null || model == null) {
      return null;
    }
    int[] ids = model.answer(answer);
    return state.fork().append(ids, 0, Math.max(0, ids.length - 1)).hashes();
  }

  /**
   * Whether it is longer than {@code earlier} and begins with all of its tokens, as the next turn
   * of a conversation does: whether blocks that {@code earlier}'s answer filled may be its own.
   */
  public boolean continues(Prompt earlier) {
    TokenSegments mine = segments;
    TokenSegments begun = earlier.segments;
    if (mine == null
        || begun == null
        || tokens <= earlier.tokens
        || source != earlier.source
        || !keys.equals(earlier.keys)) {
      return false;
    }
    BlockHashes all = Objects.requireNonNull(blocks());
    BlockHashes known = Objects.requireNonNull(earlier.blocks());
    int full = known.size();
    // The last hash covers all before it.
    return full <= all.size()
        && (full == 0 || all.bits(full - 1) == known.bits(full - 1))
        && mine.sameIn(full * known.scheme().blockTokens(), begun.size(), begun);
  }

  /** Whether both have tools that an engine may write in more than one way, of the same model. */
  public boolean rendersToolsLike(Prompt other) {
    return source == other.source && toolsBody != null && other.toolsBody != null;
  }

  /** Where its model learns from what engines report; null where it has none. */
  @Nullable ModelPrompts source() {
    return source;
  }

  PromptKeys keys() {
    return keys;
  }

  /** The body of a request whose tools an engine may write in more than one way. */
  @Nullable RequestBody toolsBody() {
    return toolsBody;
  }

  /** Sizes only: never the text. */
  @Override
  public String toString() {
    return "Prompt[" + byteLength + " bytes, " + tokens + " tokens, " + exactness.label() + "]";
  }

  /** Collects what a prompt is made of. */
  static final class Builder {
    private static final byte[] NOTHING = new byte[0];

    private @Nullable String model;
    private boolean stream;
    private String namespace = "";
    private Supplier<byte[]> bytes = () -> NOTHING;
    private int tokens = -1;
    private boolean opaque;
    private @Nullable String requestId;
    private boolean single;
    private PromptKeys keys = PromptKeys.NONE;
    private SegmentCache.@Nullable Encoded ids;
    private int textLength;
    private @Nullable ChainState end;
    private @Nullable ModelPrompts source;
    private @Nullable PromptTokens given;
    private @Nullable RequestBody toolsBody;
    private @Nullable String inexactReason;

    Builder model(@Nullable String model) {
      this.model = model;
      return this;
    }

    Builder stream(boolean stream) {
      this.stream = stream;
      return this;
    }

    Builder namespace(String namespace) {
      this.namespace = namespace;
      return this;
    }

    Builder bytes(Supplier<byte[]> bytes) {
      this.bytes = bytes;
      return this;
    }

    /** Tokens for transports that the client did not make. */
    Builder given(@Nullable PromptTokens given) {
      this.given = given;
      return this;
    }

    /** The tokens of a prompt that has no ids. */
    Builder tokens(int tokens) {
      this.tokens = tokens;
      return this;
    }

    Builder opaque() {
      this.opaque = true;
      return this;
    }

    Builder requestId(@Nullable String requestId) {
      this.requestId = requestId;
      return this;
    }

    Builder single(boolean single) {
      this.single = single;
      return this;
    }

    Builder keys(PromptKeys keys) {
      this.keys = keys;
      return this;
    }

    PromptKeys keys() {
      return keys;
    }

    /** The ids, the length of the text they stand for, and the chain over them. */
    Builder tokenized(
        ModelPrompts source, SegmentCache.Encoded ids, int textLength, ChainState end) {
      this.source = source;
      this.ids = Objects.requireNonNull(ids);
      this.textLength = textLength;
      this.end = end;
      return this;
    }

    /** The chain alone, where nothing is known of ids and text. */
    Builder chained(ChainState end) {
      this.end = end;
      return this;
    }

    Builder toolsBody(RequestBody toolsBody) {
      this.toolsBody = toolsBody;
      return this;
    }

    Builder inexact(String reason) {
      this.inexactReason = reason;
      return this;
    }

    Prompt build() {
      return new Prompt(this);
    }
  }
}

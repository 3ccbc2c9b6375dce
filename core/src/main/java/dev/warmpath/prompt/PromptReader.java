package dev.warmpath.prompt;

import dev.warmpath.api.InvalidRequestException;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.api.Usage;
import dev.warmpath.worker.EngineKind;
import java.time.Clock;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads a request's body once, by streaming, into a {@link Prompt}. Understands the bodies of chat
 * completions, completions, embeddings and responses; any other path is opaque. Chats and
 * completions of models whose files it was given get tokens and block hashes. Thread safe.
 *
 * <p>Holds two caches: token ids by segment, and block chains by place. Both are shared by all
 * models and bounded in bytes.
 */
public final class PromptReader {
  private static final Logger log = LoggerFactory.getLogger(PromptReader.class);

  private final Map<String, ModelPrompts> models;
  private final @Nullable ModelPrompts anyModel;
  private final SegmentCache segments;
  private final ChainCache chains;
  private final @Nullable PromptSource source;
  private final boolean tenantRequired;
  private final StageTimers timers;
  private final AtomicBoolean failing = new AtomicBoolean();

  /** Reads prompts without any model's files: their tokens are estimated. */
  public PromptReader() {
    this(builder());
  }

  private PromptReader(Builder builder) {
    this.source = builder.source;
    this.timers = builder.timers;
    this.tenantRequired = builder.tenantRequired;
    this.segments = new SegmentCache(builder.cacheBytes / 4 * 3);
    this.chains = new ChainCache(builder.cacheBytes / 4);
    Map<String, ModelPrompts> made = new LinkedHashMap<>();
    Map<ModelFiles, Integer> numbers = new LinkedHashMap<>();
    builder.models.forEach((name, files) -> made.put(name, prompts(builder, files, numbers)));
    this.models = Map.copyOf(made);
    ModelFiles any = builder.anyModel;
    this.anyModel = any == null ? null : prompts(builder, any, numbers);
  }

  private ModelPrompts prompts(
      Builder builder, ModelFiles files, Map<ModelFiles, Integer> numbers) {
    numbers.putIfAbsent(files, numbers.size());
    return new ModelPrompts(
        files,
        numbers.getOrDefault(files, 0),
        segments,
        chains,
        builder.blockTokens,
        builder.clock,
        builder.timers);
  }

  /** A builder with no model, 64 MB of cache, blocks of 16 tokens, and the system's clock. */
  public static Builder builder() {
    return new Builder();
  }

  /**
   * Who serves a model.
   *
   * @param engines the kinds of its workers' engines; empty where none is known
   * @param base the base model's name where the name is a LoRA adapter's, else null
   */
  public record Served(Set<EngineKind> engines, @Nullable String base) {
    /** Nothing is known. */
    public static final Served UNKNOWN = new Served(Set.of(), null);
  }

  /** Tells who serves a model at this moment. */
  @FunctionalInterface
  public interface Serving {
    /**
     * Who serves a model.
     *
     * @param model the name in the request, or null where it names none
     */
    Served of(@Nullable String model);
  }

  /**
   * What the caches take.
   *
   * @param segmentBytes bytes of heap for token ids by segment, by estimate
   * @param segmentHitRate the share of segments found there so far, 1 before the first
   * @param chainBytes bytes of heap for block chains by place, by estimate
   * @param chainHitRate the share of block chains, the client's own and those by engines' schemes,
   *     that went on from a place there so far, 1 before the first
   */
  public record CacheStats(
      long segmentBytes, double segmentHitRate, long chainBytes, double chainHitRate) {}

  /** What the caches take at this moment. */
  public CacheStats stats() {
    return new CacheStats(segments.bytes(), segments.hitRate(), chains.bytes(), chains.hitRate());
  }

  /** What times the stages of reading. */
  public StageTimers timers() {
    return timers;
  }

  /**
   * Whether prompts may have tokens, of models whose files are known or from a {@link
   * PromptSource}, so that reading one may take more than parsing.
   */
  public boolean tokenizes() {
    return !models.isEmpty() || anyModel != null || source != null;
  }

  /**
   * Reads {@code request}'s body, with nothing known of who serves it.
   *
   * @throws InvalidRequestException when the path calls for a JSON object and the body is none;
   *     says where
   */
  public Prompt read(RouterRequest request) {
    return read(request, model -> Served.UNKNOWN);
  }

  /**
   * Reads {@code request}'s body as its engines will.
   *
   * @param serving tells which engines those are
   * @throws InvalidRequestException when the path calls for a JSON object and the body is none;
   *     says where
   */
  public Prompt read(RouterRequest request, Serving serving) {
    Prompt known = source == null ? null : source.read(request);
    if (known != null) {
      return known;
    }
    if (!understood(request) || request.body().length == 0) {
      if (tenantRequired && request.body().length > 0) {
        throw noTenant(request.path() + " has no place for one");
      }
      return new Prompt.Builder().opaque().build();
    }
    long begun = timers.begin();
    RequestBody body = RequestBody.parse(request);
    timers.end(StageTimers.Stage.PARSE, begun);
    if (tenantRequired && body.key("cache_salt") == null && body.key("extra_key") == null) {
      throw noTenant("set cache_salt or extra_key");
    }
    String model = body.model();
    Prompt.Builder prompt =
        new Prompt.Builder()
            .model(model).stream(body.stream())
                .namespace(
                    new PromptKeys(
                            model,
                            body.key("lora_path"),
                            body.key("cache_salt"),
                            body.key("extra_key"))
                        .namespace())
                .bytes(() -> CanonicalText.of(body))
                .requestId(body.requestId())
                .single(!body.batch());
    if (tokenizes() && (body.isChat() || body.isCompletion())) {
      complete(prompt, body, serving.of(model));
    }
    return prompt.build();
  }

  private static InvalidRequestException noTenant(String remedy) {
    return new InvalidRequestException(
        "this client sends nothing without a tenant key, so that no tenant can tell by its times"
            + " what another's cache holds: "
            + remedy,
        null);
  }

  private void complete(Prompt.Builder prompt, RequestBody body, Served served) {
    Lora lora = Lora.of(body, served);
    ModelPrompts known = model(lora.base());
    if (known == null) {
      return;
    }
    prompt.keys(
        new PromptKeys(lora.base(), lora.adapter(), body.key("cache_salt"), body.key("extra_key")));
    try {
      known.complete(prompt, body, served.engines());
    } catch (RuntimeException | StackOverflowError e) {
      prompt.inexact("the prompt pipeline failed");
      complain(e);
    }
  }

  /** Says once what went wrong and where; an exception's message may quote a prompt. */
  private void complain(Throwable e) {
    if (failing.compareAndSet(false, true)) {
      StackTraceElement[] trace = e.getStackTrace();
      log.warn(
          "Prompts can't be rendered; requests are routed by their bytes ({}{})",
          e.getClass().getName(),
          trace.length == 0 ? "" : " at " + trace[0]);
    }
  }

  private @Nullable ModelPrompts model(@Nullable String name) {
    if (name == null) {
      return models.size() == 1 && anyModel == null ? models.values().iterator().next() : anyModel;
    }
    ModelPrompts named = models.get(name);
    return named == null ? anyModel : named;
  }

  /** A model's name taken apart. */
  private record Lora(@Nullable String base, @Nullable String adapter) {
    static Lora of(RequestBody body, Served served) {
      String model = body.model();
      String path = body.key("lora_path");
      if (path != null) {
        return new Lora(model, path);
      }
      if (served.base() != null) {
        return new Lora(served.base(), model);
      }
      int colon = model == null ? -1 : model.indexOf(':');
      return model != null && colon > 0 && served.engines().equals(Set.of(EngineKind.SGLANG))
          ? new Lora(model.substring(0, colon), model.substring(colon + 1))
          : new Lora(model, null);
    }
  }

  /**
   * Whether {@link #reported} can learn from what an engine counted.
   *
   * @param engine the kind of the worker that counted
   */
  public boolean learnsFrom(Prompt prompt, EngineKind engine, Usage usage) {
    ModelPrompts model = prompt.source();
    Integer counted = usage.promptTokens();
    return engine == EngineKind.SGLANG
        && model != null
        && counted != null
        && model.learnsFrom(prompt, counted);
  }

  /**
   * Takes note of what an engine counted, from which the model's prompts may learn how engines of
   * its kind render. May render and tokenize the prompt anew, several times over.
   */
  public void reported(Prompt prompt, EngineKind engine, Usage usage) {
    ModelPrompts model = prompt.source();
    Integer counted = usage.promptTokens();
    if (model == null || counted == null || !learnsFrom(prompt, engine, usage)) {
      return;
    }
    try {
      model.counted(prompt, counted);
    } catch (RuntimeException | StackOverflowError e) {
      complain(e);
    }
  }

  private static boolean understood(RouterRequest request) {
    return switch (RequestBody.plainPath(request)) {
      case RouterRequest.CHAT_COMPLETIONS,
          RouterRequest.COMPLETIONS,
          RouterRequest.EMBEDDINGS,
          RouterRequest.RESPONSES ->
          true;
      default -> false;
    };
  }

  /** Collects models and sizes. Not thread safe. */
  public static final class Builder {
    private final Map<String, ModelFiles> models = new LinkedHashMap<>();
    private @Nullable ModelFiles anyModel;
    private @Nullable PromptSource source;
    private boolean tenantRequired;
    private long cacheBytes = 64L << 20;
    private int blockTokens = 16;
    private Clock clock = Clock.systemUTC();
    private StageTimers timers = new StageTimers(System::nanoTime);

    private Builder() {}

    /** Adds a model under the name that requests use; several names may share files. */
    public Builder model(String name, ModelFiles files) {
      models.put(Objects.requireNonNull(name), Objects.requireNonNull(files));
      return this;
    }

    /**
     * Sets the files of every model whose name has none of its own: for fleets of one model under
     * whatever names.
     */
    public Builder anyModel(ModelFiles files) {
      this.anyModel = Objects.requireNonNull(files);
      return this;
    }

    /** Sets a source that is asked before a body is read. */
    public Builder source(PromptSource source) {
      this.source = source;
      return this;
    }

    /**
     * Sets whether a body must say whose it is, by {@code cache_salt} or {@code extra_key}; not by
     * default.
     */
    public Builder tenantRequired(boolean required) {
      this.tenantRequired = required;
      return this;
    }

    /** Sets what both caches together may take, in bytes. */
    public Builder cacheBytes(long cacheBytes) {
      if (cacheBytes < 0) {
        throw new IllegalArgumentException("a cache of " + cacheBytes + " bytes");
      }
      this.cacheBytes = cacheBytes;
      return this;
    }

    /** Sets the tokens of a block of the client's own hashes. */
    public Builder blockTokens(int blockTokens) {
      if (blockTokens < 1) {
        throw new IllegalArgumentException("a block of " + blockTokens + " tokens: use 1 or more");
      }
      this.blockTokens = blockTokens;
      return this;
    }

    /**
     * Sets the clock that templates which print the date go by: the engines' own, in their zone.
     */
    public Builder clock(Clock clock) {
      this.clock = clock;
      return this;
    }

    /** Sets what times the stages of reading. */
    public Builder timers(StageTimers timers) {
      this.timers = Objects.requireNonNull(timers);
      return this;
    }

    /** The reader. */
    public PromptReader build() {
      return new PromptReader(this);
    }
  }
}

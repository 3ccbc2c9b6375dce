package dev.warmpath.worker;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What configuration or discovery says of a worker. Everything but the address may be null: then it
 * is discovered from the worker. What is set here wins over what the worker reports. Immutable.
 */
public final class WorkerSpec {
  /** The most data-parallel ranks that one worker may have. */
  public static final int MAX_DP_SIZE = 1_024;

  private final WorkerId id;
  private final @Nullable WorkerRole role;
  private final @Nullable EngineKind engine;
  private final @Nullable Integer dpSize;
  private final @Nullable Integer blockSize;
  private final @Nullable Long kvCapacityTokens;
  private final KvHashing hashing;
  private final List<String> models;
  private final @Nullable Secret apiKey;
  private final @Nullable Secret adminKey;
  private final @Nullable TlsFiles tls;
  private final Map<String, String> labels;

  private WorkerSpec(Builder builder) {
    this.id = builder.id;
    this.role = builder.role;
    this.engine = builder.engine;
    this.dpSize = builder.dpSize;
    this.blockSize = builder.blockSize;
    this.kvCapacityTokens = builder.kvCapacityTokens;
    this.hashing = builder.hashing;
    this.models = List.copyOf(builder.models);
    this.apiKey = builder.apiKey;
    this.adminKey = builder.adminKey;
    this.tls = builder.tls;
    this.labels = Map.copyOf(builder.labels);
  }

  /** Starts a spec for the worker at {@code address}; see {@link WorkerId#parse}. */
  public static Builder builder(String address) {
    return new Builder(WorkerId.parse(address));
  }

  /**
   * Reads the one-line form: a URL, then {@code ;key=value} pairs of {@code role}, {@code engine},
   * {@code dp}, {@code block}, {@code kv-tokens}, {@code model} (repeatable), and of {@link
   * KvHashing} {@code hash}, {@code hash-seed}, {@code dcp}, {@code eagle}, {@code mm-keys}; other
   * keys become labels, of which {@link KvEventSource}'s say where it tells of its KV cache. Keys
   * (secrets) are not part of it.
   *
   * @throws IllegalArgumentException saying what to correct
   */
  public static WorkerSpec parse(String line) {
    String[] parts = line.split(";", -1);
    Builder builder = builder(parts[0]);
    for (int i = 1; i < parts.length; i++) {
      int eq = parts[i].indexOf('=');
      if (eq <= 0) {
        throw new IllegalArgumentException(
            "worker '" + parts[0] + "': '" + parts[i] + "' is not key=value");
      }
      String key = parts[i].substring(0, eq).trim().toLowerCase(Locale.ROOT);
      String value = parts[i].substring(eq + 1).trim();
      switch (key) {
        case "role" -> builder.role(WorkerRole.parse(value));
        case "engine" -> builder.engine(EngineKind.parse(value));
        case "dp" -> builder.dpSize(number(parts[0], key, value));
        case "block" -> builder.blockSize(number(parts[0], key, value));
        case "kv-tokens" -> builder.kvCapacityTokens(number(parts[0], key, value));
        case "model" -> builder.addModel(value);
        default -> {
          if (!builder.hashing(key, value)) {
            builder.label(key, value);
          }
        }
      }
    }
    return builder.build();
  }

  private static int number(String worker, String key, String value) {
    try {
      int parsed = Integer.parseInt(value);
      if (parsed > 0) {
        return parsed;
      }
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(
          "worker '" + worker + "': " + key + "=" + value + " is not a whole number", e);
    }
    throw new IllegalArgumentException(
        "worker '" + worker + "': " + key + "=" + value + " must be at least 1");
  }

  /** The worker's stable name. */
  public WorkerId id() {
    return id;
  }

  /** What is configured of how it hashes KV blocks. */
  public KvHashing hashing() {
    return hashing;
  }

  /** The configured role, or null to discover it. */
  public @Nullable WorkerRole role() {
    return role;
  }

  /** The configured engine, or null to discover it. */
  public @Nullable EngineKind engine() {
    return engine;
  }

  /** The configured number of data-parallel ranks, or null to discover it. */
  public @Nullable Integer dpSize() {
    return dpSize;
  }

  /** The configured KV block (page) size in tokens, or null to discover it. */
  public @Nullable Integer blockSize() {
    return blockSize;
  }

  /** The configured KV capacity of one rank in tokens, or null to discover it. */
  public @Nullable Long kvCapacityTokens() {
    return kvCapacityTokens;
  }

  /** The configured model names; empty to discover them. */
  public List<String> models() {
    return models;
  }

  /** The key sent as {@code Authorization: Bearer} with inference and telemetry calls, or null. */
  public @Nullable Secret apiKey() {
    return apiKey;
  }

  /** The key for admin calls (flush, abort, pause), or null to use {@link #apiKey()}. */
  public @Nullable Secret adminKey() {
    return adminKey;
  }

  /** The files by which it is spoken to over TLS, or null for the transport's own way. */
  public @Nullable TlsFiles tls() {
    return tls;
  }

  /** Free labels for filters and views. */
  public Map<String, String> labels() {
    return labels;
  }

  /** A builder holding this spec's values. */
  public Builder toBuilder() {
    Builder builder = new Builder(id);
    builder.role = role;
    builder.engine = engine;
    builder.dpSize = dpSize;
    builder.blockSize = blockSize;
    builder.kvCapacityTokens = kvCapacityTokens;
    builder.hashing = hashing;
    builder.models = models;
    builder.apiKey = apiKey;
    builder.adminKey = adminKey;
    builder.tls = tls;
    builder.labels.putAll(labels);
    return builder;
  }

  /**
   * The one-line form that {@link #parse} reads, without keys; null where there is none, because a
   * value holds a semicolon or a line's end.
   */
  public @Nullable String line() {
    StringBuilder line = new StringBuilder(id.value());
    append(line, "role", role == null ? null : role.label());
    append(line, "engine", engine == null ? null : engine.label());
    append(line, "dp", dpSize);
    append(line, "block", blockSize);
    append(line, "kv-tokens", kvCapacityTokens);
    models.forEach(model -> append(line, "model", model));
    hashing.forEach((key, value) -> append(line, key, value));
    labels.forEach((key, value) -> append(line, key, value));
    String form = line.toString();
    WorkerSpec open = toBuilder().apiKey(null).adminKey(null).build();
    try {
      return form.lines().count() == 1 && parse(form).equals(open) ? form : null;
    } catch (IllegalArgumentException e) {
      return null;
    }
  }

  private static void append(StringBuilder line, String key, @Nullable Object value) {
    if (value != null) {
      line.append(';').append(key).append('=').append(value);
    }
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof WorkerSpec that
        && id.equals(that.id)
        && role == that.role
        && engine == that.engine
        && Objects.equals(dpSize, that.dpSize)
        && Objects.equals(blockSize, that.blockSize)
        && Objects.equals(kvCapacityTokens, that.kvCapacityTokens)
        && hashing.equals(that.hashing)
        && models.equals(that.models)
        && Objects.equals(apiKey, that.apiKey)
        && Objects.equals(adminKey, that.adminKey)
        && Objects.equals(tls, that.tls)
        && labels.equals(that.labels);
  }

  @Override
  public int hashCode() {
    return id.hashCode();
  }

  @Override
  public String toString() {
    return id.value();
  }

  /** Builds a {@link WorkerSpec}. Not thread safe. */
  public static final class Builder {
    private final WorkerId id;
    private @Nullable WorkerRole role;
    private @Nullable EngineKind engine;
    private @Nullable Integer dpSize;
    private @Nullable Integer blockSize;
    private @Nullable Long kvCapacityTokens;
    private KvHashing hashing = KvHashing.UNKNOWN;
    private List<String> models = List.of();
    private @Nullable Secret apiKey;
    private @Nullable Secret adminKey;
    private @Nullable TlsFiles tls;
    private final Map<String, String> labels = new TreeMap<>();

    private Builder(WorkerId id) {
      this.id = id;
    }

    /** Sets the role instead of discovering it. */
    public Builder role(WorkerRole role) {
      this.role = role;
      return this;
    }

    /** Sets the engine kind instead of discovering it. */
    public Builder engine(EngineKind engine) {
      this.engine = engine;
      return this;
    }

    /** Sets the number of data-parallel ranks instead of discovering it. */
    public Builder dpSize(int dpSize) {
      if (dpSize < 1 || dpSize > MAX_DP_SIZE) {
        throw new IllegalArgumentException(
            "worker '" + id + "': " + dpSize + " ranks: use 1 to " + MAX_DP_SIZE);
      }
      this.dpSize = dpSize;
      return this;
    }

    /** Sets the KV block (page) size in tokens instead of discovering it. */
    public Builder blockSize(int blockSize) {
      if (blockSize < 1) {
        throw new IllegalArgumentException(
            "worker '" + id + "': a block of " + blockSize + " tokens: use 1 or more");
      }
      this.blockSize = blockSize;
      return this;
    }

    /** Sets the KV capacity of one rank in tokens instead of discovering it. */
    public Builder kvCapacityTokens(long kvCapacityTokens) {
      if (kvCapacityTokens < 1) {
        throw new IllegalArgumentException(
            "worker '" + id + "': " + kvCapacityTokens + " KV tokens: use 1 or more");
      }
      this.kvCapacityTokens = kvCapacityTokens;
      return this;
    }

    /** Sets how it hashes KV blocks. */
    public Builder hashing(KvHashing hashing) {
      this.hashing = hashing;
      return this;
    }

    /**
     * Sets one value of how it hashes KV blocks, by its configured key.
     *
     * @return whether there is such a key
     */
    boolean hashing(String key, String value) {
      KvHashing with;
      try {
        with = hashing.with(key, value);
      } catch (IllegalArgumentException e) {
        throw new IllegalArgumentException("worker '" + id + "': " + e.getMessage(), e);
      }
      if (with == null) {
        return false;
      }
      hashing = with;
      return true;
    }

    /** Replaces the served model names, which are then not discovered. */
    public Builder models(List<String> models) {
      this.models = List.copyOf(models);
      return this;
    }

    /** Adds one served model name. */
    public Builder addModel(String model) {
      List<String> more = new ArrayList<>(models);
      more.add(model);
      this.models = List.copyOf(more);
      return this;
    }

    /** Sets the key for inference and telemetry calls. */
    public Builder apiKey(@Nullable Secret apiKey) {
      this.apiKey = apiKey;
      return this;
    }

    /** Sets the key for admin calls. */
    public Builder adminKey(@Nullable Secret adminKey) {
      this.adminKey = adminKey;
      return this;
    }

    /**
     * Sets the files by which it is spoken to over TLS ({@code https}, {@code grpcs}): who signs
     * its certificate, and the certificate that this client shows.
     */
    public Builder tls(@Nullable TlsFiles tls) {
      this.tls = tls;
      return this;
    }

    /** Sets one label. */
    public Builder label(String key, String value) {
      labels.put(key, value);
      return this;
    }

    /**
     * The finished spec.
     *
     * @throws IllegalArgumentException where labels don't name an endpoint of KV events as they
     *     should
     */
    public WorkerSpec build() {
      try {
        var unused = KvEventSource.of(labels);
      } catch (IllegalArgumentException e) {
        throw new IllegalArgumentException("worker '" + id + "': " + e.getMessage(), e);
      }
      return new WorkerSpec(this);
    }
  }
}

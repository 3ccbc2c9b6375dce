package dev.warmpath.api;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One request as the application says it: an OpenAI-style path with a JSON body, or any other path
 * as opaque pass-through. Immutable; the body array is not copied, so it must not change until the
 * call is over.
 */
public final class RouterRequest {
  /** Path of chat completions. */
  public static final String CHAT_COMPLETIONS = "/v1/chat/completions";

  /** Path of text completions. */
  public static final String COMPLETIONS = "/v1/completions";

  /** Path of embeddings. */
  public static final String EMBEDDINGS = "/v1/embeddings";

  /** Path of the responses API. */
  public static final String RESPONSES = "/v1/responses";

  /** Path of the model list. */
  public static final String MODELS = "/v1/models";

  private final String method;
  private final String path;
  private final byte[] body;
  private final Headers headers;
  private final RouteOptions options;

  private RouterRequest(Builder builder) {
    this.method = builder.method;
    this.path = builder.path;
    this.body = builder.body;
    this.headers = builder.headers;
    this.options =
        new RouteOptions(
            builder.deadline,
            builder.priority,
            builder.sessionKey,
            builder.user,
            builder.pin,
            builder.profile,
            builder.knowledge);
  }

  /** A chat completion with this JSON body. */
  public static RouterRequest chatCompletions(String json) {
    return builder(CHAT_COMPLETIONS).body(json).build();
  }

  /** A text completion with this JSON body. */
  public static RouterRequest completions(String json) {
    return builder(COMPLETIONS).body(json).build();
  }

  /** An embeddings request with this JSON body. */
  public static RouterRequest embeddings(String json) {
    return builder(EMBEDDINGS).body(json).build();
  }

  /** A responses-API request with this JSON body. */
  public static RouterRequest responses(String json) {
    return builder(RESPONSES).body(json).build();
  }

  /** Starts a {@code POST} to {@code path}, which begins with a slash and may carry a query. */
  public static Builder builder(String path) {
    return new Builder(path);
  }

  /** The HTTP method. */
  public String method() {
    return method;
  }

  /** The path, with its query if any. */
  public String path() {
    return path;
  }

  /** The body; empty for none. Not to be changed. */
  public byte[] body() {
    return body;
  }

  /** The application's headers, routing headers included. */
  public Headers headers() {
    return headers;
  }

  /** The routing options set in code; headers are resolved by the client. */
  public RouteOptions options() {
    return options;
  }

  /** A builder holding this request's values. */
  public Builder toBuilder() {
    Builder builder = new Builder(path).method(method).body(body).headers(headers);
    builder.deadline = options.deadline();
    builder.priority = options.priority();
    builder.sessionKey = options.sessionKey();
    builder.user = options.user();
    builder.pin = options.pin();
    builder.profile = options.profile();
    builder.knowledge = options.knowledge();
    return builder;
  }

  /** Method, path and size only: never the body. */
  @Override
  public String toString() {
    return method + " " + path + " (" + body.length + " bytes)";
  }

  /** Builds a {@link RouterRequest}. Not thread safe. */
  public static final class Builder {
    private final String path;
    private String method = "POST";
    private byte[] body = new byte[0];
    private Headers headers = Headers.EMPTY;
    private @Nullable Duration deadline;
    private int priority;
    private @Nullable String sessionKey;
    private @Nullable String user;
    private @Nullable String pin;
    private @Nullable String profile;
    private @Nullable KnowledgeNeeds knowledge;

    private Builder(String path) {
      if (!path.startsWith("/")) {
        throw new IllegalArgumentException("path '" + path + "' must begin with a slash");
      }
      this.path = path;
    }

    /** Sets the HTTP method; {@code POST} by default. */
    public Builder method(String method) {
      this.method = Objects.requireNonNull(method, "method");
      return this;
    }

    /** Sets the body as UTF-8 text. */
    public Builder body(String json) {
      return body(json.getBytes(StandardCharsets.UTF_8));
    }

    /** Sets the body. The array is not copied. */
    public Builder body(byte[] body) {
      this.body = Objects.requireNonNull(body, "body");
      return this;
    }

    /** Replaces the headers. */
    public Builder headers(Headers headers) {
      this.headers = Objects.requireNonNull(headers, "headers");
      return this;
    }

    /** Adds one header. */
    public Builder header(String name, String value) {
      this.headers = headers.with(name, value);
      return this;
    }

    /** Sets the longest the whole request may take. */
    public Builder deadline(Duration deadline) {
      if (deadline.isNegative() || deadline.isZero()) {
        throw new IllegalArgumentException("deadline " + deadline + " must be positive");
      }
      this.deadline = deadline;
      return this;
    }

    /** Sets the admission priority; higher goes first. */
    public Builder priority(int priority) {
      this.priority = priority;
      return this;
    }

    /** Sets the session key. */
    public Builder sessionKey(String sessionKey) {
      this.sessionKey = Objects.requireNonNull(sessionKey, "sessionKey");
      return this;
    }

    /** Sets the end user, who is the session key where none is given. */
    public Builder user(String user) {
      this.user = Objects.requireNonNull(user, "user");
      return this;
    }

    /**
     * Sets the worker to prefer over every other: its address, optionally followed by {@code
     * #rank}.
     */
    public Builder pin(String worker) {
      this.pin = Objects.requireNonNull(worker, "worker");
      return this;
    }

    /** Sets the named profile. */
    public Builder profile(String profile) {
      this.profile = Objects.requireNonNull(profile, "profile");
      return this;
    }

    /** Sets the knowledge that the request needs. */
    public Builder knowledge(KnowledgeNeeds knowledge) {
      this.knowledge = Objects.requireNonNull(knowledge, "knowledge");
      return this;
    }

    /** The finished request. */
    public RouterRequest build() {
      return new RouterRequest(this);
    }
  }
}

package dev.warmpath.okhttp;

import dev.warmpath.api.RouterException;
import java.io.IOException;

/**
 * A routed call failed: what OkHttp's callers see, since an interceptor may throw nothing but
 * {@link IOException}. {@link #routerException()} tells the rest.
 */
public final class RouterIOException extends IOException {
  private static final long serialVersionUID = 1L;

  private final RouterException routerException;

  /** Wraps {@code cause}, with its message. */
  public RouterIOException(RouterException cause) {
    super(cause.getMessage(), cause);
    this.routerException = cause;
  }

  /** What happened. */
  public RouterException routerException() {
    return routerException;
  }
}

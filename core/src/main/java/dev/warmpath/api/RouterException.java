package dev.warmpath.api;

import org.jspecify.annotations.Nullable;

/** A routed request failed. The subclasses say how; no message holds a prompt, a body or a key. */
public abstract sealed class RouterException extends RuntimeException
    permits AllAttemptsFailedException,
        DeadlineExceededException,
        InvalidRequestException,
        NoWorkerAvailableException,
        PrefillDecodeException,
        RequestCancelledException,
        RequestRejectedException,
        RouterClosedException,
        RouterOverloadedException,
        StreamInterruptedException {
  private static final long serialVersionUID = 1L;

  RouterException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}

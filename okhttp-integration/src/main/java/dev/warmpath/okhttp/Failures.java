package dev.warmpath.okhttp;

import dev.warmpath.api.FailurePhase;
import dev.warmpath.transport.TransportException;
import dev.warmpath.transport.TransportException.Kind;
import java.io.EOFException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.ProtocolException;
import java.net.SocketException;
import java.net.UnknownHostException;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLPeerUnverifiedException;

/**
 * Reads what OkHttp throws. Its messages are not stable, so types and what had happened before
 * decide.
 */
final class Failures {
  private Failures() {}

  /**
   * Names a failure.
   *
   * @param progress how far the exchange had come
   * @param error what OkHttp threw
   */
  static TransportException of(IOException error, ExchangeProgress progress) {
    FailurePhase phase = progress.phase();
    if (progress.cancelled()) {
      return failure(Kind.CANCELLED, phase, "cancelled", error);
    }
    if (Thread.currentThread().isInterrupted()) {
      return failure(Kind.CANCELLED, phase, "interrupted", error);
    }
    if (progress.deadlinePassed()) {
      return failure(Kind.DEADLINE, phase, "the request's deadline passed", error);
    }
    if (error instanceof InterruptedIOException) {
      // A socket's, a call's or a body's timeout: an interrupt is dealt with above.
      return switch (phase) {
        case CONNECT -> failure(Kind.CONNECT, phase, "connect timed out", error);
        case BODY ->
            failure(Kind.IDLE_TIMEOUT, phase, "silent beyond the inter-token deadline", error);
        case AWAIT_HEADERS, AWAIT_FIRST_BYTE, STATUS ->
            failure(
                Kind.FIRST_TOKEN_TIMEOUT,
                phase,
                "no answer before the first-token deadline",
                error);
      };
    }
    if (phase == FailurePhase.CONNECT
        || error instanceof ConnectException
        || error instanceof UnknownHostException
        || error instanceof NoRouteToHostException
        || error instanceof SSLHandshakeException
        || error instanceof SSLPeerUnverifiedException) {
      return failure(Kind.CONNECT, FailurePhase.CONNECT, connectWord(error), error);
    }
    if (phase == FailurePhase.AWAIT_HEADERS && progress.pooled() && nothingCame(error)) {
      return failure(Kind.STALE_CONNECTION, phase, "a pooled connection was closed", error);
    }
    if (error instanceof ProtocolException && !(error.getCause() instanceof EOFException)) {
      return failure(
          phase == FailurePhase.BODY ? Kind.RESET : Kind.PROTOCOL, phase, "not understood", error);
    }
    return failure(Kind.RESET, phase, "the connection broke", error);
  }

  /**
   * What OkHttp throws without declaring it, as what it should have been: its happy eyeballs let an
   * {@link InterruptedException} through.
   */
  static IOException undeclared(Exception error) {
    if (error instanceof InterruptedException) {
      Thread.currentThread().interrupt();
    }
    IOException declared = new InterruptedIOException("interrupted");
    declared.initCause(error);
    return declared;
  }

  /** The failure of an exchange that was cancelled while OkHttp itself saw nothing wrong. */
  static TransportException cancelled(ExchangeProgress progress) {
    return new TransportException(Kind.CANCELLED, progress.phase(), 0, "cancelled", null);
  }

  /**
   * The connection closed or was reset before a byte of the response: the request may never have
   * been seen.
   */
  private static boolean nothingCame(IOException error) {
    return error instanceof EOFException
        || error.getCause() instanceof EOFException
        || error instanceof SocketException
        || error.getCause() instanceof SocketException;
  }

  private static String connectWord(IOException error) {
    if (error instanceof UnknownHostException) {
      return "host not found";
    }
    if (error instanceof SSLHandshakeException || error instanceof SSLPeerUnverifiedException) {
      return "TLS handshake failed";
    }
    return "connection refused or unreachable";
  }

  private static TransportException failure(
      Kind kind, FailurePhase phase, String word, IOException cause) {
    return new TransportException(kind, phase, 0, word, cause);
  }
}

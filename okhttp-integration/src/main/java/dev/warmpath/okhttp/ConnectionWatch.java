package dev.warmpath.okhttp;

import java.io.IOException;
import java.util.Collections;
import java.util.Objects;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.locks.ReentrantLock;
import javax.net.ssl.SSLSocket;
import okhttp3.Connection;
import okhttp3.Interceptor;
import okhttp3.Protocol;
import okhttp3.Response;

/**
 * A network interceptor that notes, in the call's {@link ExchangeProgress}, that a connection was
 * had, whether it is a pooled one, and that headers came. Calls without that tag pass by. It leaves
 * the client's event listener to its owner.
 */
final class ConnectionWatch implements Interceptor {
  private final ReentrantLock lock = new ReentrantLock();
  private final Set<Connection> seen = Collections.newSetFromMap(new WeakHashMap<>());

  @Override
  public Response intercept(Chain chain) throws IOException {
    ExchangeProgress progress = chain.request().tag(ExchangeProgress.class);
    if (progress != null) {
      Connection connection = Objects.requireNonNull(chain.connection());
      if (connection.protocol() != Protocol.HTTP_2
          && connection.protocol() != Protocol.H2_PRIOR_KNOWLEDGE
          && !(connection.socket() instanceof SSLSocket)) {
        progress.alone(connection.socket());
      }
      progress.connected(seenBefore(connection));
      if (progress.cancelled()) {
        throw new IOException("cancelled");
      }
    }
    Response response = chain.proceed(chain.request());
    if (progress != null) {
      progress.headersArrived();
    }
    return response;
  }

  private boolean seenBefore(Connection connection) {
    lock.lock();
    try {
      return !seen.add(connection);
    } finally {
      lock.unlock();
    }
  }
}

package dev.warmpath.fake.internal.grpc;

import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.Grpc;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import java.net.SocketAddress;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Shows a call's handler what its observer hides: connection, metadata, response headers. */
final class CallInterceptor implements ServerInterceptor {
  /**
   * What is known of a call besides its messages.
   *
   * @param connections the server's connections
   * @param client the address of the client's end of its connection
   * @param headers its metadata by lower-case name, the last value of each; no binary ones
   * @param call the call
   */
  record Incoming(
      Connections connections,
      @Nullable SocketAddress client,
      Map<String, String> headers,
      ServerCall<?, ?> call) {
    private static final Context.Key<Incoming> KEY = Context.key("incoming");

    /** Of the call whose handler runs on this thread. */
    static Incoming current() {
      Incoming incoming = KEY.get();
      if (incoming == null) {
        throw new IllegalStateException("no call is being handled");
      }
      return incoming;
    }
  }

  private final Connections connections;

  CallInterceptor(Connections connections) {
    this.connections = connections;
  }

  @Override
  public <Q, R> ServerCall.Listener<Q> interceptCall(
      ServerCall<Q, R> call, Metadata metadata, ServerCallHandler<Q, R> next) {
    ServerCall<Q, R> once = new HeadersOnce<>(call);
    Incoming incoming =
        new Incoming(
            connections,
            call.getAttributes().get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR),
            headers(metadata),
            once);
    Context context = Context.current().withValue(Incoming.KEY, incoming);
    return Contexts.interceptCall(context, once, metadata, next);
  }

  private static Map<String, String> headers(Metadata metadata) {
    Map<String, String> headers = new HashMap<>();
    for (String name : metadata.keys()) {
      if (!name.endsWith(Metadata.BINARY_HEADER_SUFFIX)) {
        String value = metadata.get(Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER));
        if (value != null) {
          headers.put(name.toLowerCase(Locale.ROOT), value);
        }
      }
    }
    return headers;
  }

  /** Lets headers be sent before the first message, which would send them again. */
  private static final class HeadersOnce<Q, R> extends SimpleForwardingServerCall<Q, R> {
    private boolean sent;

    HeadersOnce(ServerCall<Q, R> call) {
      super(call);
    }

    @Override
    public void sendHeaders(Metadata headers) {
      if (!sent) {
        sent = true;
        super.sendHeaders(headers);
      }
    }
  }
}

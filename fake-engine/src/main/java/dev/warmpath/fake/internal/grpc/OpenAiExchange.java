package dev.warmpath.fake.internal.grpc;

import dev.warmpath.fake.fault.Fault;
import dev.warmpath.fake.internal.http.HttpExchange;
import dev.warmpath.fake.internal.http.HttpRequest;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An OpenAI body that came by gRPC, as the HTTP endpoint sees it.
 *
 * @param <T> the response message
 */
abstract class OpenAiExchange<T> implements HttpExchange {
  private final HttpRequest request;
  final GrpcCall<T> call;
  private final @Nullable Fault fault;
  private boolean begun;

  OpenAiExchange(String path, byte[] body, GrpcCall<T> call, @Nullable Fault fault) {
    this.request = new HttpRequest("POST", path, Map.of(), Map.of(), body);
    this.call = call;
    this.fault = fault;
  }

  @Override
  public final HttpRequest request() {
    return request;
  }

  @Override
  public final void begin(int status, Map<String, String> headers) {
    begun = true;
  }

  /** Only a broken connection comes with bytes of its own; it breaks without them too. */
  @Override
  public final void raw(byte[] data) {}

  @Override
  public final void reset() {
    call.reset();
  }

  @Override
  public final void cut() {
    if (fault != null && fault.kind() == Fault.Kind.GARBAGE) {
      call.garbage();
    } else {
      call.cut();
    }
  }

  @Override
  public final void onDisconnect(Runnable action) {
    call.onDisconnect(action);
  }

  @Override
  public final boolean begun() {
    return begun;
  }
}

package dev.warmpath.fake.internal.grpc;

import dev.warmpath.fake.fault.Fault;
import dev.warmpath.fake.internal.surface.EngineSurface;
import dev.warmpath.fake.internal.surface.Generation;
import org.jspecify.annotations.Nullable;

/**
 * An embedding of one text.
 *
 * @param <T> the response message
 */
final class EmbedOutput<T> extends GrpcOutput<T> {
  /** Makes the response message. */
  interface Message<T> {
    T of(float[] vector, int promptTokens);
  }

  private final EngineSurface surface;
  private final Message<T> message;

  EmbedOutput(GrpcCall<T> call, @Nullable Fault fault, EngineSurface surface, Message<T> message) {
    super(call, fault);
    this.surface = surface;
    this.message = message;
  }

  @Override
  public void step(Generation generation, Generation.Item item, boolean first) {}

  @Override
  public void end(Generation generation) {
    int[] prompt = generation.items().get(0).prompt();
    send(message.of(surface.embedding(prompt), prompt.length));
    finish();
  }
}
